"""Tensors that got out of their trace: each use says where they came from."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import runtime as tf

out = SimpleNamespace()
kept: list[Any] = []
ONE = tf.constant(1)


@tf.function
def leaks(a):
    out.x = a * 2
    kept[:] = [a * 2]
    return a


@tf.function
def uses(a):
    return a + out.x


@tf.function
def takes(a):
    return a


@tf.function
def later(a):
    if kept:
        return a + kept[0]
    kept.append(a * 2)
    return a


def made_in_a_branch(a):
    def branch():
        out.x = a * 2
        return a

    tf.cond(a > 0, branch, lambda: a)
    return a + out.x


def made_in_a_loop(a):
    def body(i):
        out.x = a * 2
        return i + 1

    tf.while_loop(lambda i: i < a, body, [0])
    return a + out.x


def yielded(a):
    kept[:] = [(a * 2 for _ in range(2))]
    return next(kept[0])


def lifted(a):
    b = a * 2
    with tf.init_scope():
        return b + 1


EAGER = "eager code"
USES = [
    (lambda: out.x + 1, EAGER),
    (lambda: out.x[0], EAGER),
    (lambda: out.x > 1, EAGER),
    (lambda: tf.print(out.x), EAGER),
    (lambda: tf.stack([kept[0], 1]), EAGER),
    (lambda: np.asarray(out.x), EAGER),
    (lambda: np.ones(1, np.int32) + out.x, EAGER),
    (lambda: bool(out.x), EAGER),
    (lambda: int(out.x), EAGER),
    (lambda: f"{out.x:.2f}", EAGER),
    (lambda: takes(out.x), EAGER),
    (lambda: takes([out.x]), EAGER),
    (lambda: tf.py_function(lambda: out.x, [], tf.int32), EAGER),
    (lambda: uses(ONE), "'uses'"),
]


@pytest.mark.parametrize(("use", "reader"), USES)
def test_uses_outside_of_the_trace(use: Any, reader: str) -> None:
    leaks.get_concrete_function(ONE)
    tf.function(leaks.python_function)(ONE)  # another trace, when the first is there

    check(use, reader, "'leaks'")


def check(use: Any, reader: str, maker: str) -> None:
    with pytest.raises(TypeError, match="AG306") as caught:
        use()
    text = str(caught.value)
    assert f", is out of scope: {reader} cannot use it" in text
    assert re.match(r".*test_leaks\.py:\d+: AG306: a tensor \(int32", text)
    assert re.search(rf"made at .*test_leaks\.py:\d+ while tracing {maker}", text)
    # The line of the use, then that of the origin.
    lines = re.findall(r"^ *\d+ \| +(.*)$", text, re.MULTILINE)
    assert len(lines) == 2
    assert "a * 2" in lines[1]


def test_a_use_in_another_trace_of_the_same_function() -> None:
    kept.clear()
    later(ONE)
    check(lambda: later(tf.constant([1])), "another trace of 'later'", "'later'")


@pytest.mark.parametrize("function", [made_in_a_branch, made_in_a_loop])
def test_uses_outside_of_the_body(function: Any) -> None:
    traced = tf.function(function, autograph=False)
    maker = f"a branch or a loop body of '{function.__name__}'"
    check(lambda: traced(ONE), "the code outside of it", maker)


def test_uses_within_init_scope() -> None:
    check(lambda: tf.function(lifted)(ONE), EAGER, "'lifted'")


def test_generators_that_go_on_after_the_trace() -> None:
    tf.function(yielded)(ONE)
    with pytest.raises(TypeError, match="it is an argument of 'yielded', called"):
        next(kept[0])


def test_looking_at_a_tensor_is_no_use() -> None:
    leaks.get_concrete_function(ONE)
    tf.function(leaks.python_function)(ONE)
    assert str(out.x) == f"{out.x}" == 'Tensor("mul:0", shape=(), dtype=int32)'
    assert (out.x.shape, out.x.dtype) == ([], tf.int32)
    with pytest.raises(
        AttributeError, match="'Tensor' object has no attribute 'numpy'"
    ):
        out.x.numpy()
