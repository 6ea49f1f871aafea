"""What is noted about loops that count, and that it is so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import nested_graphs
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from runtime.passes.lowering.loop_annotations import (
    CountedLoop,
    annotate_loops,
    counted,
)
from runtime.passes.lowering.prepare import prepare

N = tf.TensorSpec([], tf.int32)
X = tf.TensorSpec([])


def prepared(function: Callable[..., Any], *specs: tf.TensorSpec) -> Graph:
    return prepare(tf.function(function).get_concrete_function(*specs).graph)


def loops_of(graph: Graph) -> list[CountedLoop | None]:
    nodes = [node for inner in nested_graphs(graph) for node in inner.nodes]
    return [counted(node) for node in nodes if node.op == "While"]


def check_loop(node: Node, arguments: Sequence[Any], bodies: Any) -> Any:
    """Run a loop, and compare what it did with what is noted about it."""
    results = RUN(node, arguments, bodies)
    note = counted(node)
    if note is None:
        return results
    start, last = int(arguments[note.counter]), results[note.counter]
    limit = note.limit
    if limit is None:
        assert note.limit_input is not None
        assert note.limit_input >= len(node.outputs)
        limit = int(arguments[note.limit_input])
    assert note.start in (None, start)
    assert note.trip_count in (None, max(0, limit - start))
    if last is None:  # nobody needs it
        return results
    if note.ends_early:
        assert start <= last <= max(start, limit)
    else:
        assert last == max(start, limit)
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


NOTES: dict[Callable[..., Any], CountedLoop | None] = {
    over_a_range: CountedLoop(0, 0, 7, None),
    over_a_range_of_a_tensor: CountedLoop(0, 0, None, 2),
    over_a_tensor: CountedLoop(0, 0, 3, None),
    left_early: CountedLoop(1, 0, None, 3, condition=0, ends_early=True),
    left_early_of_constants: CountedLoop(1, 0, 9, None, condition=0, ends_early=True),
    counts_itself: CountedLoop(1, 2, None, 2),
    counts_from_elsewhere: CountedLoop(1, None, 5, None),
    counts_down: None,
    counts_by_two: None,
    moves_its_limit: None,
    at_most: None,
}


@pytest.mark.parametrize("function", NOTES, ids=lambda f: f.__name__)
def test_notes(function: Callable[..., Any]) -> None:
    graph = prepared(function, X, N)
    assert loops_of(graph) == [NOTES[function]]

    source = compile_graph(graph)
    traced = tf.function(function).get_concrete_function(X, N).graph
    for n in (0, 1, 4, 9):
        arrays = [np.float32(1.5), np.int32(n)]
        expected = interpreter.run(traced, arrays)
        with CHECKED:
            np.testing.assert_array_equal(interpreter.run(graph, arrays), expected)
        np.testing.assert_array_equal(source(arrays), expected)


def test_the_number_of_iterations() -> None:
    notes = {function.__name__: note for function, note in NOTES.items() if note}

    assert notes["over_a_range"].trip_count == 7
    assert notes["left_early_of_constants"].trip_count == 9
    assert notes["counts_itself"].trip_count is None
    assert CountedLoop(0, 5, 3, None).trip_count == 0


def test_loops_in_loops() -> None:
    def f(x, n):
        for i in tf.range(3):
            for _ in tf.range(i):
                x = x + 1
        return x

    graph = prepared(f, X, N)
    outer, inner = loops_of(graph)

    assert outer is not None
    assert outer.trip_count == 3
    assert inner is not None
    assert inner.trip_count is None
    with CHECKED:
        assert interpreter.run(graph, [np.float32(0), np.int32(0)]) == [3.0]


def test_the_note_is_in_the_text_and_the_exports() -> None:
    graph = prepared(left_early, X, N)

    assert "counted=state 1 from 0 below input 3 while state 0" in str(graph)
    assert "While" in graph.to_dot()
    assert any("While" in node.op for node in graph.as_graph_def().node)


def test_notes_that_are_no_longer_true_go() -> None:
    graph = prepared(over_a_range, X, N)
    (node,) = [node for node in graph.nodes if node.op == "While"]
    node.attrs["maximum_iterations"] = 3

    assert annotate_loops(graph) == 0
    assert counted(node) is None
