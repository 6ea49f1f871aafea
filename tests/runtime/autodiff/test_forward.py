"""Forward mode, beside the gradients of tapes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import GradientError
from tests.runtime.autodiff.programs import PROGRAMS
from tests.runtime.autodiff.test_programs import X, on_tape, plain
from tests.turns import by_turns


def jvp(f: Any, primals: Any, tangents: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(primals, tangents) as acc:
        y = f(*primals)
    return acc.jvp(y, unconnected_gradients="zero")


def test_a_directional_derivative() -> None:
    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as acc:
        y = x**3
    assert acc.jvp(y).numpy() == 54
    assert acc.jvp({"y": y, "one": tf.constant(1.0)})["one"] is None
    assert acc.jvp(tf.constant(1.0), "zero").numpy() == 0


def test_variables() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
        y = tf.reduce_sum(v**3) * tf.sin(v[1])
    np.testing.assert_allclose(acc.jvp(y), 2.7279, atol=1e-4)


def test_a_tape_inside_gives_products_with_the_hessian() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x**3) * x[0]
        gradient = tape.gradient(y, x)
    np.testing.assert_allclose(acc.jvp(gradient), [12, 12])


def test_a_tape_outside() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
            y = tf.reduce_sum(x**3) * x[0]
        tangent = acc.jvp(y)
    np.testing.assert_allclose(tape.gradient(tangent, x), [12, 12])


def test_accumulators_nest() -> None:
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x**4
        first = inner.jvp(y)
    assert first.numpy() == 32
    assert outer.jvp(first).numpy() == 48


@pytest.mark.parametrize("where", ["around", "inside"])
def test_functions(where: str) -> None:
    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.sin(x) * x)

    x, direction = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.0])
    if where == "around":
        found = jvp(tf.function(f), [x], [direction])
    else:
        found = tf.function(lambda x, d: jvp(f, [x], [d]))(x, direction)
    np.testing.assert_allclose(found, 1.3818, atol=1e-4)


def test_a_gradient_of_its_own() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * 2, lambda upstream: upstream * 5

    assert jvp(f, [tf.constant(1.0)], [tf.constant(3.0)]).numpy() == 15


def test_tangents_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\) has the shape \(3,\)"):
        tf.autodiff.ForwardAccumulator(tf.zeros([2]), tf.zeros([3]))
    with pytest.raises(ValueError, match="a primal is"):
        tf.autodiff.ForwardAccumulator(tf.constant(1), tf.constant(1))


@pytest.mark.parametrize("name", by_turns(list(PROGRAMS)))
def test_programs_in_a_graph(name: str) -> None:
    """The tangent and the change of the gradient are right, or refused by a code."""
    f, x = plain(name), tf.constant(X)
    direction = tf.constant([0.3, -0.2, 0.5, 0.7], tf.float64)
    slope = on_tape(f)
    wanted = tf.reduce_sum(slope(x) * direction)
    _assert_right(f, x, direction, wanted, 1e-9)
    step = 1e-6 * direction
    _assert_right(slope, x, direction, (slope(x + step) - slope(x - step)) / 2e-6, 1e-4)


def _assert_right(f: Any, x: Any, d: Any, wanted: Any, tolerance: float) -> None:
    refusal = ""
    try:
        found = tf.function(lambda x, d: jvp(f, [x], [d]))(x, d)
    except (GradientError, tf.errors.InvalidArgumentError) as error:
        refusal = str(error)
    if refusal:
        # The latter where an array has no elements.
        reasons = "differentiated forwards and then backwards", "a tensor of shape (0,)"
        assert any(reason in refusal for reason in reasons), refusal
    else:
        np.testing.assert_allclose(found, wanted, tolerance, tolerance)


def test_a_branch_without_a_tape_before() -> None:
    code = """
import runtime as tf
@tf.function
def f(x):
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as forward:
        y = tf.cond(x > 0, lambda: x * x, lambda: x)
    return forward.jvp(y), tf.gradients(tf.cond(x > 0, lambda: x * x, lambda: x), x)[0]
print([g.numpy().item() for g in f(tf.constant(3.0))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[6.0, 6.0]\n", done.stderr


def test_a_tape_outside_of_a_loop_in_a_graph() -> None:
    def f(x: Any, d: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.autodiff.ForwardAccumulator(x, d) as forward:
                y = x
                for _ in tf.range(3):
                    y = tf.sin(y) * x
            tangent = forward.jvp(y)
        return tape.gradient(tangent, x)

    x, d = tf.constant([0.5, 1.2]), tf.constant([1.0, -0.5])
    np.testing.assert_allclose(tf.function(f)(x, d), f(x, d), 1e-5)


def test_a_tape_inside_around_a_loop_in_a_graph_is_refused() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as forward:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in tf.range(3):
                    y = tf.sin(y) * x
            slope = tape.gradient(y, x)
        return forward.jvp(slope)

    with pytest.raises(GradientError, match="AG330: the node 'while' is"):
        f(tf.constant(0.5))
