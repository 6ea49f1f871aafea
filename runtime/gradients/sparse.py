"""Gradients of rows: `IndexedSlices` until someone needs the whole tensor."""

from __future__ import annotations

from typing import Any

from runtime.gradients.shapes import are_alike
from runtime.ops import record
from runtime.ops.arrays.dimensions import length
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.rearrange import pad
from runtime.ops.arrays.scatter import tensor_scatter_nd_add
from runtime.ops.arrays.shape import expand_dims
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.elementwise.arithmetic import maximum
from runtime.tensor import SymbolicTensor
from runtime.types import dtypes
from runtime.variable import IndexedSlices

__all__ = ["added", "dense"]


def dense(gradient: Any) -> Any:
    """A gradient as a tensor."""
    if isinstance(gradient, IndexedSlices):
        return convert_to_tensor(gradient)
    return gradient


def added(first: Any, second: Any) -> Any:
    """The sum of two gradients of one tensor."""
    if are_alike(first, second):
        return first + second
    if isinstance(first, IndexedSlices) and isinstance(second, IndexedSlices):
        indices = [first.indices, second.indices]
        if indices[0].dtype is not indices[1].dtype:
            indices = [cast(index, dtypes.int64) for index in indices]
        values = concat([first.values, second.values], 0)
        return IndexedSlices(values, concat(indices, 0), first.dense_shape)
    for whole, rows in ((first, second), (second, first)):
        if isinstance(rows, IndexedSlices) and not isinstance(whole, IndexedSlices):
            # In place where a loop adds up: no zeros for the rows that were not used.
            places = expand_dims(rows.indices, -1)
            return tensor_scatter_nd_add(whole, places, rows.values)
    lengths = [x.shape[0] if x.shape.rank else 0 for x in (first, second)]
    if None in lengths:
        first, second = _as_long(first, second), _as_long(second, first)
    return first + second


def _as_long(x: Any, other: Any) -> Any:
    """`x` with zeros behind it, where `other` is longer: see `rules.buffers`."""
    if _is_of_buffer(x) or _is_of_buffer(other):
        more = maximum(length(other, 0) - length(x, 0), 0)
        return pad(x, [(0, more)] + [(0, 0)] * (x.shape.rank - 1))
    return x


def _is_of_buffer(x: Any) -> bool:
    """Whether a gradient was made by an op of buffers."""
    if not isinstance(x, SymbolicTensor):
        return False
    return bool(record.get(x.node.op).family == "buffer")
