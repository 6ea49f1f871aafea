"""The ops behind `TensorArray` in graphs: a dense buffer, one row for each element.

A buffer whose elements have no known shape yet has the shape ``(size, 0)``; the first
write gives it theirs. Writing copies the buffer; an executor that knows of no later
use of the old one calls `kernel_in_place` instead, which copies only if someone
else still holds it. Without that a loop that fills an array would take quadratic time.

A growing array is a buffer with room to spare and the count of its elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, OutOfRangeError
from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arrays.dimensions import at, length, lengths, with_length
from runtime.ops.containers.row_gradients import (
    as_place,
    fitted,
    of_places,
    of_row,
    of_rows,
    row_of,
    taken_out,
    without_row,
)
from runtime.ops.convert import cast, constant
from runtime.ops.derivatives import Applied, gradient, without_gradient
from runtime.ops.gradient_shapes import rows_like
from runtime.ops.kernels.in_place import in_place
from runtime.ops.operands import Slice, define
from runtime.ops.shapes import Dims, dims_of, known_int, merge_dims, show, spec

Array = np.ndarray[Any, Any]

# --- buffers --------------------------------------------------------------------------


def fresh_buffer(size: int, dtype: DType, element: Dims | None) -> Array:
    """A buffer of zeros for elements of a shape, as far as that is known."""
    inner = (0,) if element is None or None in element else element
    shape = (size, *(dim or 0 for dim in inner))
    if dtype.kind == "O":
        return np.full(shape, b"", object)
    return np.zeros(shape, dtype.np_dtype)


def _is_unset(buffer: Array) -> bool:
    return buffer.ndim == 2 and not buffer.shape[1]


def _with_elements(buffer: Array, element: tuple[int, ...]) -> Array:
    """The buffer with room for elements of a shape; raises if it has others."""
    if buffer.shape[1:] == element:
        return buffer
    if _is_unset(buffer):
        empty = b"" if buffer.dtype == object else 0
        return np.full((len(buffer), *element), empty, buffer.dtype)
    raise InvalidArgumentError(
        f"an element of shape {element} does not go with the others, which have the "
        f"shape {buffer.shape[1:]}"
    )


def _check_index(index: int, size: int, action: str, can_grow: bool = False) -> None:
    if index < 0 or (index >= size and not can_grow):
        reason = "" if can_grow else "; it does not grow unless made with dynamic_size"
        reason = reason if action == "write to" else ""
        raise OutOfRangeError(
            f"tried to {action} index {index} of a TensorArray of size {size}{reason}"
        )


# --- new ------------------------------------------------------------------------------


def _infer_new(*, size: Any, dtype: DType, element_shape: Dims | None) -> TensorSpec:
    if element_shape is None or None in element_shape:
        return spec(None, dtype)
    return spec((known_int(size), *element_shape), dtype)


def _new(*, size: int, dtype: DType, element_shape: Dims | None) -> Array:
    if size < 0:
        raise InvalidArgumentError(f"the size must not be negative: {size}")
    return fresh_buffer(size, dtype, element_shape)


define("TensorArrayV3", _new, _infer_new, family="buffer", is_own=True)

# --- write ----------------------------------------------------------------------------


def _infer_write(buffer: TensorSpec, value: TensorSpec, *, index: Any) -> TensorSpec:
    rows, element = dims_of(buffer), dims_of(value)
    if element is None:
        return spec(rows, buffer.dtype)
    if rows is None:
        return spec((None, *element), buffer.dtype)
    place = known_int(index)
    if place is not None and rows[0] is not None:
        _check_index(place, rows[0], "write to")
    return spec((rows[0], *_merged(rows[1:], element)), buffer.dtype)


def _merged(known: Dims, element: Dims) -> Dims:
    try:
        return merge_dims(known, element) or ()
    except ValueError:
        raise InvalidArgumentError(
            f"an element of shape {show(element)} does not go with the others, which "
            f"have the shape {show(known)}"
        ) from None


def _write(buffer: Array, value: Array, *, index: Any, owned: bool = False) -> Array:
    """The buffer with the element in it: the same array if it is `owned`."""
    index = int(index)
    _check_index(index, len(buffer), "write to")
    rows = _with_elements(buffer, np.shape(value))
    if rows is buffer and not owned:
        rows = buffer.copy()
    rows[index, ...] = value  # of strings, too, the elements and not the array
    return rows


define(
    "TensorArrayWriteV3",
    _write,
    _infer_write,
    family="buffer",
    kernel_in_place=in_place(_write),
)


@gradient("TensorArrayWriteV3")
def _write_gradient(node: Applied, g: Any) -> Any:
    buffer, index = node.inputs[0], node.attrs["index"]
    return [without_row(g, index, buffer), row_of(g, index)]


def _infer_grow(
    buffer: TensorSpec, count: TensorSpec, value: TensorSpec, *, index: Any
) -> tuple[TensorSpec, TensorSpec]:
    rows, element = dims_of(buffer), dims_of(value)
    if rows is not None and element is not None:
        element = _merged(rows[1:], element)
    dims = rows if element is None else (None, *element)
    return spec(dims, buffer.dtype), spec((), dtypes.int32)


def _grow(
    buffer: Array, count: Array, value: Array, *, index: Any, owned: bool = False
) -> tuple[Array, Array]:
    index = int(index)
    _check_index(index, int(count), "write to", can_grow=True)
    shape = np.shape(value)
    rows = _with_elements(buffer, shape)
    if index >= len(rows):
        # Doubling keeps the cost of many writes in proportion to their number.
        room = max(index + 1, 2 * len(rows), 4)
        space = fresh_buffer(room - len(rows), dtypes.of_array(rows), shape)
        rows = np.concatenate([rows, space])
    elif rows is buffer and not owned:
        rows = buffer.copy()
    rows[index, ...] = value
    return rows, np.array(max(int(count), index + 1), np.int32)


define(
    "TensorArrayGrowV3",
    _grow,
    _infer_grow,
    family="buffer",
    kernel_in_place=in_place(_grow),
)


@gradient("TensorArrayGrowV3")
def _grow_gradient(node: Applied, g: Any, _: Any) -> Any:
    buffer, index = node.inputs[0], node.attrs["index"]
    return [without_row(g, index, buffer), None, row_of(g, index)]


# --- read -----------------------------------------------------------------------------


def _element(buffer: TensorSpec, element_shape: Dims | None) -> Dims | None:
    """The shape of an element as far as the buffer and the array know it."""
    rows = dims_of(buffer)
    return element_shape if rows is None else merge_dims(rows[1:], element_shape)


def _infer_read(
    buffer: TensorSpec, *, index: Any, size: Any, element_shape: Dims | None
) -> TensorSpec:
    place, length = known_int(index), known_int(size)
    if place is not None and length is not None:
        _check_index(place, length, "read from")
    return spec(_element(buffer, element_shape), buffer.dtype)


def _set_rows(buffer: Array, element_shape: Dims | None) -> Array:
    """The buffer with elements that can be read: zeros where none is written."""
    if not _is_unset(buffer):
        return buffer
    if element_shape is None or None in element_shape:
        raise InvalidArgumentError(
            "nothing is written to the TensorArray, and its element_shape is not known"
        )
    return _with_elements(buffer, tuple(dim or 0 for dim in element_shape))


def _read(
    buffer: Array, *, index: int, size: int | None, element_shape: Dims | None
) -> Array:
    _check_index(index, len(buffer) if size is None else size, "read from")
    # Not a view, which would keep the buffer from being written in place.
    return _set_rows(buffer, element_shape)[index, ...].copy()


define("TensorArrayReadV3", _read, _infer_read, family="buffer", picks=True)


@gradient("TensorArrayReadV3")
def _read_gradient(node: Applied, g: Any) -> Any:
    return [of_row(node.inputs[0], node.attrs["index"], g)]


def _infer_stack(
    buffer: TensorSpec, *, size: Any, element_shape: Dims | None
) -> TensorSpec:
    element, rows = _element(buffer, element_shape), dims_of(buffer)
    length = known_int(size)
    if element is None:
        return spec(None, buffer.dtype)
    if size is None and rows is not None:
        length = rows[0]
    return spec((length, *element), buffer.dtype)


def _stack(buffer: Array, *, size: int | None, element_shape: Dims | None) -> Array:
    if not len(buffer) and _is_unset(buffer) and element_shape is not None:
        # No elements: an unknown length of theirs may as well be 0.
        return np.empty((0, *(dim or 0 for dim in element_shape)), buffer.dtype)
    rows = _set_rows(buffer, element_shape)
    return rows if size is None else rows[:size]


define("TensorArrayStackV3", _stack, _infer_stack, family="buffer", picks=True)


# A buffer of the shape (size, 0) has no elements yet. Where a graph cannot tell whether
# it has one of these, it keeps the op.
def _is_set(buffer: Any) -> bool:
    """Whether the buffer is known to have its elements."""
    rank = buffer.shape.rank
    return rank is not None and (rank != 2 or bool(buffer.shape[1]))


@decomposes("TensorArrayStackV3")
def _stack_decomposed(buffer: Any, *, size: Any, element_shape: Any) -> Any:
    if not _is_set(buffer):
        return NotImplemented
    return tf.identity(buffer) if size is None else at(buffer, 0, Slice(0, size, None))


@gradient("TensorArrayStackV3")
def _stack_gradient(node: Applied, g: Any) -> Any:
    buffer, size = node.inputs[0], node.attrs["size"]
    if size is None:
        return [g]
    return [of_rows(buffer, tf.range(as_place(size)), g)]


def _infer_gather(
    buffer: TensorSpec, indices: TensorSpec, *, size: Any, element_shape: Dims | None
) -> TensorSpec:
    element, places = _element(buffer, element_shape), dims_of(indices)
    if element is None or places is None:
        return spec(None, buffer.dtype)
    return spec((*places, *element), buffer.dtype)


def _gather(
    buffer: Array, indices: Array, *, size: int | None, element_shape: Dims | None
) -> Array:
    length = len(buffer) if size is None else size
    for index in indices.ravel():
        _check_index(int(index), length, "read from")
    return _set_rows(buffer, element_shape).take(indices, 0)


define("TensorArrayGatherV3", _gather, _infer_gather, family="buffer", picks=True)


@decomposes("TensorArrayGatherV3")
def _gather_decomposed(
    buffer: Any, indices: Any, *, size: Any, element_shape: Any
) -> Any:
    if not _is_set(buffer):
        return NotImplemented
    rows = buffer if size is None else at(buffer, 0, Slice(0, size, None))
    return tf.gather(rows, indices)


@gradient("TensorArrayGatherV3")
def _gather_gradient(node: Applied, g: Any) -> Any:
    buffer, indices = node.inputs
    return of_places(buffer, tf.reshape(as_place(indices), [-1]), g)


# --- many at once ---------------------------------------------------------------------


def _check_size(size: int | None, count: int | None) -> None:
    if size != count and size is not None and count is not None:
        raise InvalidArgumentError(
            f"{count} elements do not make up a TensorArray of size {size}; only one "
            "made with dynamic_size can change it"
        )


def _infer_unstack(buffer: TensorSpec, value: TensorSpec) -> TensorSpec:
    rows, values = dims_of(buffer), dims_of(value)
    if values == ():
        raise InvalidArgumentError("a scalar cannot be unstacked")
    if rows and values:
        _check_size(rows[0], values[0])
    return spec(values, value.dtype)


def _unstack(buffer: Array, value: Array) -> Array:
    _check_size(len(buffer), len(value))
    return value


define("TensorArrayUnstackV3", _unstack, _infer_unstack, family="buffer")


@decomposes("TensorArrayUnstackV3")
def _unstack_decomposed(buffer: Any, value: Any) -> Any:
    if value.shape.rank is None:
        return NotImplemented
    return tf.identity(with_length(value, 0, length(buffer, 0)))


@gradient("TensorArrayUnstackV3")
def _unstack_gradient(node: Applied, g: Any) -> Any:
    return [None, rows_like(g, node.inputs[1])]


def _infer_scatter(
    buffer: TensorSpec, indices: TensorSpec, value: TensorSpec, *, dynamic: bool
) -> TensorSpec:
    rows, values = dims_of(buffer), dims_of(value)
    if values is None:
        return spec(None, buffer.dtype)
    if not values:
        raise InvalidArgumentError("a scalar has no elements to scatter")
    size = None if rows is None or dynamic else rows[0]
    return spec((size, *values[1:]), buffer.dtype)


def _scatter(buffer: Array, indices: Array, value: Array, *, dynamic: bool) -> Array:
    if indices.shape != value.shape[:1]:
        raise InvalidArgumentError(
            f"there are {len(value)} elements for indices of shape {indices.shape}"
        )
    size = len(buffer)
    if dynamic and indices.size:
        size = max(size, int(indices.max()) + 1)
    for index in indices:
        _check_index(int(index), size, "write to")
    rows = fresh_buffer(size, dtypes.of_array(buffer), value.shape[1:])
    if not _is_unset(buffer):
        rows[: len(buffer)] = _with_elements(buffer, value.shape[1:])
    rows[indices] = value
    return rows


define("TensorArrayScatterV3", _scatter, _infer_scatter, family="buffer")


@decomposes("TensorArrayScatterV3")
def _scatter_decomposed(buffer: Any, indices: Any, value: Any, *, dynamic: bool) -> Any:
    if not _is_set(buffer):
        return NotImplemented
    places = cast(indices, dtypes.int64)
    rows = buffer
    if dynamic:
        size = length(buffer, 0)
        nothing = constant([-1], dtypes.int64)
        more = tf.maximum(tf.reduce_max(tf.concat([nothing, places], 0)) + 1 - size, 0)
        space = tf.zeros([more, *lengths(buffer)[1:]], buffer.dtype)
        rows = tf.concat([buffer, space], 0)
    return tf.tensor_scatter_nd_update(rows, tf.expand_dims(places, -1), value)


@gradient("TensorArrayScatterV3")
def _scatter_gradient(node: Applied, g: Any) -> Any:
    buffer, indices, _ = node.inputs
    rest, rows = taken_out(g, as_place(indices))
    return [fitted(rest, buffer), None, rows]


def _infer_size(buffer: TensorSpec) -> TensorSpec:
    return spec((), dtypes.int32)


define(
    "TensorArraySizeV3",
    lambda buffer: np.array(len(buffer), np.int32),
    _infer_size,
    family="buffer",
)


@decomposes("TensorArraySizeV3")
def _size_decomposed(buffer: Any) -> Any:
    return cast(length(buffer, 0), dtypes.int32)


without_gradient("TensorArrayV3", "TensorArraySizeV3")
