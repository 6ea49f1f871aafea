"""Gradients of the buffers behind `TensorArray`, and behind lists in graphs.

The gradient of a buffer is a buffer. It may have more rows than the buffer itself, room
for elements, whose gradients are 0: see `rows_like`. A row that is read makes
`IndexedSlices`, so that the sum of many of them takes no more time than they are.
"""

from __future__ import annotations

from typing import Any

from runtime.core.types import dtypes
from runtime.ops.arrays.creation import zeros, zeros_like
from runtime.ops.arrays.dimensions import length, lengths
from runtime.ops.arrays.gather import gather, where
from runtime.ops.arrays.scatter import tensor_scatter_nd_update
from runtime.ops.arrays.sequences import range as numbers_from
from runtime.ops.arrays.shape import expand_dims, reshape, shape
from runtime.ops.convert import cast
from runtime.ops.define import run
from runtime.ops.derivatives import Applied, gradient, without_gradient
from runtime.ops.elementwise.arithmetic import maximum, minimum
from runtime.ops.gradient_shapes import (
    broadcast_like,
    is_buffer,
    rows_like,
    shape_of,
    sum_to,
    zeros_of,
)
from runtime.ops.reduce.reductions import reduce_prod, reduce_sum
from runtime.ops.variables import IndexedSlices

without_gradient(
    *("TensorArrayV3", "TensorArraySizeV3", "ListPlace", "ListFind", "ListEqual"),
    *("ListOrder", "ListLess", "ListWithout", "ListPlaceOrEnd", "ListFirstOnes"),
    *("ListMembers", "StackDims", "StandIn"),
)

# --- rows -----------------------------------------------------------------------------


def _row(g: Any, index: Any) -> Any:
    """A row of the gradient of a buffer."""
    return run("ListRow", g, _scalar(index))


def _scalar(index: Any) -> Any:
    return cast(index, dtypes.int32)


def _length(x: Any) -> Any:
    """How many rows there are, by the shape alone: a loop need not keep `x` for it."""
    return _scalar(shape_of(x)[0])


def _without(g: Any, index: Any, buffer: Any) -> Any:
    """The gradient of the buffer before a row was written."""
    place = _scalar(index)
    row = zeros_like(run("ListRow", g, place))
    rest = run("TensorArrayWriteV3", g, row, index=place)
    return rest if is_buffer(buffer) else rows_like(rest, buffer)


def _of_rows(buffer: Any, indices: Any, rows: Any) -> Any:
    """The gradient of a buffer of which some rows were read."""
    return IndexedSlices(rows, indices, shape_of(buffer))


def _of_row(buffer: Any, index: Any, g: Any) -> Any:
    return _of_rows(buffer, reshape(_scalar(index), [1]), expand_dims(g, 0))


def _from_front(index: Any, count: Any) -> Any:
    return where(index < 0, index + count, index)


# --- arrays ---------------------------------------------------------------------------


@gradient("TensorArrayReadV3")
def _read(node: Applied, g: Any) -> Any:
    return [_of_row(node.inputs[0], node.attrs["index"], g)]


@gradient("TensorArrayWriteV3")
def _write(node: Applied, g: Any) -> Any:
    buffer, index = node.inputs[0], node.attrs["index"]
    return [_without(g, index, buffer), _row(g, index)]


@gradient("TensorArrayGrowV3")
def _grow(node: Applied, g: Any, _: Any) -> Any:
    buffer, index = node.inputs[0], node.attrs["index"]
    return [_without(g, index, buffer), None, _row(g, index)]


@gradient("TensorArrayStackV3")
def _stack(node: Applied, g: Any) -> Any:
    buffer, size = node.inputs[0], node.attrs["size"]
    if size is None:
        return [g]
    return [_of_rows(buffer, numbers_from(_scalar(size)), g)]


@gradient("TensorArrayGatherV3", "ListTake")
def _gather(node: Applied, g: Any) -> Any:
    buffer, indices = node.inputs
    places = reshape(_scalar(indices), [-1])
    if node.op == "ListTake":
        places = _from_front(places, _length(buffer))
    if buffer.shape.rank is None:
        return NotImplemented
    rows = reshape(g, [length(places, 0), *lengths(buffer)[1:]])
    return [_of_rows(buffer, places, rows), None]


@gradient("TensorArrayUnstackV3")
def _unstack(node: Applied, g: Any) -> Any:
    return [None, rows_like(g, node.inputs[1])]


@gradient("TensorArrayScatterV3")
def _scatter(node: Applied, g: Any) -> Any:
    buffer, indices, _ = node.inputs
    places = expand_dims(_scalar(indices), -1)
    rows = gather(g, _scalar(indices))
    rest = tensor_scatter_nd_update(g, places, zeros_like(rows))
    return [rest if is_buffer(buffer) else rows_like(rest, buffer), None, rows]


# --- lists: writing -------------------------------------------------------------------


@gradient("ListAppend")
def _append(node: Applied, g: Any) -> Any:
    buffer, count, _ = node.inputs
    return [_without(g, count, buffer), None, _row(g, count)]


