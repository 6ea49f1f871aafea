"""The derivatives of each op: beside differences, and the same in every way."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import GradientError
from runtime.core.graph import record
from tests.runtime.autodiff.checks import (
    check_grads,
    derivatives,
    gradients_of,
    vectors,
)
from tests.runtime.autodiff.op_cases import Case, cases
from tests.turns import by_turns

#: What is refused where only the rank is known.
OF_KNOWN_SHAPES = {"ListChoose", "Qr"}
#: Singular vectors of complex matrices have phases that are arbitrary.
REFUSED = {f"Svd {number} complex" for number in range(4, 8)}


def named(case: Case) -> str:
    return f"{case.op} {case.note}"


def test_cases_apply_what_they_check() -> None:
    for case in cases():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(case.inputs)
            case.f(*case.inputs)
        assert tape._recording is not None
        steps: list[Any] = tape._recording.steps
        if record.get(case.op).family == "buffer":
            # Eagerly, arrays and lists are Python's own.
            traced = tf.function(case.f).get_concrete_function(*case.inputs)
            steps = traced.graph.nodes
        assert case.op in {step.op for step in steps}, named(case)


@pytest.mark.parametrize("case", by_turns(cases()), ids=named)
def test_derivatives(case: Case) -> None:
    if named(case) in REFUSED:
        with pytest.raises(GradientError, match=f"AG330: .*{case.op}"):
            derivatives(case.f, case.inputs, vectors(case.inputs))
        return
    eager = check_grads(case.f, case.inputs, case.order)
    given = [*case.inputs, *vectors(case.inputs)]
    staged = _staged(case)
    if case.op in OF_KNOWN_SHAPES:
        with pytest.raises(GradientError, match=f"AG330: .*{case.op}"):
            staged(*given)
    else:
        _assert_same(staged(*given), eager)
    if "complex" not in case.note:
        # The call of a function is one step, whose shapes are known.
        call, directions = tf.function(case.f), vectors(case.inputs)
        _assert_same(derivatives(call, case.inputs, directions, case.order), eager)


@pytest.mark.parametrize("case", by_turns(cases()), ids=named)
def test_gradients_in_single_precision(case: Case) -> None:
    if named(case) in REFUSED:
        return
    inputs, single = case.inputs, [_single(x) for x in case.inputs]
    wanted = gradients_of(case.f, inputs)[1]
    for x, gradient, exact in zip(single, gradients_of(case.f, single)[1], wanted):
        assert gradient.dtype is x.dtype
        np.testing.assert_allclose(gradient, exact, 2e-3, 2e-4)


def _single(x: Any) -> Any:
    return tf.cast(x, tf.complex64 if x.dtype.is_complex else tf.float32)


def _staged(case: Case) -> Any:
    """All derivatives as one function of tensors whose lengths are not known."""
    count = len(case.inputs)
    specs = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in case.inputs]
    if record.get(case.op).family == "window":
        # What is known of images is their size, and all of filters.
        specs = [tf.TensorSpec(x.shape, x.dtype) for x in case.inputs]
        specs[0] = tf.TensorSpec([None, *specs[0].shape[1:]], specs[0].dtype)

    @tf.function(input_signature=[*specs, *specs])
    def all_at_once(*args: Any) -> Any:
        return derivatives(case.f, args[:count], args[count:], case.order)

    return all_at_once


def _assert_same(found: Any, wanted: Any) -> None:
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(one, other, 1e-9, 1e-10)


@pytest.mark.parametrize(("size", "most"), [(2, 4), (3, 16)])
def test_the_gradient_of_a_pool_takes_memory_for_few_batches(
    size: int, most: int
) -> None:
    @tf.function
    def back(x: Any) -> Any:
        return tf.gradients(tf.nn.max_pool2d(x, size, 2, "SAME"), x)[0]

    x = tf.random.stateless_normal([32, 32, 32, 32], [1, 2])
    back(x)
    tracemalloc.start()
    back(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < most * x.numpy().nbytes


@pytest.mark.parametrize("op", ["sqrt", "math.rsqrt", "math.reciprocal"])
def test_a_pole_that_is_left_out_has_no_gradient(op: str) -> None:
    function: Any = tf
    for part in op.split("."):
        function = getattr(function, part)
    x = tf.constant([0.0, 4.0])

    def chosen(x: Any) -> Any:
        return tf.where(x > 0, function(x), 0.0)

    def forward(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.constant([0.0, 1.0])) as accumulator:
            y = function(x)
        return accumulator.jvp(y)

    for f in (chosen, tf.function(chosen)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        at_pole, other = tape.gradient(y, x).numpy()
        assert at_pole == 0
        assert np.isfinite(other)
        assert other != 0
    assert forward(x).numpy()[0] == 0
