"""Tensors of several lengths, one of which a tensor chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import TracingError


def items(*values: int) -> Any:
    return tf.constant(list(values))


#: The neighbours of each vertex: of three lengths, and with an empty list.
TENSORS = {0: items(1, 2), 1: items(2, 3, 4), 2: items(3)}
WITH_EMPTY = {**TENSORS, 3: []}


def read(graph, vertex):
    chosen = graph[vertex]
    total = 0
    for neighbour in chosen:
        total += neighbour
    return len(chosen), total, 3 in chosen, [v + 1 for v in chosen]


def got(graph, vertex):
    return sum(graph.get(vertex, []))


@pytest.mark.parametrize("function", [read, got])
@pytest.mark.parametrize("graph", [TENSORS, WITH_EMPTY], ids=["tensors", "with empty"])
def test_what_is_chosen_is_read_as_a_list(function: Any, graph: Any) -> None:
    staged = tf.function(function)
    plain = {key: [int(v) for v in value] for key, value in graph.items()}
    for vertex in range(len(graph)):
        found = staged(graph, tf.constant(vertex))
        assert tf.nest.map_structure(int, found) == function(plain, vertex)


def test_a_key_that_is_missing() -> None:
    assert int(tf.function(got)(TENSORS, tf.constant(9))) == 0
    with pytest.raises(KeyError):
        tf.function(read)(TENSORS, tf.constant(9))


def appended(graph, vertex):
    missing = []
    graph.get(vertex, missing).append(5)
    return [len(row) for row in graph.values()], sum(graph[0]), len(missing)


@pytest.mark.parametrize("rows", [([1, 2], [3], []), ([1, 2], [3, 4])], ids=str)
def test_a_list_that_get_gives_cannot_be_changed(rows: Any) -> None:
    with pytest.raises(TracingError, match="AG210"):
        tf.function(appended)(dict(enumerate(rows)), tf.constant(0))


@pytest.mark.parametrize("place", [0, 1, -1, -3])
def test_of_a_list(place: int) -> None:
    rows = [
        tf.constant([[1, 2], [3, 4]]),
        tf.constant([[5, 6]]),
        tf.zeros([0, 2], tf.int32),
    ]
    signature = [tf.TensorSpec([None, 2], tf.int32)] * 3
    chosen = tf.function(lambda rows, i: rows[i])
    opened = tf.function(
        lambda rows, i: rows[i],
        input_signature=[signature, tf.TensorSpec([], tf.int32)],
    )
    for function in (chosen, opened):
        found = function(rows, tf.constant(place)).numpy()
        assert found.tolist() == rows[place].numpy().tolist()
        with pytest.raises(IndexError):
            function(rows, tf.constant(3))


def changes_later(graph, vertex):
    chosen = graph[vertex]
    graph[3].append(7)
    return sum(chosen)


def changes_chosen(graph, vertex):
    graph[vertex].append(7)
    return len(graph[vertex])


@pytest.mark.parametrize(
    ("function", "graph", "code"),
    [
        (changes_later, WITH_EMPTY, "AG210"),
        (changes_chosen, WITH_EMPTY, "AG210"),
        (changes_chosen, TENSORS, "AG314"),
    ],
)
def test_changes_are_refused(
    function: Callable[..., Any], graph: Any, code: str
) -> None:
    with pytest.raises(TypeError, match=code):
        tf.function(function)(graph, tf.constant(1))
