"""The ops behind Python lists in graphs: a buffer of rows, and a count of those in use.

A buffer has room to spare, so that appending takes constant time on average: an
executor that knows of no later use of the old buffer calls `Op.kernel_in_place`,
which changes it. Errors are those that Python's lists raise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import Op, decomposes, register
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arrays.dimensions import at, joined, length, lengths
from runtime.ops.containers.row_gradients import (
    as_place,
    count_of,
    fitted,
    from_front,
    of_row,
    of_rows,
    row_of,
    taken_out,
    without_row,
)
from runtime.ops.containers.tensor_array_ops import fresh_buffer
from runtime.ops.convert import cast, constant
from runtime.ops.derivatives import Applied, gradient, without_gradient
from runtime.ops.gradient_shapes import broadcast_like, shape_of, sum_to
from runtime.ops.kernels.in_place import in_place
from runtime.ops.operands import Slice, run
from runtime.ops.shapes import Dims, dims_of, merge_dims, show, spec

Array = np.ndarray[Any, Any]

_COUNT = TensorSpec((), dtypes.int32)


# --- buffers --------------------------------------------------------------------------


def room_for(
    buffer: Array, count: int, element: tuple[int, ...], more: int, owned: bool
) -> Array:
    """A buffer to be written to: with the first rows, and room for ``more`` of them."""
    if buffer.shape[1:] != element:
        if count:
            raise InvalidArgumentError(
                f"AG210: an element of shape {element} was put into a list whose "
                f"elements have the shape {buffer.shape[1:]}"
            )
        return fresh_buffer(max(more, 4), dtypes.of_array(buffer), element)
    if count + more <= len(buffer):
        return buffer if owned else buffer.copy()
    # Doubling keeps the cost of many writes in proportion to their number.
    room = max(count + more, 2 * len(buffer), 4)
    rows = fresh_buffer(room, dtypes.of_array(buffer), element)
    rows[:count] = buffer[:count]
    return rows


def spec_with_element(buffer: TensorSpec, element: Dims | None) -> TensorSpec:
    """The spec of a buffer after an element was put into it."""
    rows = dims_of(buffer)
    if element is None:
        # An element of any rank decides what the rows of an empty list are.
        return spec(None, buffer.dtype)
    if rows is not None and len(rows) == len(element) + 1:
        # Rows of nothing may stand for those of an empty list, whose length the first
        # element decides.
        pairs = zip(rows[1:], element)
        rows = (rows[0], *[None if not a and b is None else a for a, b in pairs])
    try:
        merged = element if rows is None else merge_dims(rows[1:], element)
    except ValueError:
        raise InvalidArgumentError(
            f"AG210: an element of shape {show(element)} was put into a list whose "
            f"elements have the shape {show(rows[1:] if rows else None)}"
        ) from None
    return spec((None, *(merged or ())), buffer.dtype)


def _place(index: int, count: int, message: str) -> int:
    """An index counted from the front; IndexError if it is outside."""
    if not -count <= index < count:
        raise IndexError(message)
    return index + count if index < 0 else index


# --- ops that write -------------------------------------------------------------------


def _append(buffer: Array, count: Array, value: Array, owned: bool = False) -> Array:
    size = int(count)
    rows = room_for(buffer, size, np.shape(value), 1, owned)
    # Not rows[size], which would keep the array of a text.
    rows[size, ...] = value
    return rows


def extend(buffer: Array, count: Array, values: Array, owned: bool = False) -> Array:
    """The buffer with `values` as the rows from the place `count` on."""
    size = int(count)
    if not len(values):
        return buffer
    rows = room_for(buffer, size, values.shape[1:], len(values), owned)
    rows[size : size + len(values)] = values
    return rows


def _insert(
    buffer: Array, count: Array, index: Array, value: Array, owned: bool = False
) -> Array:
    size, place = int(count), int(index)
    place = max(place + size, 0) if place < 0 else min(place, size)
    if not place and size and buffer.shape[1:] == np.shape(value):
        rows = _with_row_before(buffer, size, owned)
    else:
        rows = room_for(buffer, size, np.shape(value), 1, owned)
        rows[place + 1 : size + 1] = rows[place:size].copy()
    rows[place, ...] = value
    return rows


def _with_row_before(buffer: Array, size: int, owned: bool) -> Array:
    """The buffer and a row before its first, where that is its own, or a copy of both.

    The copy has room before, too, so that both ends of a deque take constant time on
    average. What is popped at the other end leaves room that is not kept for ever.
    """
    behind = len(buffer) if len(buffer) <= 2 * size + 4 else size
    before = _rows_before(buffer) if owned and behind == len(buffer) else 0
    if before:
        return buffer.base[before - 1 :]  # type: ignore[index]
    room = max(size, 4)
    rows = fresh_buffer(room + behind, dtypes.of_array(buffer), buffer.shape[1:])
    rows[room : room + size] = buffer[:size]
    return rows[room - 1 :]


def _rows_before(view: Array) -> int:
    """The number of rows before a view of the last rows of an array; 0 for others."""
    base = view.base
    if base is None or not view.nbytes or view.strides != base.strides:
        return 0
    if view.dtype != base.dtype or view.shape[1:] != base.shape[1:]:
        return 0
    return len(base) - len(view) if np.may_share_memory(view[-1:], base[-1:]) else 0


def _set(
    buffer: Array, count: Array, index: Array, value: Array, owned: bool = False
) -> Array:
    place = _place(int(index), int(count), "list assignment index out of range")
    rows = room_for(buffer, int(count), np.shape(value), 0, owned)
    rows[place, ...] = value
    return rows


def _delete(buffer: Array, count: Array, index: Array, owned: bool = False) -> Array:
    size = int(count)
    place = int(index)
    if place == size - 1:
        return buffer
    if not place:  # a queue takes constant time: what is left stays where it is
        return buffer[1:] if owned else buffer[1:].copy()
    rows = buffer if owned else buffer.copy()
    rows[place : size - 1] = rows[place + 1 : size].copy()
    return rows


def _infer_append(
    buffer: TensorSpec, count: TensorSpec, value: TensorSpec
) -> TensorSpec:
    return spec_with_element(buffer, dims_of(value))


def _infer_extend(
    buffer: TensorSpec, count: TensorSpec, values: TensorSpec
) -> TensorSpec:
    dims = dims_of(values)
    return spec_with_element(buffer, None if dims is None else dims[1:])


def _infer_insert(
    buffer: TensorSpec, count: TensorSpec, index: TensorSpec, value: TensorSpec
) -> TensorSpec:
    return spec_with_element(buffer, dims_of(value))


def _infer_set(
    buffer: TensorSpec, count: TensorSpec, index: TensorSpec, value: TensorSpec
) -> TensorSpec:
    written, rows = spec_with_element(buffer, dims_of(value)), dims_of(buffer)
    dims = dims_of(written)
    if rows is None or dims is None:
        return written
    return spec((rows[0], *dims[1:]), buffer.dtype)


def _infer_delete(
    buffer: TensorSpec, count: TensorSpec, index: TensorSpec
) -> TensorSpec:
    return _infer_rows(buffer, count)


def register_writer(
    name: str, kernel: Callable[..., Array], infer: Any, **facts: Any
) -> None:
    """Register an op that writes to a buffer, and how it does where that is its own."""
    register(
        Op(
            name,
            kernel,
            infer,
            family="buffer",
            kernel_in_place=in_place(kernel),
            **facts,
        )
    )


register_writer("ListAppend", _append, _infer_append)


@gradient("ListAppend")
def _append_gradient(node: Applied, g: Any) -> Any:
    buffer, count, _ = node.inputs
    return [without_row(g, count, buffer), None, row_of(g, count)]


register_writer("ListExtend", extend, _infer_extend)


@gradient("ListExtend")
def _extend_gradient(node: Applied, g: Any) -> Any:
    buffer, count, values = node.inputs
    first, dims = as_place(count), shape_of(values)
    places = tf.range(first, first + count_of(values))
    rest, rows = taken_out(g, places)
    return [fitted(rest, buffer), None, tf.reshape(rows, dims)]


register_writer("ListInsert", _insert, _infer_insert)


@gradient("ListInsert")
def _insert_gradient(node: Applied, g: Any) -> Any:
    buffer, count, index, _ = node.inputs
    place = tf.where(index < 0, tf.maximum(index + count, 0), tf.minimum(index, count))
    rest = run("ListDelete", g, count + 1, place)
    return [fitted(rest, buffer), None, None, row_of(g, place)]


register_writer(
    "ListSet",
    _set,
    _infer_set,
    stateful=True,
    raises=IndexError("list assignment index out of range"),
    raises_for_program=True,
)


@gradient("ListSet")
def _set_gradient(node: Applied, g: Any) -> Any:
    buffer, count, index, _ = node.inputs
    place = from_front(index, count)
    return [without_row(g, place, buffer), None, None, row_of(g, place)]


register_writer("ListDelete", _delete, _infer_delete)


@gradient("ListDelete")
def _delete_gradient(node: Applied, g: Any) -> Any:
    buffer, count, index = node.inputs
    row = tf.zeros(tf.shape(g)[1:], g.dtype)
    if buffer.shape[1:].is_fully_defined():
        row = tf.zeros(buffer.shape[1:].as_list(), g.dtype)
    rest = run("ListInsert", g, count - 1, index, row)
    return [fitted(rest, buffer), None, None]


# --- ops that read --------------------------------------------------------------------


def _get(buffer: Array, count: Array, index: Array) -> Array:
    place = _place(int(index), int(count), "list index out of range")
    # Not a view, which would keep the buffer from being written in place.
    return buffer[place, ...].copy()


def _infer_get(buffer: TensorSpec, count: TensorSpec, index: TensorSpec) -> TensorSpec:
    rows = dims_of(buffer)
    return spec(None if rows is None else rows[1:], buffer.dtype)


register(
    Op(
        "ListGet",
        _get,
        _infer_get,
        stateful=True,
        family="buffer",
        picks=True,
        raises=IndexError("list index out of range"),
        raises_for_program=True,
    )
)


@gradient("ListGet")
def _get_gradient(node: Applied, g: Any) -> Any:
    buffer, count, index = node.inputs
    return [of_row(buffer, from_front(index, count), g), None, None]


def _row(buffer: Array, index: Array) -> Array:
    return buffer[int(index), ...].copy()


def _infer_row(buffer: TensorSpec, index: TensorSpec) -> TensorSpec:
    return _infer_get(buffer, index, index)


#: An element that is known to be there.
register(Op("ListRow", _row, _infer_row, family="buffer", picks=True))


@decomposes("ListRow")
def _row_decomposed(buffer: Any, index: Any) -> Any:
    return at(buffer, 0, tf.reshape(index, ()))


@gradient("ListRow")
def _list_row_gradient(node: Applied, g: Any) -> Any:
    buffer, index = node.inputs
    return [of_row(buffer, index, g), None]


def _item(buffer: Array, *, index: int) -> Array:
    return buffer[index, ...].copy()


#: An item of a Python list that is kept as one tensor.
register(
    Op(
        "ListItem",
        _item,
        lambda buffer, index: _infer_row(buffer, buffer),
        family="buffer",
        picks=True,
    )
)


@decomposes("ListItem")
def _item_decomposed(buffer: Any, *, index: int) -> Any:
    return at(buffer, 0, index)


@gradient("ListItem")
def _item_gradient(node: Applied, g: Any) -> Any:
    buffer, index = node.inputs[0], node.attrs["index"]
    if index < 0:
        index = index + count_of(buffer)
    return [of_row(buffer, index, g)]


def _rows(buffer: Array, count: Array) -> Array:
    return buffer[: int(count)]


def _infer_rows(buffer: TensorSpec, count: TensorSpec) -> TensorSpec:
    rows = dims_of(buffer)
    return spec(None if rows is None else (None, *rows[1:]), buffer.dtype)


register(Op("ListRows", _rows, _infer_rows, family="buffer", picks=True))


@decomposes("ListRows")
def _rows_decomposed(buffer: Any, count: Any) -> Any:
    return at(buffer, 0, Slice(None, tf.reshape(count, ()), None))


@gradient("ListRows")
def _rows_gradient(node: Applied, g: Any) -> Any:
    buffer = node.inputs[0]
    # A count that is negative, or beyond the end, takes others than it says.
    return [of_rows(buffer, tf.range(as_place(length(g, 0))), g), None]


#: What Python raises for an element that is to be taken out, and is not there.
_PLACE_ERRORS = {
    "pop": ("pop from empty list", "pop index out of range"),
    "get": ("list index out of range",) * 2,
    "del": ("list assignment index out of range",) * 2,
    "deque pop": ("pop from an empty deque",) * 2,
    "deque get": ("deque index out of range",) * 2,
    "index out of range": ("index out of range",) * 2,
}


def _place_of(count: Array, index: Array, use: str) -> Array:
    size, messages = int(count), _PLACE_ERRORS[use]
    return np.array(_place(int(index), size, messages[size > 0]), np.int32)


register(
    Op(
        "ListPlace",
        _place_of,
        lambda count, index, use: _COUNT,
        stateful=True,
        family="buffer",
        raises=IndexError("list index out of range"),
        raises_for_program=True,
    )
)


def _find(found: Array, message: str) -> Array:
    if not found.any():
        raise ValueError(message)
    return np.array(found.argmax(), np.int32)


register(
    Op(
        "ListFind",
        _find,
        lambda found, message: _COUNT,
        stateful=True,
        family="buffer",
        raises=ValueError("not in the list"),
        raises_for_program=True,
    )
)


def _sum(start: Array, values: Array) -> Array:
    # From left to right, as Python adds; NumPy's sum rounds in another order.
    if not len(values):
        return np.broadcast_to(start, values.shape[1:]).astype(values.dtype)
    total = start + values[0]
    for value in values[1:]:
        total = total + value
    return np.asarray(total, values.dtype)


def _infer_sum(start: TensorSpec, values: TensorSpec) -> TensorSpec:
    dims = dims_of(values)
    return spec(None if dims is None else dims[1:], values.dtype)


register(Op("ListSum", _sum, _infer_sum, family="buffer", exact=operator.add))


@decomposes("ListSum")
def _sum_decomposed(start: Any, values: Any) -> Any:
    # A running sum adds from left to right, as Python does, but checks no ints.
    is_exact = values.spec.weak and values.dtype.is_integer
    if values.shape.rank is None or is_exact:
        return NotImplemented
    first = tf.zeros(joined(lengths(values)[1:]), values.dtype)
    first = tf.where(constant(True), cast(start, values.dtype), first)
    return at(tf.cumsum(tf.concat([tf.expand_dims(first, 0), values], 0), 0), 0, -1)


@gradient("ListSum")
def _sum_gradient(node: Applied, g: Any) -> Any:
    start, values = node.inputs
    return [cast(sum_to(g, start), start.dtype), broadcast_like(g, values)]


def _equal(one: Array, other: Array) -> Array:
    return np.array(one.shape == other.shape and bool((one == other).all()))


register(
    Op(
        "ListEqual",
        _equal,
        lambda one, other: TensorSpec((), dtypes.bool),
        strong=True,
        family="buffer",
    )
)


@decomposes("ListEqual")
def _equal_decomposed(one: Any, other: Any) -> Any:
    if None in (one.shape.rank, other.shape.rank):
        return NotImplemented
    if one.shape.rank != other.shape.rank:
        return constant(False)
    same = tf.reduce_all(tf.equal(tf.shape(one), tf.shape(other)))
    # If the shapes differ what is compared does not matter.
    first, second = tf.reshape(one, [-1]), tf.reshape(other, [-1])
    count = tf.minimum(length(first, 0), length(second, 0))
    parts = (at(each, 0, Slice(0, count, None)) for each in (first, second))
    return tf.logical_and(same, tf.reduce_all(tf.equal(*parts)))


without_gradient("ListPlace", "ListFind", "ListEqual")


def _repeat(values: Array, times: Array) -> Array:
    return np.concatenate([values[:0], *[values] * max(int(times), 0)])


register(
    Op(
        "ListRepeat",
        _repeat,
        lambda values, times: _infer_rows(values, times),
        family="buffer",
    )
)


@decomposes("ListRepeat")
def _repeat_decomposed(values: Any, times: Any) -> Any:
    if values.shape.rank is None:
        return NotImplemented
    count = tf.maximum(cast(tf.reshape(times, ()), dtypes.int64), 0)
    return tf.tile(values, [count] + [1] * (values.shape.rank - 1))


@gradient("ListRepeat")
def _repeat_gradient(node: Applied, g: Any) -> Any:
    values, times = node.inputs
    if values.shape.rank is None:
        return NotImplemented
    dims = [shape_of(values)[axis] for axis in range(values.shape.rank)]
    return [tf.reduce_sum(tf.reshape(g, [tf.maximum(times, 0), *dims]), 0), None]
