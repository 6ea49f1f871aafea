"""Errors of native programs: those that NumPy raises, at the same lines."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.function.function import Function

OPEN = tf.TensorSpec([None], tf.int32)
#: Programs of an array of any length and a number, and calls of which the last fail.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(*calls: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Note a program; its last call is the one that fails."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = function, calls
        return function

    return note


@program(([6, 7], 2), ([6, 7], 0))
def division(x: Any, n: Any) -> Any:
    y = x + 1
    return y // n


@program(([6, 7], 2), ([6, 7], 0))
def remainder(x: Any, n: Any) -> Any:
    return tf.reduce_sum(x) % n


@program(([6, 7], 1), ([6, 7], -2), ([6, 7], 2))
def index(x: Any, n: Any) -> Any:
    return x[n] * 2


@program(([6, 7], 1), ([6, 7], 2))
def gathered(x: Any, n: Any) -> Any:
    return tf.gather(x, [0, n, 0])


@program(([6, 7], 1), ([6, 7], 3))
def scattered(x: Any, n: Any) -> Any:
    return tf.tensor_scatter_nd_add(x, [[n]], [5])


@program(([6, 7], 1), ([6, 7], 3))
def items(x: Any, n: Any) -> Any:
    found = []
    for value in x:
        found.append(value * 2)
    return found[n]


@program(([6, 7], 1), ([6, 7], 3))
def popped(x: Any, n: Any) -> Any:
    found = [n, n]
    for _ in tf.range(n):
        found.pop()
    return len(found)


@program(([6, 7], 1), ([6, 7], 3))
def keys(x: Any, n: Any) -> Any:
    found = {}
    for i in tf.range(2):
        found[i] = x[i]
    return found[n]


@program(([6, 7], 1), ([6, 7], 5))
def asserted(x: Any, n: Any) -> Any:
    tf.debugging.assert_less(x[0] + n, 10, message="too large")
    return x


@program(([6, 7], 1), ([6, 7], 5))
def plain_assert(x: Any, n: Any) -> Any:
    assert n < 4, "not so many"
    return x * n


@program(([6, 7], 1), ([6, 7], 5))
def raised(x: Any, n: Any) -> Any:
    total = 0
    for i in tf.range(n):
        if i == 3:
            raise ValueError("three")
        total += i * x[0]
    return total


@program(([6, 7], 1), ([6, 7, 8], 1))
def reshaped(x: Any, n: Any) -> Any:
    return tf.reshape(x, [n, 2])


@program(([6, 7], 2), ([6, 7], 3))
def broadcast(x: Any, n: Any) -> Any:
    return x + tf.range(n)


@program(([6, 7], 2), ([6, 7], 3))
def ensured(x: Any, n: Any) -> Any:
    return tf.ensure_shape(tf.concat([x, tf.range(n)], 0), [4])


@program(([6, 7], 2), ([6, 7], 3))
def joined(x: Any, n: Any) -> Any:
    rows = tf.reshape(x, [1, -1])
    return tf.concat([rows, tf.ones([3, n], tf.int32)], 0)


@program(([6, 7], 2), ([6, 7], 3))
def read(x: Any, n: Any) -> Any:
    rows = tf.TensorArray(tf.int32, 3)
    for i in tf.range(3):
        rows = rows.write(i, i * x[0])
    return rows.read(n)


@program(([1], 2), ([1], 0))
def numerics(x: Any, n: Any) -> Any:
    y = tf.cast(x, tf.float32) / tf.cast(n, tf.float32)
    return tf.debugging.check_numerics(y, "of a quotient")


@program(([6, 7], 3), ([6, 7], 0))
def ranges(x: Any, n: Any) -> Any:
    return tf.range(0, x[0], n)


@program(([6], 3), ([], 3))
def places(x: Any, n: Any) -> Any:
    return tf.argmax(x) + tf.cast(n, tf.int64)


@program(([6, 7], 3), ([6, 7], 100))
def wide(x: Any, n: Any) -> Any:
    a = 1
    for _ in range(n):
        a = a * 3
    return a


def inner(x: Any, at: Any) -> Any:
    y = x * 2
    return y[at]


@program(([6, 7], 2), ([6, 7], 3))
def within_a_call(x: Any, n: Any) -> Any:
    total = 0
    for i in tf.range(n):
        total += inner(x, i)
    return total


def outcome(function: Function, call: Any) -> Any:
    """The results, or the error and the user's line that raised it."""
    x, n = tf.constant(call[0], tf.int32), tf.constant(call[1])
    try:
        return [np.asarray(value) for value in tf.nest.flatten(function(x, n))]
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == __file__]
        return type(error), str(error), lines


@pytest.mark.parametrize("name", PROGRAMS)
def test_errors(name: str) -> None:
    written, calls = PROGRAMS[name]
    found = []
    for executor in ("numpy", "native"):
        count = tf.Variable(0)

        def counting(x: Any, n: Any, count: Any = count) -> Any:
            count.assign_add(1)
            y = written(x, n)
            count.assign_add(10)
            return y

        given = [OPEN, tf.TensorSpec([], tf.int32)]
        function = tf.function(counting, executor=executor, input_signature=given)
        outcomes = [outcome(function, call) for call in calls]
        found.append((outcomes, int(count.numpy())))
        if executor == "native":
            assert function.get_concrete_function().executor == "native"

    (expected, count), (native, native_count) = found
    assert isinstance(expected[-1], tuple), expected[-1]
    assert native_count == count
    for one, other in zip(native, expected, strict=True):
        if isinstance(other, tuple):
            assert one == other
        else:
            np.testing.assert_array_equal(one, other)
