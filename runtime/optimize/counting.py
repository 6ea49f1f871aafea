"""Loops that count: how often they run, and numbers that need not be looked up.

Before::

    %1 = Range(start=0, limit=10, delta=1)
    %2, %3 = While(0, %x, %1)
        cond_graph(%0 'index', ...):
          return Less(%0, 10)
        body_graph(%0 'index', %1 'x', %2 captured 'range'):
          %3 = GatherV2(%2, %0)
          ...
          return AddV2(%0, 1), ...

After::

    %1, %2 = While(0, %x, trip_count=10)
        ...
        body_graph(%0 'i', %1 'x'):
          # %0 instead of %3
          ...

Exact: the counter starts at a constant that is not negative, every iteration adds 1 and
runs only while the counter is below the limit. So it goes through all integers up to
there, and never wraps around. As long as the limit is the length of ``range(3)``, item
number i of that is there, and is i.
"""

from __future__ import annotations

from typing import NamedTuple

from runtime.execute.counted import find_test, step_of
from runtime.graph import Graph, Node
from runtime.optimize.editing import Editor, bodies_of, free_name, nested_graphs
from runtime.optimize.facts import number
from runtime.tensor import SymbolicTensor

__all__ = ["counted_loops"]


def counted_loops(graph: Graph) -> int:
    """Say of the loops that count that they do, and read items without asking."""
    changes = 0
    for found in nested_graphs(graph):
        for node in found.nodes:
            if node.op == "While":
                changes += _count(node)
    return changes


def _count(node: Node) -> int:
    loop = _loop(node)
    if loop is None:
        return 0
    changes = 0
    # On the line of a `for` the test stands last, and the variable is not its name.
    test = node.attrs["cond_graph"]
    (test.labels or {}).pop(test.outputs[0], None)
    limit = number(loop.limit)
    if limit is not None and "trip_count" not in node.attrs:
        node.attrs["trip_count"] = max(0, int(limit) - loop.start)
        changes = 1
    return changes + _simplify_items(node, loop)


class _Loop(NamedTuple):
    """A loop ``while counter < limit``; `limit` is of outside, or constant."""

    state: int
    start: int
    limit: SymbolicTensor
    counter: SymbolicTensor


def _loop(node: Node) -> _Loop | None:
    test, body = find_test(node), node.attrs["body_graph"]
    if test is None or test.condition is not None:
        return None
    state, counter = test.counter, body.inputs[test.counter]
    if node.attrs["maximum_iterations"] is not None or step_of(body, state) != 1:
        return None
    start = number(node.inputs[state])
    if start is None or start < 0 or test.limit.shape.rank != 0:
        return None
    return _Loop(state, int(start), test.limit, counter)


def _position(tensor: SymbolicTensor, graph: Graph) -> int | None:
    """Which input of the graph it is."""
    if tensor.node.op != "Placeholder":
        return None
    return next(i for i, other in enumerate(graph.inputs) if other is tensor)


def _outside(tensor: SymbolicTensor, graph: Graph, node: Node) -> SymbolicTensor | None:
    """What stands for a tensor of the loop outside, a constant for itself."""
    if tensor.node.op == "Const":
        return tensor
    place = _position(tensor, graph)
    if place is None or place < len(node.outputs):
        return None
    return node.inputs[place]


# --- items ----------------------------------------------------------------------------


def _simplify_items(node: Node, loop: _Loop) -> int:
    body = node.attrs["body_graph"]
    editor = Editor(body)
    for inner in body.nodes:
        if editor.replaced:
            inner.inputs = editor.resolve(inner.inputs)
        if inner.op == "GatherV2" and _is_counter(inner, node, loop):
            _rename(node, loop.state, (body.labels or {}).get(inner.outputs[0]))
            editor.replace(inner.outputs, (loop.counter,))
        else:
            editor.nodes.append(inner)
    if editor.changes:
        body.nodes = editor.nodes
        body.outputs = list(editor.resolve(body.outputs))
    return editor.changes


def _rename(node: Node, state: int, label: str | None) -> None:
    """Call the counter as the user calls the items that it now stands for."""
    if label is not None:
        for graph in bodies_of(node):
            graph.inputs[state].node.name = free_name(graph, label)


def _is_counter(inner: Node, node: Node, loop: _Loop) -> bool:
    """Whether it is the gathering of item number i of ``range(n)``, which is there."""
    items, index = inner.inputs[:2]
    if index is not loop.counter or inner.attrs != {"axis": 0, "batch_dims": 0}:
        return False
    source = _outside(items, inner.graph, node)
    if source is None or source.node.op != "Range" or source.dtype is not index.dtype:
        return False
    return _is_plain_range(source.node) and _is_length(loop.limit, source)


def _is_plain_range(node: Node) -> bool:
    """Whether it is ``range(3)``, whose items are their numbers.

    ``range(n)`` of a tensor refuses an `n` that is negative, so it has to stay.
    """
    start, delta = node.attrs["start"], node.attrs["delta"]
    if node.attrs.get("operands"):
        return False
    return type(start) is type(delta) is int and start == 0 and delta == 1


def _is_length(limit: SymbolicTensor, items: SymbolicTensor) -> bool:
    """Whether there are (at least) `limit` items."""
    value = number(limit)
    dims = items.shape.dims
    if value is None or not dims or dims[0] is None:
        return False
    return bool(value <= dims[0])
