"""Gradients of loops of open shapes in compiled code: native, and of XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines.door import compiled
from runtime.engines.native.background import Background
from tests.turns import by_turns

#: What a loop does with its value and the argument, by name.
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "multiply": lambda y, x: y * x,
    "divide": lambda y, x: y / x,
    "subtract": lambda y, x: y - x * x,
    "where": lambda y, x: tf.where(y > 1.0, y, y * x),
    "sin": lambda y, x: tf.sin(y + x),
    "tanh": lambda y, x: tf.tanh(y) * x,
    "atan2": lambda y, x: tf.atan2(y, x),
    "pow": lambda y, x: tf.pow(x, y),
    "cosh": lambda y, x: tf.math.cosh(tf.maximum(y, x)),
}
IN_PAIRS = [("multiply", "where"), ("divide", "tanh"), ("subtract", "atan2")]
IN_PAIRS += [("sin", "pow"), ("cosh", "multiply")]


def for_loop(step: Any, x: Any) -> Any:
    y = x
    for _ in tf.range(3):
        y = step(y, x)
    return y


def while_loop(step: Any, x: Any) -> Any:
    y, k = x, tf.constant(0)
    while k < 3 and tf.reduce_sum(y) < 50.0:
        y = step(y, x)
        k += 1
    return y


def nested_loops(step: Any, x: Any) -> Any:
    y = x
    for k in tf.range(2):
        for _ in tf.range(k + 1):
            y = step(y, x)
    return y


def branch_in_loop(step: Any, x: Any) -> Any:
    y = x
    for _ in tf.range(3):
        y = step(y, x) if tf.reduce_sum(y) > 1.0 else y + 0.5 * x
    return y


LOOPS = [for_loop, while_loop, branch_in_loop, nested_loops]
OPEN = {"vector": [None], "matrix": [None, None], "any rank": None}
VALUES = {"vector": [0.5, 1.5, 2.0], "matrix": [[0.5], [2.0]], "any rank": 2.0}


def _gradients(loop: Any, names: tuple[str, ...], x: Any) -> list[Any]:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = [loop(STEPS[name], x) for name in names]
    return [tape.gradient(result, x) for result in results]


def _run(loop: Any, names: tuple[str, ...], spec: Any, x: Any, executor: str) -> Any:
    specs = [tf.TensorSpec(spec, x.dtype)]
    traced = tf.function(lambda x: _gradients(loop, names, x), input_signature=specs)
    graph = traced.get_concrete_function().graph
    graph.executor = executor
    executable = compiled(graph)
    results = executable(executable.inputs([x]))
    return executable, [executable.tensor(result).numpy() for result in results]


#: Each loop with each pair, in turns for shapes of each kind.
CASES = [
    (LOOPS[(pair + loop) % 3], [*OPEN][(2 * pair + loop) % 3], names)
    for pair, names in enumerate(IN_PAIRS)
    for loop in range(3)
]
NESTED = [(nested_loops, shape, IN_PAIRS[0]) for shape in OPEN]


@pytest.mark.parametrize(
    ("loop", "shape", "names"),
    by_turns(CASES) + [pytest.param(*case, marks=pytest.mark.slow) for case in NESTED],
)
def test_native_code(
    loop: Any, shape: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(Background, "is_enabled", False)
    x = tf.constant(VALUES[shape])
    executable, found = _run(loop, names, OPEN[shape], x, "jit")
    assert executable.executor == "native"
    for one, wanted in zip(found, _gradients(loop, names, x), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, wanted, 1e-4, 1e-5)


XLA_CASES = [(loop, spec) for loop in LOOPS for spec in ([3], [None], None)]


@pytest.mark.parametrize(("loop", "spec"), XLA_CASES)
def test_xla(loop: Any, spec: Any) -> None:
    pytest.importorskip("jax")
    x = tf.constant(VALUES["vector"])
    names = ("multiply", "subtract", "tanh")
    _, found = _run(loop, names, spec, x, "xla")
    for one, wanted in zip(found, _gradients(loop, names, x), strict=True):
        np.testing.assert_allclose(one, wanted, 1e-4, 1e-5)
