"""Functions that call themselves, and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native.builder import Builder
from runtime.engines.native.rules import recursion
from tests.runtime.engines.native.rules.test_loop_code import both


def fibonacci(n: Any) -> Any:
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def ackermann(m: Any, n: Any) -> Any:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, tf.constant(1))
    return ackermann(m - 1, ackermann(m, n - 1))


def is_even(n: Any) -> Any:
    if n == 0:
        return tf.constant(True)
    return is_odd(n - 1)


def is_odd(n: Any) -> Any:
    if n == 0:
        return tf.constant(False)
    return is_even(n - 1)


def weighted(x: Any, n: Any) -> Any:
    """Arrays of calls that have not ended, with a loop in each."""
    if n == 0:
        return x[0] * 2.0, x
    y = x
    for i in range(n):
        y = y * 0.5 + x[i % 3]
    total, z = weighted(y, n - 1)
    return total + y[1] - x[2], z + y - x


def divided(n: Any, m: Any) -> Any:
    if n == 0:
        return 100 // m
    return divided(n - 1, m) + 100 // (n - m)


X = np.array([1.0, -2.0, 0.5, 7.0, 3.0], np.float32)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (fibonacci, [[0], [1], [15]]),
        (ackermann, [[2, 3], [0, 0], [1, 5]]),
        (is_even, [[7], [0], [300]]),
        (weighted, [[X, 0], [X, 1], [X, 9]]),
    ],
)
def test_functions_that_call_themselves(function: Any, calls: Any) -> None:
    text, _ = both(function, *calls)

    assert "define internal i32" in text


def test_accesses_of_functions_that_call_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Builder, "checks_accesses", True)
    both(weighted, [X, 2])


def outcome(function: Any, executor: str, *arguments: Any) -> Any:
    try:
        return tf.function(function, executor=executor)(*arguments).numpy()
    except (tf.errors.OpError, RecursionError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("arguments", [(3, 5), (3, 0), (3, 2), (0, 0)])
def test_errors_of_calls_within_calls(arguments: Any) -> None:
    given = list(map(tf.constant, arguments))

    assert outcome(divided, "native", *given) == outcome(divided, "numpy", *given)


def deep(n: Any) -> Any:
    if n == 0:
        return 0
    return deep(n - 1) + 1


@pytest.mark.parametrize("deepest", [20, recursion.DEEPEST])
def test_calls_that_are_deep(monkeypatch: pytest.MonkeyPatch, deepest: int) -> None:
    """Deeper ones are as deep as the interpreter goes."""
    monkeypatch.setattr(recursion, "DEEPEST", deepest)
    for n in (19, 20, 3000):
        expected = outcome(deep, "numpy", tf.constant(n))
        assert isinstance(expected, tuple) == (n == 3000)
        assert outcome(deep, "native", tf.constant(n)) == expected


def test_large_arrays_of_calls_are_left_to_numpy() -> None:
    def run(x: Any, n: Any) -> Any:
        if n == 0:
            return x
        return run(x * 0.5, n - 1) + x

    function = tf.function(run, executor="native")
    for length in (16, 1000):
        given = tf.range(float(length)), tf.constant(3)
        expected = tf.function(run, executor="numpy")(*given)
        np.testing.assert_array_equal(function(*given).numpy(), expected.numpy())
        report = function.get_concrete_function(*given).executable.native
        assert bool(report.refusals) is (length == 1000)
