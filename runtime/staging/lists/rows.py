"""Python lists whose items are the rows of one tensor.

A list of a fixed length stays a Python list when a tensor chooses the item that is
assigned. Its items are rows of a buffer then: a later assignment finds the buffer
again, and branches and loops carry it in place of the items.
"""

from __future__ import annotations

from typing import Any

from runtime.graph.context import current_graph
from runtime.ops.apply import check_handlers, infer_specs
from runtime.ops.record import get
from runtime.tensor import SymbolicTensor

__all__ = ["buffer_of", "emit", "item_of", "kept_in", "loose", "rows_like"]


def emit(op: str, *tensors: Any, weak: bool | None = None, **attrs: Any) -> Any:
    """A node with one result, which is weak if the first tensor is."""
    graph = current_graph()
    assert graph is not None
    definition = get(op)
    check_handlers(definition, tensors)
    spec = infer_specs(definition, [tensor.spec for tensor in tensors], attrs)
    is_weak = tensors[0].spec.weak if weak is None else weak
    return graph.add(op, tensors, attrs, (spec.with_weak(is_weak),))[0]


def item_of(value: Any, index: int) -> Any:
    """The buffer that a value is the row at ``index`` of; None if it is none."""
    if not isinstance(value, SymbolicTensor) or value.node.op != "ListItem":
        return None
    return value.node.inputs[0] if value.node.attrs["index"] == index else None


def buffer_of(items: Any) -> Any:
    """The tensor whose rows the items of a list are, all of them; else None.

    Items that are lists are rows of a tensor with more axes.
    """
    return kept_in(items) if type(items) is list else None


def kept_in(items: list[Any]) -> Any:
    """As `buffer_of`, also for a list that is a copy and cannot be changed."""
    found = None
    for index, item in enumerate(items):
        row = kept_in(item) if isinstance(item, list) else item
        buffer = item_of(row, index)
        if buffer is None or (found is not None and buffer is not found):
            return None
        found = buffer
    dims = None if found is None else found.shape.dims
    return found if dims and dims[0] == len(items) else None


def loose(items: list[Any]) -> list[Any]:
    """The list with items that are values of their own, no longer rows."""
    return [
        loose(item) if isinstance(item, list) else emit("Identity", item)
        for item in items
    ]


def rows_like(items: list[Any], buffer: Any) -> list[Any]:
    """A list that has the form of another one, made of the rows of a buffer."""
    rows = [emit("ListItem", buffer, index=index) for index in range(len(items))]
    return [
        rows_like(item, row) if isinstance(item, list) else row
        for item, row in zip(items, rows)
    ]
