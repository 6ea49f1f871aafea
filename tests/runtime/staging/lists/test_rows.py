"""Assignments at tensor places make no node for each item that nobody reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.staging.lists.rows import item_of, rows_of


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


def read_before(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [k for k in range(n)]
        read = []
        for k in range(n):
            items[i] = x * k
            read.append(items[2])
            first, *rest = items
            i = (i + 1) % n
        return read, first, rest[-1], type(first) is type(x * 1)

    return f


def read_in_branches(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [k for k in range(n)]
        items[i] = x
        total = 0
        if x > 2:
            total = items[1] + items[3]
            items[i + 1] = total
        while i < n - 1:
            total += items[4]
            items[i] = items[i + 1] + total
            i += 1
        return total, items[0], items

    return f


def sliced(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [k for k in range(n)]
        items[i] = x
        front, back = items[: n // 2], items[n // 2 :]
        front[i], back[i] = back[i], front[i]
        mixed = back + front
        mixed[i] += 1
        mixed.reverse()
        mixed[i] += 1
        return items, front, back, mixed

    return f


def depth(items: Any, x: Any, count: Any) -> Any:
    if x <= items[1]:
        return count + items[0]
    return depth(items, x - items[2], count + 1)


def in_recursion(n: int) -> Callable[..., Any]:
    def f(x: Any, i: Any) -> Any:
        items = [k for k in range(n)]
        items[i] = 1
        return depth(items, x + n, items[0]), items

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


@pytest.mark.parametrize(
    "program",
    [*PROGRAMS, read_before, read_in_branches, sliced, in_recursion],
    ids=lambda program: program.__name__,
)
def test_the_items_are_those_of_python(program: Callable[[int], Any]) -> None:
    function = program(12)
    found = tf.function(function)(tf.constant(3), tf.constant(1))
    values = tf.nest.map_structure(
        lambda leaf: leaf.numpy().item() if tf.is_tensor(leaf) else leaf, found
    )
    assert values == function(3, 1)


def test_code_that_is_not_converted_reads_the_items() -> None:
    @tf.autograph.experimental.do_not_convert
    def total(items: list[Any]) -> Any:
        assert all(type(item).__name__ != "int" for item in items)
        return sum(items[1:], items[0])

    @tf.function
    def f(x: Any, i: Any) -> Any:
        items = [1, 2, 3]
        items[i] = x
        return total(items), tf.stack(items), [item + 1 for item in items]

    found, stacked, more = f(tf.constant(7), tf.constant(1))
    assert int(found) == 11
    assert stacked.numpy().tolist() == [1, 7, 3]
    assert list(map(int, more)) == [2, 8, 4]


def test_a_row_gets_a_node_when_asked_for_and_again_when_that_is_dropped() -> None:
    graph = Graph()
    with building(graph):
        buffer = graph.add_input(tf.TensorSpec((3,), tf.int32))
        rows = rows_of(buffer, 3)
        mark = graph.mark()
        assert rows[1].shape == ()
        assert not graph.nodes
        assert rows[1].node.outputs == (rows[1],)
        graph.roll_back(mark)
        assert not graph.nodes
        total = rows[1] + rows[2]
    assert total.node.inputs[0] is rows[1]
    assert [node.op for node in graph.nodes] == ["ListItem", "ListItem", "AddV2"]
    assert item_of(rows[1], 1) is buffer
    assert item_of(rows[1], 2) is item_of(total, 0) is None
