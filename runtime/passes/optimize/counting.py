"""Loops that count: numbers that need not be looked up.

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

    %1, %2 = While(0, %x)
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

from runtime.core.graph import Graph, Node
from runtime.core.graph.counted import (
    CountedLoop,
    constant_int,
    find_counter,
    is_item,
    outside,
)
from runtime.core.graph.editing import Editor, bodies_of, free_name, nested_graphs
from runtime.core.tensor import SymbolicTensor


def counted_loops(graph: Graph) -> int:
    """Have the loops that count read the items of ranges without asking."""
    changes = 0
    for inner in nested_graphs(graph):
        for node in inner.nodes:
            loop = find_counter(node) if node.op == "While" else None
            changes += 0 if loop is None else _simplify_items(loop)
    return changes


def _simplify_items(loop: CountedLoop) -> int:
    if loop.condition is not None or loop.limit.shape.rank != 0:
        return 0
    if loop.start is None or loop.start < 0:
        return 0
    node = loop.node
    # On the line of a `for` the test stands last, and the variable is not its name.
    test = node.attrs["cond_graph"]
    (test.labels or {}).pop(test.outputs[0], None)
    body = node.attrs["body_graph"]
    counter = body.inputs[loop.counter]
    editor = Editor(body)
    for inner in body.nodes:
        if editor.replaced:
            inner.inputs = editor.resolve(inner.inputs)
        if is_item(inner, counter) and _is_counter(inner, loop):
            _rename(node, loop.counter, (body.labels or {}).get(inner.outputs[0]))
            editor.replace(inner.outputs, (counter,))
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


def _is_counter(item: Node, loop: CountedLoop) -> bool:
    """Whether the item of this number is one of ``range(n)``, and is there."""
    items, index = item.inputs
    source = outside(loop.node, item.graph, items)
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
    value = constant_int(limit)
    dims = items.shape.dims
    if value is None or not dims or dims[0] is None:
        return False
    return value <= dims[0]
