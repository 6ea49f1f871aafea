"""Gradients of the buffers behind `TensorArray`, and behind lists in graphs.

The gradient of a buffer is a buffer. It may have more rows than the buffer itself, room
for elements, whose gradients are 0: see `rows_like`. A row that is read makes
`IndexedSlices`, so that the sum of many of them takes no more time than they are.
"""

from __future__ import annotations

from typing import Any

from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arrays.dimensions import length, lengths
from runtime.ops.convert import cast
from runtime.ops.gradient_shapes import is_buffer, rows_like, shape_of
from runtime.ops.operands import run


def row_of(g: Any, index: Any) -> Any:
    """A row of the gradient of a buffer."""
    return run("ListRow", g, as_place(index))


def as_place(index: Any) -> Any:
    """An index as ops of rows take it."""
    return cast(index, dtypes.int32)


def count_of(x: Any) -> Any:
    """How many rows there are, by the shape alone: a loop need not keep `x` for it."""
    return as_place(shape_of(x)[0])


def without_row(g: Any, index: Any, buffer: Any) -> Any:
    """The gradient of the buffer before a row was written."""
    place = as_place(index)
    row = tf.zeros_like(run("ListRow", g, place))
    rest = run("TensorArrayWriteV3", g, row, index=place)
    return fitted(rest, buffer)


def fitted(g: Any, buffer: Any) -> Any:
    """A gradient without rows that only a buffer may have."""
    return g if is_buffer(buffer) else rows_like(g, buffer)


def taken_out(g: Any, places: Any) -> tuple[Any, Any]:
    """A gradient with zeros in the place of some rows, and these rows."""
    rows = tf.gather(g, places)
    zeros = tf.zeros_like(rows)
    return tf.tensor_scatter_nd_update(g, tf.expand_dims(places, -1), zeros), rows


def of_rows(buffer: Any, indices: Any, rows: Any) -> Any:
    """The gradient of a buffer of which some rows were read."""
    return tf.IndexedSlices(rows, indices, shape_of(buffer))


def of_row(buffer: Any, index: Any, g: Any) -> Any:
    """As `of_rows`, for one row."""
    return of_rows(buffer, tf.reshape(as_place(index), [1]), tf.expand_dims(g, 0))


def from_front(index: Any, count: Any) -> Any:
    """An index that Python would count from the end, if it is negative."""
    return tf.where(index < 0, index + count, index)


def of_places(buffer: Any, places: Any, g: Any) -> Any:
    """The gradients of a buffer and of the places of rows that were read."""
    if buffer.shape.rank is None:
        return NotImplemented
    rows = tf.reshape(g, [length(places, 0), *lengths(buffer)[1:]])
    return [of_rows(buffer, places, rows), None]
