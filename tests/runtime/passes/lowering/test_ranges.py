"""Loops over ranges of unknown length go without the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.engines import interpreter
from runtime.passes.lowering.prepare import prepare
from runtime.passes.optimize.verify import verify
from tests.runtime.passes.lowering.comparison import ops_of
from tests.runtime.passes.lowering.test_loop_annotations import CHECKED, loops_of


def traced(function: Callable[..., Any], dtype: str = "int32") -> Graph:
    spec = tf.TensorSpec([], dtype)
    return tf.function(function).get_concrete_function(spec, spec).graph


def digits(numbers: Any, n: Any) -> Any:
    total = n * 0
    for i in numbers:
        total = total * 3 + i
    return total


def up(n: Any, m: Any) -> Any:
    return digits(tf.range(n), n)


def between(n: Any, m: Any) -> Any:
    return digits(tf.range(n, m), n)


def from_a_number(n: Any, m: Any) -> Any:
    return digits(tf.range(-2, n), n)


def by_three(n: Any, m: Any) -> Any:
    return digits(tf.range(n, m, 3), n)


def down(n: Any, m: Any) -> Any:
    return digits(tf.range(m, n, -2), n)


def left_early(n: Any, m: Any) -> Any:
    total = n
    for i in tf.range(1, m):
        if i > 4:
            break
        total += i
    return total


def twice(n: Any, m: Any) -> Any:
    numbers = tf.range(n)
    total = n
    for i in numbers:
        for j in numbers:
            total += i * 2 - j
    return total + digits(numbers, n)


def nested(n: Any, m: Any) -> Any:
    total = n
    for i in tf.range(n):
        for j in tf.range(i, m):
            total = total * 2 + j
    return total


def counts(n: Any, m: Any) -> Any:
    total = n
    for k, i in enumerate(tf.range(n)):
        total += i * k
    return total


COUNTED = [up, between, from_a_number, by_three, down, left_early, nested, counts]


@pytest.mark.parametrize("function", COUNTED, ids=lambda f: f.__name__)
def test_no_array(function: Callable[..., Any]) -> None:
    graph = traced(function)
    found = prepare(graph, watch=lambda _, copy: verify(copy))
    verify(found)

    assert "Range" in set(ops_of(graph))
    assert "Range" not in set(ops_of(found)), str(found)
    assert all(loops_of(found))
    for n in (-3, 0, 1, 5, 2**31 - 2):
        for m in (-3, 0, 2, 7, 8):
            if abs(n - m) < 100 or function in (between, by_three):
                arrays = [np.int32(n), np.int32(m)]
                assert outcome(found, arrays) == outcome(graph, arrays), (n, m)


def outcome(graph: Graph, arrays: list[Any]) -> Any:
    try:
        with CHECKED:
            return interpreter.run(graph, arrays)
    except tf.errors.InvalidArgumentError as error:
        return type(error)


def test_64_bits() -> None:
    found = prepare(traced(up, "int64"))
    assert "Range" not in set(ops_of(found))
    assert interpreter.run(found, [np.int64(4), np.int64(0)]) == [18]
    # The difference may need more than 64 bits.
    assert "Range" in set(ops_of(prepare(traced(between, "int64"))))


def used_otherwise(n: Any, m: Any) -> Any:
    numbers = tf.range(n)
    return tf.reduce_sum(numbers) + digits(numbers, n)


def given_back(n: Any, m: Any) -> Any:
    numbers = tf.range(n)
    return digits(numbers, n), numbers


def read_elsewhere(n: Any, m: Any) -> Any:
    numbers, total, i = tf.range(n), m, 0
    while i < tf.size(numbers):
        total += numbers[i // 2]
        i += 1
    return total


def of_floats(n: Any, m: Any) -> Any:
    return digits(tf.range(tf.cast(n, tf.float32)), 0.0)


@pytest.mark.parametrize(
    "function",
    [used_otherwise, given_back, read_elsewhere, of_floats, twice],
    ids=lambda f: f.__name__,
)
def test_arrays_that_stay(function: Callable[..., Any]) -> None:
    graph = traced(function)
    found = prepare(graph)

    assert "Range" in set(ops_of(found))
    for one, other in zip(
        *[interpreter.run(g, [np.int32(4), np.int32(3)]) for g in (graph, found)]
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("function", "dtype", "is_checked"),
    [(up, "int32", False), (up, "int64", True), (between, "int32", True)],
)
def test_a_count_that_may_not_fit_is_checked(
    function: Callable[..., Any], dtype: str, is_checked: bool
) -> None:
    """A count of 2 to the power of 32 is not taken for 0."""
    graph = prepare(traced(function, dtype))

    assert ("CastExactly" in ops_of(graph)) is is_checked
