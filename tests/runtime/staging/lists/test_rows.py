"""Assignments at tensor places make no node for each item that nobody reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from runtime.graph import Graph


def assigned_in_python(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [0] * n
        for k in range(n):
            items[i] = x + k
            i = (i * 7 + 1) % n
        return sum(items)

    return f


def added_in_python(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [k for k in range(n)]
        for k in range(n):
            items[i] += x
            i = (i + k) % n
        return items

    return f


def swapped_in_a_loop(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [k * k for k in range(n)]
        while i < n - 1:
            items[i], items[i + 1] = items[i + 1], items[i] + x
            i += 1
        return items[n - 1], items

    return f


def in_branches(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [1] * n
        for k in range(n):
            if x > k:
                items[i] = k
            else:
                items[k] = x
        return items

    return f


def pairs(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [(k, 1.0) for k in range(n)]
        for k in range(n):
            items[i] = (x + k, 0.5)
            i = (i + 3) % n
        return items[2]

    return f


def a_grid(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        grid = [[0] * 4 for _ in range(n)]
        for k in range(n):
            grid[i][k % 4] += x
            i = (i + 3) % n
        return grid

    return f


def deleted_and_inserted(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [k for k in range(n)]
        for k in range(n):
            del items[i]
            items.insert(i, x)
            i = (i + 1) % n
        return items

    return f


PROGRAMS = [assigned_in_python, added_in_python, swapped_in_a_loop, in_branches]
PROGRAMS += [pairs, a_grid, deleted_and_inserted]


def nodes_in(graph: Graph) -> int:
    """The nodes of a graph and of the graphs in it."""
    inside = (part for node in graph.nodes for _, part in node.subgraphs())
    return len(graph.nodes) + sum(map(nodes_in, inside))


def traced_nodes(monkeypatch: pytest.MonkeyPatch, function: Any) -> int:
    """How many nodes a trace adds to any graph."""
    counted = 0
    add = Graph.add

    def counting(*args: Any, **kwargs: Any) -> Any:
        nonlocal counted
        counted += 1
        return add(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Graph, "add", counting)
        tf.function(function).get_concrete_function(tf.constant(3), tf.constant(1))
    return counted


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_nodes_grow_in_proportion_to_the_assignments(
    program: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = (traced_nodes(monkeypatch, program(n)) for n in (20, 80))
    assert long < 4.4 * short


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_items_are_those_of_python(program: Callable[[int], Any]) -> None:
    function = program(12)
    found = tf.function(function)(tf.constant(3), tf.constant(1))
    values = tf.nest.map_structure(lambda leaf: leaf.numpy().item(), found)
    assert values == function(3, 1)
