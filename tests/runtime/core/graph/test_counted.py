"""What is found out about loops that count, and that it is so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph, Node
from runtime.core.graph.counted import (
    CountedLoop,
    constant_int,
    find_counter,
    trip_count,
)
from runtime.core.graph.editing import nested_graphs
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.passes.lowering.prepare import prepare

N = tf.TensorSpec([], tf.int32)
X = tf.TensorSpec([])


def prepared(function: Callable[..., Any], *specs: tf.TensorSpec) -> Graph:
    return prepare(tf.function(function).get_concrete_function(*specs).graph)


class Facts(NamedTuple):
    """What a `CountedLoop` says, without its graph."""

    counter: int
    start: int | None
    limit: int | None
    limit_input: int | None
    condition: int | None = None
    ends_early: bool = False


def facts_of(loop: CountedLoop) -> Facts:
    return Facts(
        loop.counter,
        loop.start,
        constant_int(loop.limit),
        loop.limit_input,
        loop.condition,
        loop.ends_early,
    )


def loops_of(graph: Graph) -> list[CountedLoop | None]:
    nodes = [node for inner in nested_graphs(graph) for node in inner.nodes]
    return [find_counter(node) for node in nodes if node.op == "While"]


def check_loop(node: Node, arguments: Sequence[Any], bodies: Any) -> Any:
    """Run a loop, and compare what it did with what is found out about it."""
    results = RUN(node, arguments, bodies)
    loop = find_counter(node)
    if loop is None:
        return results
    start, last = int(arguments[loop.counter]), results[loop.counter]
    limit = constant_int(loop.limit)
    if limit is None:
        assert loop.limit_input is not None
        assert loop.limit_input >= len(node.outputs)
        limit = int(arguments[loop.limit_input])
    assert loop.start in (None, start)
    assert loop.most_iterations in (None, max(0, limit - start))
    if last is None:  # nobody needs it
        return results
    if loop.ends_early:
        assert start <= last <= max(start, limit)
    else:
        assert last == max(start, limit)
        assert trip_count(node) in (None, last - start)
    return results


RUN = interpreter._CONTROL_FLOW["While"]
CHECKED = patch.dict(interpreter._CONTROL_FLOW, {"While": check_loop})


def over_a_range(x: Any, n: Any) -> Any:
    for i in tf.range(7):
        x = x * 0.5 + tf.cast(i, tf.float32)
    return x


def over_a_range_of_a_tensor(x: Any, n: Any) -> Any:
    for _ in tf.range(n):
        x = x * 0.5
    return x


def over_a_tensor(x: Any, n: Any) -> Any:
    for row in tf.stack([x, x, x]):
        x = x + row
    return x


def left_early(x: Any, n: Any) -> Any:
    for _ in tf.range(n):
        x = x * 2
        if x > 20:
            break
    return x


def left_early_of_constants(x: Any, n: Any) -> Any:
    for _ in tf.range(9):
        x = x * 2
        if x > 20:
            tf.print("left")
            break
    return x


def counts_itself(x: Any, n: Any) -> Any:
    i = tf.constant(2)
    while i < n:
        x, i = x + 1, i + 1
    return x, i


def counts_from_elsewhere(x: Any, n: Any) -> Any:
    i = n
    while i < 5:
        x, i = x + 1, i + 1
    return x, i


def counts_down(x: Any, n: Any) -> Any:
    while n > 0:
        n -= 1
    return n


def counts_by_two(x: Any, n: Any) -> Any:
    i = tf.constant(0)
    while i < n:
        i += 2
    return i


def moves_its_limit(x: Any, n: Any) -> Any:
    i = tf.constant(0)
    while i < n:
        i, n = i + 1, n - 1
    return i


def at_most(x: Any, n: Any) -> Any:
    (i,) = tf.while_loop(lambda i: i < n, lambda i: i + 1, [0], maximum_iterations=3)
    return i


FACTS: dict[Callable[..., Any], Facts | None] = {
    over_a_range: Facts(0, 0, 7, None),
    over_a_range_of_a_tensor: Facts(0, 0, None, 2),
    over_a_tensor: Facts(0, 0, 3, None),
    left_early: Facts(1, 0, None, 3, condition=0, ends_early=True),
    left_early_of_constants: Facts(1, 0, 9, None, condition=0, ends_early=True),
    counts_itself: Facts(1, 2, None, 2),
    counts_from_elsewhere: Facts(1, None, 5, None),
    counts_down: None,
    counts_by_two: None,
    moves_its_limit: None,
    at_most: None,
}


@pytest.mark.parametrize("function", FACTS, ids=lambda f: f.__name__)
def test_facts(function: Callable[..., Any]) -> None:
    graph = prepared(function, X, N)
    found = [loop and facts_of(loop) for loop in loops_of(graph)]
    assert found == [FACTS[function]]

    source = compile_graph(graph)
    traced = tf.function(function).get_concrete_function(X, N).graph
    for n in (0, 1, 4, 9):
        arrays = [np.float32(1.5), np.int32(n)]
        expected = interpreter.run(traced, arrays)
        with CHECKED:
            np.testing.assert_array_equal(interpreter.run(graph, arrays), expected)
        np.testing.assert_array_equal(source(arrays), expected)


def from_5_below_3(x: Any, n: Any) -> Any:
    i = tf.constant(5)
    while i < 3:
        x, i = x + 1, i + 1
    return x


@pytest.mark.parametrize(
    ("function", "most", "exactly"),
    [
        (over_a_range, 7, 7),
        (left_early_of_constants, 9, None),
        (counts_itself, None, None),
        (from_5_below_3, 0, 0),
    ],
)
def test_the_number_of_iterations(
    function: Callable[..., Any], most: int | None, exactly: int | None
) -> None:
    graph = tf.function(function).get_concrete_function(X, N).graph
    (loop,) = loops_of(graph)

    assert loop is not None
    assert loop.most_iterations == most
    assert trip_count(loop.node) == exactly


def test_loops_in_loops() -> None:
    def f(x, n):
        for i in tf.range(3):
            for _ in tf.range(i):
                x = x + 1
        return x

    graph = prepared(f, X, N)
    outer, inner = loops_of(graph)

    assert outer is not None
    assert outer.most_iterations == 3
    assert inner is not None
    assert inner.most_iterations is None
    with CHECKED:
        assert interpreter.run(graph, [np.float32(0), np.int32(0)]) == [3.0]


def test_a_loop_is_looked_at_as_it_is_now() -> None:
    graph = prepared(over_a_range, X, N)
    (node,) = [node for node in graph.nodes if node.op == "While"]
    assert trip_count(node) == 7
    node.attrs["maximum_iterations"] = 3

    assert find_counter(node) is None
    assert trip_count(node) is None