@gradient("ListExtend")
def _extend(node: Applied, g: Any) -> Any:
    buffer, count, values = node.inputs
    first, dims = _scalar(count), shape_of(values)
    places = numbers_from(first, first + _length(values))
    rows = gather(g, places)
    rest = tensor_scatter_nd_update(g, expand_dims(places, 1), zeros_like(rows))
    if not is_buffer(buffer):
        rest = rows_like(rest, buffer)
    return [rest, None, reshape(rows, dims)]


@gradient("StackPush")
def _stack_push(node: Applied, g: Any) -> Any:
    buffer, _, begin, tensor = node.inputs
    dims = shape_of(tensor)
    places = numbers_from(_scalar(begin), _scalar(begin) + _scalar(reduce_prod(dims)))
    rows = gather(g, places)
    rest = tensor_scatter_nd_update(g, expand_dims(places, 1), zeros_like(rows))
    if not is_buffer(buffer):
        rest = rows_like(rest, buffer)
    return [rest, None, None, reshape(rows, dims)]


@gradient("StackRead")
def _stack_read(node: Applied, g: Any) -> Any:
    buffer, _, begin, dims = node.inputs
    places = numbers_from(_scalar(begin), _scalar(begin) + reduce_prod(dims))
    return [_of_rows(buffer, places, reshape(g, [-1])), None, None, None]


@gradient("ListInsert")
def _insert(node: Applied, g: Any) -> Any:
    buffer, count, index, _ = node.inputs
    place = where(index < 0, maximum(index + count, 0), minimum(index, count))
    rest = run("ListDelete", g, count + 1, place)
    if not is_buffer(buffer):
        rest = rows_like(rest, buffer)
    return [rest, None, None, _row(g, place)]


@gradient("ListSet")
def _set(node: Applied, g: Any) -> Any:
    buffer, count, index, _ = node.inputs
    place = _from_front(index, count)
    return [_without(g, place, buffer), None, None, _row(g, place)]


@gradient("ListPut")
def _put(node: Applied, g: Any) -> Any:
    buffer, count, place, _ = node.inputs
    row = _row(g, place)
    if not node.attrs["keep"]:
        return [_without(g, place, buffer), None, None, row]
    is_new = place >= count
    mine, own = where(is_new, row, zeros_like(row)), where(is_new, zeros_like(row), row)
    rest = run("TensorArrayWriteV3", g, own, index=_scalar(place))
    if not is_buffer(buffer):
        rest = rows_like(rest, buffer)
    return [rest, None, None, mine]


@gradient("ListDelete")
def _delete(node: Applied, g: Any) -> Any:
    buffer, count, index = node.inputs
    row = zeros(shape(g)[1:], g.dtype)
    if buffer.shape[1:].is_fully_defined():
        row = zeros(buffer.shape[1:].as_list(), g.dtype)
    rest = run("ListInsert", g, count - 1, index, row)
    return [rest if is_buffer(buffer) else rows_like(rest, buffer), None, None]


@gradient("ListSetRows")
def _set_rows(node: Applied, g: Any) -> Any:
    values, places, _ = node.inputs
    places = _from_front(_scalar(places), _length(values))
    rows = gather(g, places)
    rest = tensor_scatter_nd_update(g, expand_dims(places, 1), zeros_like(rows))
    return [rest, None, rows]


# --- lists: reading -------------------------------------------------------------------


@gradient("ListGet")
def _get(node: Applied, g: Any) -> Any:
    buffer, count, index = node.inputs
    return [_of_row(buffer, _from_front(index, count), g), None, None]


@gradient("ListRow")
def _list_row(node: Applied, g: Any) -> Any:
    buffer, index = node.inputs
    return [_of_row(buffer, index, g), None]


@gradient("ListItem")
def _item(node: Applied, g: Any) -> Any:
    buffer, index = node.inputs[0], node.attrs["index"]
    if index < 0:
        index = index + _length(buffer)
    return [_of_row(buffer, index, g)]


@gradient("ListRows")
def _rows(node: Applied, g: Any) -> Any:
    buffer = node.inputs[0]
    # A count that is negative, or beyond the end, takes others than it says.
    return [_of_rows(buffer, numbers_from(_scalar(length(g, 0))), g), None]


@gradient("ListChoose")
def _choose(node: Applied, g: Any) -> Any:
    place, *values = node.inputs
    index = _from_front(place, len(values))
    found: list[Any] = [None]
    for number, value in enumerate(values):
        same = value.shape.is_fully_defined() and all(
            other.shape == value.shape for other in values
        )
        if not same:
            return NotImplemented
        found.append(where(index == number, g, zeros_of(value)))
    return found


@gradient("ListRepeat")
def _repeat(node: Applied, g: Any) -> Any:
    values, times = node.inputs
    if values.shape.rank is None:
        return NotImplemented
    dims = [shape_of(values)[axis] for axis in range(values.shape.rank)]
    return [reduce_sum(reshape(g, [maximum(times, 0), *dims]), 0), None]


@gradient("ListRotate")
def _rotate(node: Applied, g: Any) -> Any:
    return [run("ListRotate", g, -node.inputs[1]), None]


@gradient("ListSum")
def _sum(node: Applied, g: Any) -> Any:
    start, values = node.inputs
    return [cast(sum_to(g, start), start.dtype), broadcast_like(g, values)]
