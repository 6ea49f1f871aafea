"""Arrays of tensors, and lists in graphs, written in other ops: see `passes.lowering`.

A list is a buffer and the count of its elements. Texts have no order among tensors:
for these some ops stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.ops.apply import apply_one
from runtime.ops.arrays.creation import ones, zeros
from runtime.ops.arrays.dimensions import (
    at,
    both_known,
    joined,
    length,
    lengths,
    number,
    product,
    with_length,
)
from runtime.ops.arrays.gather import gather, where
from runtime.ops.arrays.joining import concat, stack
from runtime.ops.arrays.rearrange import roll, tile
from runtime.ops.arrays.scatter import scatter_nd, tensor_scatter_nd_update
from runtime.ops.arrays.sequences import range as numbers_from
from runtime.ops.arrays.shape import ensure_shape, expand_dims, identity, reshape, shape
from runtime.ops.arrays.sorting import argsort
from runtime.ops.convert import cast, constant
from runtime.ops.define import Slice
from runtime.ops.elementwise.arithmetic import equal, less, maximum, minimum, not_equal
from runtime.ops.elementwise.logical import logical_and, logical_not, logical_or
from runtime.ops.reduce.reductions import argmax, reduce_all, reduce_max, reduce_prod
from runtime.ops.reduce.scans import cumsum

# --- arrays of tensors ----------------------------------------------------------------

# A buffer of the shape (size, 0) has no elements yet. Where a graph cannot tell whether
# it has one of these, it keeps the op.


def _is_set(buffer: Any) -> bool:
    """Whether the buffer is known to have its elements."""
    rank = buffer.shape.rank
    return rank is not None and (rank != 2 or bool(buffer.shape[1]))


@decomposes("TensorArraySizeV3")
def _size(buffer: Any) -> Any:
    return cast(length(buffer, 0), dtypes.int32)


@decomposes("TensorArrayStackV3")
def _stack(buffer: Any, *, size: Any, element_shape: Any) -> Any:
    if not _is_set(buffer):
        return NotImplemented
    return identity(buffer) if size is None else at(buffer, 0, Slice(0, size, None))


@decomposes("TensorArrayGatherV3")
def _gather(buffer: Any, indices: Any, *, size: Any, element_shape: Any) -> Any:
    if not _is_set(buffer):
        return NotImplemented
    rows = buffer if size is None else at(buffer, 0, Slice(0, size, None))
    return gather(rows, indices)


@decomposes("TensorArrayUnstackV3")
def _unstack(buffer: Any, value: Any) -> Any:
    if value.shape.rank is None:
        return NotImplemented
    return identity(with_length(value, 0, length(buffer, 0)))


@decomposes("TensorArrayScatterV3")
def _scatter(buffer: Any, indices: Any, value: Any, *, dynamic: bool) -> Any:
    if not _is_set(buffer):
        return NotImplemented
    places = cast(indices, dtypes.int64)
    rows = buffer
    if dynamic:
        size = length(buffer, 0)
        nothing = constant([-1], dtypes.int64)
        more = maximum(reduce_max(concat([nothing, places], 0)) + 1 - size, 0)
        space = zeros([more, *lengths(buffer)[1:]], buffer.dtype)
        rows = concat([buffer, space], 0)
    return tensor_scatter_nd_update(rows, expand_dims(places, -1), value)


# --- elements of lists ----------------------------------------------------------------


@decomposes("ListItem")
def _item(buffer: Any, *, index: int) -> Any:
    return at(buffer, 0, index)


@decomposes("ListRow")
def _row(buffer: Any, index: Any) -> Any:
    return at(buffer, 0, reshape(index, ()))


@decomposes("ListRows")
def _rows(buffer: Any, count: Any) -> Any:
    return at(buffer, 0, Slice(None, reshape(count, ()), None))


@decomposes("ListTake")
def _take(values: Any, places: Any) -> Any:
    wide = cast(places, dtypes.int64)
    return gather(values, where(wide < 0, wide + length(values, 0), wide))


@decomposes("ListChoose")
def _choose(place: Any, *values: Any) -> Any:
    ranks = {value.shape.rank for value in values}
    if len(ranks) > 1 or None in ranks:
        return NotImplemented
    index = cast(reshape(place, ()), dtypes.int64)
    # The elements of all, one behind the other: the wanted ones, in their shape.
    counts = [product(lengths(value)) for value in values]
    starts = [sum(counts[:number]) for number in range(len(values))]
    flat = concat([reshape(value, [-1]) for value in values], 0)
    start, count = (
        gather(_vector(each), where(index < 0, index + len(values), index))
        for each in (starts, counts)
    )
    shapes = stack([shape(value, dtypes.int64) for value in values])
    part = at(flat, 0, Slice(start, start + count, None))
    return reshape(part, gather(shapes, where(index < 0, index + len(values), index)))


def _vector(items: Sequence[Any]) -> Any:
    return stack(
        [cast(constant(i) if both_known(i) else i, dtypes.int64) for i in items]
    )


@decomposes("ListPut")
def _put(buffer: Any, count: Any, place: Any, value: Any, *, keep: bool) -> Any:
    if keep:
        dims = value.shape
        if buffer.shape.rank is None or dims.rank is None:
            return NotImplemented
        if not dims.is_fully_defined() or buffer.shape[1:].as_list() != dims.as_list():
            return NotImplemented
        rows = concat([buffer, expand_dims(value, 0)], 0)
        own = at(rows, 0, minimum(number(place), length(buffer, 0)))
        value = where(place < count, own, value)
    # Appending to the elements before the place leaves those behind it.
    return apply_one("ListAppend", buffer, place, value)


# --- lists of elements ----------------------------------------------------------------


@decomposes("ListRepeat")
def _repeat(values: Any, times: Any) -> Any:
    if values.shape.rank is None:
        return NotImplemented
    count = maximum(cast(reshape(times, ()), dtypes.int64), 0)
    return tile(values, [count] + [1] * (values.shape.rank - 1))


@decomposes("ListRotate")
def _rotate(values: Any, times: Any) -> Any:
    return roll(values, reshape(times, ()), 0)


@decomposes("ListSum")
def _sum(start: Any, values: Any) -> Any:
    # A running sum adds from left to right, as Python does, but checks no ints.
    is_exact = values.spec.weak and values.dtype.is_integer
    if values.shape.rank is None or is_exact:
        return NotImplemented
    first = zeros(joined(lengths(values)[1:]), values.dtype)
    first = where(constant(True), cast(start, values.dtype), first)
    return at(cumsum(concat([expand_dims(first, 0), values], 0), 0), 0, -1)


@decomposes("ListEqual")
def _equal(one: Any, other: Any) -> Any:
    if None in (one.shape.rank, other.shape.rank):
        return NotImplemented
    if one.shape.rank != other.shape.rank:
        return constant(False)
    same = reduce_all(equal(shape(one), shape(other)))
    # If the shapes differ what is compared does not matter.
    first, second = reshape(one, [-1]), reshape(other, [-1])
    count = minimum(length(first, 0), length(second, 0))
    parts = (at(each, 0, Slice(0, count, None)) for each in (first, second))
    return logical_and(same, reduce_all(equal(*parts)))


@decomposes("ListPlaceOrEnd")
def _place_or_end(found: Any) -> Any:
    return argmax(concat([found, constant([True])], 0), 0, dtypes.int32)


@decomposes("ListWithout")
def _without(count: Any, places: Any) -> Any:
    size = cast(reshape(count, ()), dtypes.int64)
    gone = cast(reshape(places, [-1]), dtypes.int64)
    gone = expand_dims(where(gone < 0, gone + size, gone), 1)
    kept = ones(reshape(size, [1]), dtypes.bool)
    kept = tensor_scatter_nd_update(kept, gone, zeros(shape(gone)[:1], dtypes.bool))
    return _places(kept)


def _places(flags: Any) -> Any:
    """Where a vector of bools is true, as int32."""
    return cast(at(where(flags), 1, 0), dtypes.int32)


# --- order and equality of rows -------------------------------------------------------

# A row of columns is one element: a tuple, say.


def _sortable(column: Any) -> Any:
    return cast(column, dtypes.int8) if column.dtype.is_bool else column


def _sorted_places(columns: Sequence[Any], descending: bool = False) -> Any:
    """The places of the rows in order, by stable sorts: the last column first."""
    order = None
    direction = "DESCENDING" if descending else "ASCENDING"
    for column in reversed(columns):
        values = _sortable(column)
        values = values if order is None else gather(values, order)
        places = argsort(values, direction=direction)
        order = places if order is None else gather(order, places)
    return order


def _are_vectors(columns: Sequence[Any]) -> bool:
    """Whether columns are vectors of numbers."""
    return all(
        column.shape.rank == 1 and column.dtype.kind in "fiub" for column in columns
    )


def _groups(columns: Sequence[Any]) -> tuple[Any, Any, Any]:
    """The places in order, which of them begin a new value, and the number of each."""
    order = _sorted_places(columns)
    new: Any = zeros([0], dtypes.bool)
    for number_of, column in enumerate(columns):
        values = gather(column, order)
        differs = not_equal(
            at(values, 0, Slice(1, None, None)), at(values, 0, Slice(None, -1, None))
        )
        new = differs if not number_of else logical_or(new, differs)
    first = ones([minimum(length(order, 0), 1)], dtypes.bool)
    new = concat([first, new], 0)
    numbers = cumsum(cast(new, dtypes.int32)) - 1
    return order, new, numbers


@decomposes("ListOrder")
def _order(*columns: Any, descending: bool) -> Any:
    vectors: list[Any] = []
    for column in columns:
        if column.shape.rank is None or column.dtype.kind not in "fiub":
            return NotImplemented
        if column.shape.rank == 1:
            vectors.append(column)
            continue
        width = product(lengths(column)[1:])
        if not both_known(width):
            return NotImplemented
        flat = reshape(column, [length(column, 0), width])
        vectors += [at(flat, 1, place) for place in range(width)]
    if not vectors:
        return numbers_from(0, cast(length(columns[0], 0), dtypes.int32))
    return _sorted_places(vectors, descending)


@decomposes("ListFirstOnes")
def _first_ones(*columns: Any) -> Any:
    if not _are_vectors(columns):
        return NotImplemented
    order, new, _ = _groups(columns)
    return _places(
        scatter_nd(expand_dims(order, 1), cast(new, "int32"), shape(order)) > 0
    )


@decomposes("ListMembers")
def _members(*columns: Any, wanted: bool) -> Any:
    half = len(columns) // 2
    own, others = columns[:half], columns[half:]
    dtypes_fit = all(a.dtype is b.dtype for a, b in zip(own, others))
    if not _are_vectors(columns) or not dtypes_fit:
        return NotImplemented
    order, _, numbers = _groups([concat(pair, 0) for pair in zip(own, others)])
    count = cast(length(own[0], 0), dtypes.int32)
    is_other = cast(order >= count, dtypes.int32)
    found = scatter_nd(expand_dims(numbers, 1), is_other, shape(order))
    each = gather(found, numbers)
    flags = scatter_nd(expand_dims(order, 1), each, shape(order)) > 0
    flags = at(flags, 0, Slice(0, count, None))
    return _places(flags if wanted else logical_not(flags))


@decomposes("StandIn")
def _stand_in(*, shape: Any, dtype: Any) -> Any:
    return zeros([dim or 0 for dim in shape or ()], dtype)


@decomposes("StackDims")
def _stack_dims(tensor: Any) -> Any:
    return shape(tensor)


@decomposes("StackPush")
def _stack_push(
    buffer: Any, number: Any, begin: Any, tensor: Any, *, size: int | None
) -> Any:
    return apply_one("ListExtend", buffer, begin, reshape(tensor, [-1]))


@decomposes("StackRead")
def _stack_read(buffer: Any, number: Any, begin: Any, dims: Any, *, shape: Any) -> Any:
    elements = at(buffer, 0, Slice(begin, begin + reduce_prod(dims), None))
    return ensure_shape(reshape(elements, dims), shape)


@decomposes("ListLess")
def _less(*leaves: Any) -> Any:
    half = len(leaves) // 2
    differ, is_less = [], []
    for one, other in zip(leaves[:half], leaves[half:]):
        same = one.dtype is other.dtype and one.shape.is_fully_defined()
        if not same or one.shape != other.shape or one.dtype.kind not in "fiub":
            return NotImplemented
        first, second = (reshape(_sortable(each), [-1]) for each in (one, other))
        differ.append(not_equal(first, second))
        is_less.append(less(first, second))
    # The first difference decides; there is one behind the end.
    place = argmax(concat([*differ, constant([True])], 0), 0)
    return at(concat([*is_less, constant([False])], 0), 0, place)
