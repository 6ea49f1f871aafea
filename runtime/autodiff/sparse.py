"""Gradients of rows: `IndexedSlices` until someone needs the whole tensor."""

from __future__ import annotations

from typing import Any

from runtime.autodiff.shapes import is_written
from runtime.core.types import dtypes
from runtime.ops.arrays.creation import zeros_like
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.rearrange import pad
from runtime.ops.arrays.scatter import tensor_scatter_nd_add
from runtime.ops.arrays.shape import expand_dims, reshape, shape, size
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.elementwise.arithmetic import add, maximum
from runtime.ops.gradient_shapes import are_alike, rows_like
from runtime.ops.variables import IndexedSlices


def dense(gradient: Any) -> Any:
    """A gradient as a tensor."""
    if isinstance(gradient, IndexedSlices):
        return convert_to_tensor(gradient)
    return gradient


def added(first: Any, second: Any, of: Any) -> Any:
    """The sum of two gradients of one tensor, `of`."""
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
    if _may_differ(first, second) and is_written(of):
        return _added_rows(first, second)
    return first + second


def with_rows_of(x: Any, other: Any, of: Any) -> Any:
    """A tangent of a buffer, `of`, with as many rows as another value for it has.

    It gets zeros for room that the other one has, and loses rows beyond its end.
    """
    if isinstance(x, IndexedSlices):
        return IndexedSlices(x.values, x.indices, shape(other))
    if _may_differ(x, other) and is_written(of):
        return rows_like(_added_rows(zeros_like(other), x), other)
    return x


def _may_differ(first: Any, second: Any) -> bool:
    """Whether two gradients may have different numbers of rows."""
    lengths = [x.shape[0] if x.shape.rank else x.shape.rank for x in (first, second)]
    return None in lengths or lengths[0] != lengths[1]


def _added_rows(first: Any, second: Any) -> Any:
    """The sum of gradients of a buffer, of which one may have more rows.

    One without rows may have elements of another shape: nothing is known of them yet.
    """
    sizes, shapes = [size(first), size(second)], [shape(first), shape(second)]
    count = maximum(*sizes)
    parts = [reshape(x, [-1]) for x in (first, second)]
    total = add(*[pad(x, [(0, count - own)]) for x, own in zip(parts, sizes)])
    is_first = sizes[0] >= sizes[1]
    if None not in (first.shape.rank, second.shape.rank):
        return reshape(total, where(is_first, *shapes))
    ranks = [size(dims) for dims in shapes]
    begin, length = where(is_first, 0, ranks[0]), where(is_first, *ranks)
    return reshape(total, concat(shapes, 0)[begin : begin + length])
