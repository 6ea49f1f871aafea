"""Ops that make, move and index tensors written in others: see `passes.lowering`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.graph.record import decomposes
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops.arrays.creation import zeros
from runtime.ops.arrays.dimensions import (
    at,
    both_known,
    checked_part,
    joined,
    length,
    lengths,
    number,
    numbers,
    with_length,
    with_rank,
)
from runtime.ops.arrays.gather import boolean_mask, gather, where
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.rearrange import broadcast_to, pad, repeat, reverse
from runtime.ops.arrays.scatter import tensor_scatter_nd_add
from runtime.ops.arrays.sequences import range as numbers_from
from runtime.ops.arrays.shape import ensure_shape, expand_dims, reshape, shape
from runtime.ops.arrays.sorting import searchsorted
from runtime.ops.convert import cast, constant
from runtime.ops.define import Slice
from runtime.ops.elementwise.arithmetic import equal, floormod, maximum, minimum
from runtime.ops.elementwise.logical import logical_and, logical_or
from runtime.ops.reduce.reductions import reduce_any, reduce_prod
from runtime.ops.reduce.scans import cumsum
from runtime.ops.shapes import normal_axis

# --- tensors of one value -------------------------------------------------------------


@decomposes("Fill")
def _fill(value: Any, *, dims: Any) -> Any:
    return broadcast_to(reshape(value, ()), dims)


@decomposes("Zeros")
def _zeros(*, shape: Any, dtype: Any) -> Any:
    zero = np.array(b"", object) if dtype.kind == "O" else np.zeros((), dtype.np_dtype)
    return broadcast_to(constant(zero), shape)


@decomposes("Ones")
def _ones(*, shape: Any, dtype: Any) -> Any:
    return broadcast_to(constant(np.ones((), dtype.np_dtype)), shape)


@decomposes("Eye")
def _eye(*, rows: Any, columns: Any, batch: Any, dtype: Any) -> Any:
    places = expand_dims(numbers_from(0, number(rows), dtype=dtypes.int64), 1)
    matrix = equal(places, numbers_from(0, number(columns), dtype=dtypes.int64))
    return broadcast_to(cast(matrix, dtype), joined(batch, (rows, columns)))


# --- axes -----------------------------------------------------------------------------


@decomposes("ExpandDims")
def _expand_dims(x: Any, *, axis: Any) -> Any:
    return at(x, axis, None) if both_known(axis) else NotImplemented


@decomposes("Squeeze")
def _squeeze(x: Any, *, axis: Any) -> Any:
    if axis is None and not x.shape.is_fully_defined():
        sizes = shape(x)
        return reshape(x, boolean_mask(sizes, sizes != 1))
    if x.shape.rank is None or isinstance(axis, Tensor):
        return NotImplemented
    if axis is None:
        return reshape(x, [size for size in x.shape if size != 1])
    axes = [axis] if not isinstance(axis, tuple) else list(axis)
    if not both_known(*axes):
        return NotImplemented
    gone = {normal_axis(each, x.shape.rank) for each in axes}
    sizes = lengths(x)
    return reshape(x, [size for axis, size in enumerate(sizes) if axis not in gone])


@decomposes("Size")
def _size(x: Any, *, out_type: Any) -> Any:
    return reduce_prod(shape(x, out_type))


@decomposes("Rank")
def _rank(x: Any, *, out_type: Any) -> Any:
    return shape(shape(x), out_type)[0]


# --- joining and cutting --------------------------------------------------------------


@decomposes("Pack")
def _pack(*values: Any, axis: int) -> Any:
    return concat([at(value, axis, None) for value in values], axis)


@decomposes("Unpack")
def _unpack(value: Any, *, num: int, axis: int) -> Any:
    if value.shape.rank is None:
        return NotImplemented
    value = with_length(value, axis, num)
    return tuple(at(value, axis, place) for place in range(num))


@decomposes("Split")
def _split(value: Any, *, num_split: int, axis: Any) -> Any:
    if value.shape.rank is None or not both_known(axis):
        return NotImplemented
    size = length(value, axis) // num_split
    return _cut(value, [size] * num_split, axis)


@decomposes("SplitV")
def _split_v(value: Any, *, size_splits: Any, num: int, axis: Any) -> Any:
    if value.shape.rank is None or not both_known(axis):
        return NotImplemented
    sizes = numbers(size_splits, num)
    if both_known(*sizes) and -1 not in sizes:
        return _cut(value, sizes, axis)
    # One of the sizes may be -1: what the others leave.
    given = [max(size, 0) if both_known(size) else maximum(size, 0) for size in sizes]
    rest = length(value, axis) - sum(given)
    for place, size in enumerate(sizes):
        if not both_known(size):
            given[place] = where(size == -1, rest, size)
        elif size == -1:
            given[place] = rest
    return _cut(value, given, axis)


def _cut(value: Any, sizes: Sequence[Any], axis: int) -> tuple[Any, ...]:
    """Parts of these sizes, which must add up to the length of the axis."""
    value = with_length(value, axis, sum(sizes))
    start: Any = 0
    parts = []
    for size in sizes:
        parts.append(checked_part(value, axis, start, size))
        start = start + size
    return tuple(parts)


@decomposes("Slice")
def _slice(x: Any, *, begin: Any, size: Any) -> Any:
    count = x.shape.rank
    if count is None:
        count = next((len(v) for v in (begin, size) if isinstance(v, tuple)), None)
        if count is None:
            return NotImplemented
        x = ensure_shape(x, [None] * count)
    found = x
    for axis, (start, extent) in enumerate(
        zip(numbers(begin, count), numbers(size, count))
    ):
        rest = length(x, axis) - start
        if not both_known(extent):
            extent = where(extent == -1, rest, extent)
        elif extent == -1:
            extent = rest
        found = checked_part(found, axis, start, extent)
    return found


# --- repeating and moving -------------------------------------------------------------


@decomposes("Tile")
def _tile(x: Any, *, multiples: Any) -> Any:
    x = with_rank(x, multiples)
    if x.shape.rank is None:
        return NotImplemented
    counts, sizes = numbers(multiples, x.shape.rank), lengths(x)
    apart = [item for size in sizes for item in (1, size)]
    pairs = [item for pair in zip(counts, sizes) for item in pair]
    return reshape(
        broadcast_to(reshape(x, apart), pairs),
        [count * size for count, size in zip(counts, sizes)],
    )


@decomposes("Repeat")
def _repeat(x: Any, *, repeats: Any, axis: int | None) -> Any:
    if axis is None:
        return repeat(reshape(x, [-1]), repeats, 0)
    if isinstance(repeats, int) and repeats >= 0 and x.shape.rank is not None:
        return _repeat_equally(x, repeats, normal_axis(axis, x.shape.rank))
    counts = _counts(repeats)
    if counts.shape.rank is None:
        return NotImplemented
    each = broadcast_to(counts, [length(x, axis)])
    ends = cumsum(each)
    # A count is negative, or the sum wraps around: a range to -1 is refused.
    is_wrong = reduce_any(minimum(each, ends) < 0)
    total = where(is_wrong, constant(-1, dtypes.int64), _last(ends))
    places = numbers_from(0, total, dtype=dtypes.int64)
    return gather(x, searchsorted(ends, places, "right"), axis=axis)


def _repeat_equally(x: Any, count: int, axis: int) -> Any:
    """Each slice along an axis `count` times."""
    before, (size, *after) = lengths(x)[:axis], lengths(x)[axis:]
    pairs = broadcast_to(at(x, axis + 1, None), [*before, size, count, *after])
    return reshape(pairs, [*before, size * count, *after])


def _counts(repeats: Any) -> Any:
    """The counts of a repetition as an int64 tensor."""
    if isinstance(repeats, tuple):
        return cast([number(item) for item in repeats], dtypes.int64)
    return cast(repeats, dtypes.int64)


def _last(ends: Any) -> Any:
    """The last element of a vector; 0 where it is empty."""
    return concat([constant([0], dtypes.int64), ends], 0)[-1]


@decomposes("Roll")
def _roll(x: Any, *, shift: Any, axis: Any) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not both_known(*axes):
        return NotImplemented
    if isinstance(shift, tuple):
        shifts = [number(each) for each in shift]
    elif isinstance(shift, Tensor) and shift.shape.rank != 0:
        return NotImplemented
    else:
        shifts = [number(shift)]
    count = max(len(axes), len(shifts))
    for place, steps in zip(
        axes * (count // len(axes)), shifts * (count // len(shifts))
    ):
        size = length(x, place)
        if both_known(size):
            first = size - steps % max(size, 1)
        else:
            first = size - floormod(steps, maximum(size, 1))
        parts = (
            at(x, place, Slice(first, None, None)),
            at(x, place, Slice(0, first, None)),
        )
        x = concat(parts, place)
    return x


@decomposes("MirrorPad")
def _mirror_pad(x: Any, *, paddings: Any, mode: str) -> Any:
    x = with_rank(x, paddings)
    if x.shape.rank is None:
        return NotImplemented
    if isinstance(paddings, Tensor):
        paddings = ensure_shape(paddings, [x.shape.rank, 2])
    edge = 1 if mode == "REFLECT" else 0
    for axis in range(x.shape.rank):
        before, after = numbers(paddings[axis], 2)
        end = length(x, axis) - edge
        front = reverse(checked_part(x, axis, edge, before), [axis])
        back = reverse(checked_part(x, axis, end - after, after), [axis])
        x = concat([front, x, back], axis)
    return x


# --- diagonals and bands --------------------------------------------------------------


def _above(rows: Any, columns: Any) -> Any:
    """How far each place of a matrix lies above the main diagonal."""
    places = numbers_from(0, rows, dtype=dtypes.int64)
    return numbers_from(0, columns, dtype=dtypes.int64) - expand_dims(places, 1)


@decomposes("MatrixBandPart")
def _band_part(x: Any, *, lower: Any, upper: Any) -> Any:
    above = _above(length(x, -2), length(x, -1))
    inside: Any = constant(True)
    for limit, distance in ((number(lower), -above), (number(upper), above)):
        within = distance <= limit
        if not both_known(limit):
            inside = logical_and(inside, logical_or(limit < 0, within))
        elif limit >= 0:
            inside = logical_and(inside, within)
    return where(inside, x, _zero_of(x))


def _zero_of(x: Any) -> Any:
    return zeros((), x.dtype)


@decomposes("MatrixDiagV3")
def _diag(diagonal: Any, padding: Any, *, k: int) -> Any:
    if diagonal.shape.rank is None:
        return NotImplemented
    size = length(diagonal, -1) + abs(k)
    column = _column(diagonal, max(-k, 0), max(k, 0))
    return where(_above(size, size) == k, column, padding)


@decomposes("MatrixDiagPartV3")
def _diag_part(x: Any, *, k: int) -> Any:
    if x.shape.rank is None:
        return NotImplemented
    *batch, rows, columns = lengths(x)
    count = _diagonal_length(rows, columns, k)
    flat = reshape(x, [*batch, rows * columns])
    first, step = (k if k > 0 else -k * columns), columns + 1
    found = at(flat, -1, Slice(first, first + count * step, step))
    return broadcast_to(found, [*batch, count])


def _diagonal_length(rows: Any, columns: Any, k: int) -> Any:
    high, wide = rows + min(k, 0), columns - max(k, 0)
    if both_known(high, wide):
        return max(min(high, wide), 0)
    return minimum(high, wide)


@decomposes("MatrixSetDiagV3")
def _set_diag(x: Any, diagonal: Any, *, k: int) -> Any:
    if x.shape.rank is None:
        return NotImplemented
    *batch, rows, columns = lengths(x)
    count = _diagonal_length(rows, columns, k)
    diagonal = reshape(diagonal, [*batch, count])
    before = max(-k, 0)
    column = _column(diagonal, before, rows - count - before)
    return where(_above(rows, columns) == k, column, x)


def _column(diagonal: Any, before: Any, after: Any) -> Any:
    """The vectors, lengthened by zeros, as columns."""
    widths = [(0, 0)] * (diagonal.shape.rank - 1) + [(before, after)]
    return at(pad(diagonal, widths), -1, None)


# --- scatter --------------------------------------------------------------------------


@decomposes("TensorScatterSub")
def _scatter_sub(tensor: Any, indices: Any, updates: Any) -> Any:
    unsigned = updates.dtype.kind == "u"
    return tensor_scatter_nd_add(
        tensor, indices, _zero_of(updates) - updates if unsigned else -updates
    )


# --- numbers in order -----------------------------------------------------------------


def _on_axis(values: Any, axis: int, rank: int | None) -> Any:
    """A vector as a tensor along one axis, to broadcast."""
    behind = ~axis if axis < 0 else -1 if rank is None else rank - 1 - axis
    return NotImplemented if behind < 0 else reshape(values, [-1] + [1] * behind)


@decomposes("OneHot")
def _one_hot(indices: Any, on: Any, off: Any, *, depth: Any, axis: int) -> Any:
    rank = indices.shape.rank
    places = numbers_from(0, number(depth), dtype=dtypes.int64)
    along = _on_axis(places, axis, None if rank is None else rank + 1)
    if along is NotImplemented:
        return NotImplemented
    # Unsigned numbers that become negative name no place either.
    hot = at(cast(indices, dtypes.int64), axis, None) == along
    return where(hot, on, off)


@decomposes("LinSpace")
def _linspace(start: Any, stop: Any, *, num: Any, axis: int) -> Any:
    # There must be at least one: a range from 1 to less is refused.
    others = numbers_from(1, number(num), dtype=dtypes.int64)
    places = concat([constant([0], dtypes.int64), others], 0)
    rank = None
    if start.shape.rank is not None and stop.shape.rank is not None:
        rank = max(start.shape.rank, stop.shape.rank) + 1
    along = _on_axis(places, axis, rank)
    if along is NotImplemented:
        return NotImplemented
    # Both ends in the shape that they broadcast to.
    low, high = (at(where(end, start, stop), axis, None) for end in (True, False))
    last = number(num) - 1
    parts = cast(maximum(last, 1), start.dtype)
    value = low + cast(along, start.dtype) * ((high - low) / parts)
    return where(logical_and(equal(along, last), along > 0), high, value)
