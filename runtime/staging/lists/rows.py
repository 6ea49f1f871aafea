"""Python lists whose items are the rows of one tensor.

A list of a fixed length stays a Python list when a tensor chooses the item that is
assigned. Its items become rows of a buffer: a later assignment finds the buffer by its
rows, and branches and loops carry the buffer in place of the items. A row that is a
list itself, as in ``row = grid[y]``, is chosen by `staging.objects.choice`.
"""

from __future__ import annotations

from typing import Any

from runtime.core.graph.context import current_graph
from runtime.core.graph.record import get
from runtime.core.graph.recording import recorders, unrecorded
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import dtypes
from runtime.ops.apply import check_handlers, infer_specs


def emit(op: str, *tensors: Any, weak: bool | None = None, **attrs: Any) -> Any:
    """A node with one result, which is weak if the first tensor is."""
    graph = current_graph()
    assert graph is not None
    definition = get(op)
    check_handlers(definition, tensors)
    spec = infer_specs(definition, [tensor.spec for tensor in tensors], attrs)
    is_weak = tensors[0].spec.weak if weak is None else weak
    is_weak = is_weak and spec.dtype is dtypes.wide(spec.dtype)
    return graph.add(op, tensors, attrs, (spec.with_weak(is_weak),))[0]


class _Rows:
    """A buffer, its graph, and the spec of each row."""

    __slots__ = ("buffer", "graph", "spec")

    def __init__(self, buffer: Any) -> None:
        graph = current_graph()
        assert graph is not None
        definition = get("ListItem")
        check_handlers(definition, (buffer,))
        spec = infer_specs(definition, [buffer.spec], {"index": 0})
        self.buffer = buffer
        self.graph = graph
        self.spec = spec.with_weak(buffer.spec.weak)


class _Row(SymbolicTensor):
    """A row of a buffer. Its node is added to the graph at its first use.

    So each assignment may give a list new rows for all of its items, and the graph has
    nodes for the rows that the program reads.
    """

    __slots__ = ("_place", "_rows")

    def __init__(self, rows: _Rows, index: int) -> None:
        self._rows = rows
        self._place = index
        self._spec = rows.spec

    def __autograph_type__(self) -> type:
        return SymbolicTensor

    @property
    def op_name(self) -> str:
        """The op that the node has, or will have."""
        return "ListItem"

    def __getattr__(self, name: str) -> Any:
        if name not in ("graph", "node", "value_index"):
            return super().__getattr__(name)
        rows = self._rows
        attrs = {"index": self._place}
        # Recorders may add nodes that use the output, which has to be this row.
        with unrecorded():
            (output,) = rows.graph.add("ListItem", (rows.buffer,), attrs, (self._spec,))
        self.graph, self.value_index, self.node = (
            output.graph,
            output.value_index,
            output.node,
        )
        self.node.outputs = (self,)
        for recorder in recorders():
            recorder.record(self.node)
        return getattr(self, name)

    def _left_out(self) -> None:
        del self.graph, self.value_index, self.node


def row_at(buffer: Any, index: int) -> Any:
    """The row of a buffer at an index within it."""
    return _read(_Row(_Rows(buffer), index))


def rows_of(buffer: Any, length: int) -> list[Any]:
    """The rows of a buffer of this length."""
    rows = _Rows(buffer)
    return [_read(_Row(rows, index)) for index in range(length)]


def _read(row: _Row) -> _Row:
    """The row; its node is made at once if a tape is open and must record it."""
    if recorders():
        _ = row.node
    return row


def item_of(value: Any, index: int) -> Any:
    """The buffer whose row at ``index`` a value is; None for any other value."""
    return value._rows.buffer if type(value) is _Row and value._place == index else None


def buffer_of(items: Any) -> Any:
    """The tensor whose rows are all the items of a list; else None.

    Items that are lists are rows of a tensor with more axes.
    """
    return common_buffer(items) if type(items) is list else None


def common_buffer(items: list[Any]) -> Any:
    """As `buffer_of`, also for the copies of `staging.objects.copy`."""
    common = None
    for index, item in enumerate(items):
        row = common_buffer(item) if isinstance(item, list) else item
        buffer = item_of(row, index)
        if buffer is None or (common is not None and buffer is not common):
            return None
        common = buffer
    dims = None if common is None else common.shape.dims
    return common if dims and dims[0] == len(items) else None


def loose(items: list[Any]) -> list[Any]:
    """The list with a value of its own for each item in place of a row."""
    return [
        loose(item) if isinstance(item, list) else emit("Identity", item)
        for item in items
    ]


def rows_like(items: list[Any], buffer: Any) -> list[Any]:
    """The rows of a buffer in lists of the same nesting as ``items``."""
    return [
        rows_like(item, row) if isinstance(item, list) else row
        for item, row in zip(items, rows_of(buffer, len(items)))
    ]
