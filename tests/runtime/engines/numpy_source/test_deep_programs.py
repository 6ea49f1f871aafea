"""Programs that are long, wide or nested deeply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import Interpreted
from runtime.engines.numpy_source.text import wrapped_lines

Value = Any


def loops(depth: int, x: Value) -> Value:
    """So many loops within each other, each of which runs once."""
    if not depth:
        return x + 1.0

    def body(i: Value, x: Value) -> tuple[Value, Value]:
        return i + 1, loops(depth - 1, x)

    return tf.while_loop(lambda i, x: i < 1, body, [tf.constant(0), x])[1]


def branches(depth: int, x: Value) -> Value:
    """So many branches within each other, of which the last is taken."""
    if not depth:
        return x + 1.0
    test = x > float(depth)
    return tf.cond(test, lambda: x * 2.0, lambda: branches(depth - 1, x + 0.5))


def chain(length: int, x: Value) -> Value:
    for _ in range(length):
        x = -(x * 1.0)
    return x


def total(count: int, x: Value) -> Value:
    return tf.add_n([x * float(n) for n in range(count)])


def results(function: Callable[[int, Value], Value], size: int) -> list[Any]:
    traced = tf.function(lambda x: function(size, x), autograph=False)
    x = tf.constant(-200.0)
    concrete = traced.get_concrete_function(x)
    (interpreted,) = interpreter.run(concrete.graph, [np.float32(-200.0)])
    return [float(interpreted), float(concrete(x)), float(function(size, x))]


@pytest.mark.parametrize(
    ("function", "size"),
    [(loops, 19), (loops, 25), (branches, 40), (chain, 300), (total, 300)],
)
def test_deep_programs(function: Callable[[int, Value], Value], size: int) -> None:
    interpreted, compiled, eager = results(function, size)

    assert interpreted == compiled == eager


def test_what_python_cannot_compile_runs_node_by_node() -> None:
    """Python takes no more than 20 loops within each other."""

    def deep(x: Value) -> Value:
        return 6 // loops(22, x)

    x = tf.constant(0.0)
    concrete = tf.function(deep, autograph=False).get_concrete_function(x)
    whole = tf.function(lambda x: 6 // tf.cast(loops(22, x), tf.int32), autograph=False)

    assert isinstance(concrete.executable, Interpreted)
    assert (
        concrete.to_source().count("while ") + concrete.to_source().count("for ") >= 22
    )
    assert float(concrete(x)) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
        whole(tf.constant(-1.0))


def test_arguments_of_wide_calls() -> None:
    code = "été = f(x, 'é, (', [y, z], key=(1, 2))"

    assert wrapped_lines(code, 10) == [
        "été = f(", "    x,", "    'é, (',", "    [y, z],", "    key=(1, 2),", ")",
    ]  # fmt: skip
