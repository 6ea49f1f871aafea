"""Reductions written in others: see `runtime.passes.lowering`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.ops.arrays.creation import fill, ones_like, zeros_like
from runtime.ops.arrays.dimensions import at, lengths, number, product
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.joining import concat, stack
from runtime.ops.arrays.rearrange import broadcast_to
from runtime.ops.arrays.scatter import (
    scatter_nd,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
)
from runtime.ops.arrays.sequences import range as numbers_from
from runtime.ops.arrays.shape import (
    ensure_shape,
    expand_dims,
    reshape,
    shape,
    size,
)
from runtime.ops.checks.assertions import Assert
from runtime.ops.convert import cast, constant
from runtime.ops.define import Slice
from runtime.ops.elementwise.arithmetic import equal, maximum, minimum, not_equal
from runtime.ops.elementwise.functions import conj, real, sqrt
from runtime.ops.elementwise.logical import (
    bitwise_and,
    left_shift,
    logical_and,
    right_shift,
)
from runtime.ops.reduce.reductions import (
    reduce_all,
    reduce_max,
    reduce_min,
    reduce_prod,
    reduce_sum,
)

# --- along axes -----------------------------------------------------------------------


@decomposes("Mean")
def _mean(x: Any, *, axis: Any, keepdims: bool, **attrs: Any) -> Any:
    if x.dtype.is_integer:
        return cast(_integer_mean(x, axis, keepdims), x.dtype)
    # Half precision would not hold long sums.
    wide = cast(x, dtypes.float32) if x.dtype is dtypes.float16 else x
    total = reduce_sum(wide, axis, keepdims)
    return cast(total / cast(_count(x, total), total.dtype), x.dtype)


def _count(x: Any, total: Any) -> Any:
    """How many elements each of a reduced tensor is made of."""
    return size(x, dtypes.int64) // maximum(size(total, dtypes.int64), 1)


def _integer_mean(x: Any, axis: Any, keepdims: bool) -> Any:
    """The mean rounded towards zero: as the kernel computes it."""
    wide = dtypes.uint64 if x.dtype is dtypes.uint64 else dtypes.int64
    x = cast(x, wide)
    shift, half = constant(32, wide), constant(2**32 - 1, wide)
    low = reduce_sum(bitwise_and(x, half), axis, keepdims)
    # The mean of no integers is 0.
    count = cast(maximum(_count(x, low), 1), wide)
    high = reduce_sum(right_shift(x, shift), axis, keepdims)
    low += left_shift(high % count, shift)
    mean = left_shift(high // count, shift) + low // count
    if wide is dtypes.uint64:
        return mean
    return mean + cast(logical_and(mean < 0, low % count != 0), wide)


@decomposes("EuclideanNorm")
def _euclidean_norm(x: Any, *, axis: Any, keepdims: bool) -> Any:
    total = reduce_sum(real(x * conj(x)), axis, keepdims)
    if x.dtype.is_integer:
        total = cast(total, dtypes.float64)
    return cast(sqrt(total), x.dtype)


@decomposes("FirstExtreme")
def _first_extreme(x: Any, *, better: Callable[[Any, Any], bool]) -> Any:
    is_largest = better is operator.gt
    nothing = constant(-math.inf if is_largest else math.inf, x.dtype)
    others = where(not_equal(x, x), nothing, x)
    found = reduce_max(others) if is_largest else reduce_min(others)
    first = x[0]
    return where(not_equal(first, first), first, found)


# --- over segments --------------------------------------------------------------------

# Rows with a negative id go to a row of their own, in front of the others, which is
# dropped at the end. An id that is too large is out of bounds there, too.


def _rows(data: Any, ids: Any) -> tuple[Any, Any]:
    """The rows that the ids are for, and the place of each among the results."""
    inner = lengths(data)[ids.shape.rank :]
    sizes = lengths(ids)
    rows = reshape(data, [product(sizes), *inner])
    groups = reshape(cast(ids, dtypes.int64), [product(sizes)])
    return rows, maximum(groups + 1, 0)


def _on_flat_rows(decomposition: Callable[..., Any]) -> Callable[..., Any]:
    """A decomposition that takes rows of any rank, as vectors."""

    def flat(data: Any, ids: Any, **attrs: Any) -> Any:
        if ids.shape.rank is None:
            return NotImplemented
        if data.shape.rank is not None:
            return decomposition(data, ids, **attrs)
        dims = shape(data, dtypes.int64)
        outer, inner = dims[: ids.shape.rank], dims[ids.shape.rank :]
        rows = reshape(data, concat([outer, reshape(reduce_prod(inner), [1])], 0))
        rows = ensure_shape(rows, [None] * (ids.shape.rank + 1))
        found = decomposition(rows, ids, **attrs)
        return reshape(found, concat([shape(found, dtypes.int64)[:1], inner], 0))

    return flat


def _unsorted(
    combine: Callable[[Any, Any, list[Any]], Any],
) -> Callable[..., Any]:
    """A decomposition; `combine` is given rows, places and the shape of all results."""

    def decomposition(data: Any, ids: Any, *, num_segments: Any) -> Any:
        rows, places = _rows(data, ids)
        total = [number(num_segments) + 1, *lengths(rows)[1:]]
        return at(combine(rows, places, total), 0, Slice(1, None, None))

    return decomposition


def _sum(rows: Any, places: Any, total: list[Any]) -> Any:
    return scatter_nd(expand_dims(places, 1), rows, total)


def _mean_of_rows(rows: Any, places: Any, total: list[Any]) -> Any:
    counts = scatter_nd(expand_dims(places, 1), ones_like(places), total[:1])
    counts = cast(maximum(counts, 1), rows.dtype)
    for _ in total[1:]:
        counts = expand_dims(counts, -1)
    return _sum(rows, places, total) / counts


def _prod(rows: Any, places: Any, total: list[Any]) -> Any:
    """Each product is one of all rows, of which the others count as ones."""
    count = total[0]
    # Refuses ids that are too large.
    checked = scatter_nd(expand_dims(places, 1), zeros_like(places), [count])
    groups = numbers_from(0, count, dtype=dtypes.int64) + checked
    own = equal(expand_dims(groups, 1), places)
    for _ in total[1:]:
        own = expand_dims(own, -1)
    return reduce_prod(where(own, rows, constant(1, rows.dtype)), 1)


def _largest(rows: Any, places: Any, total: list[Any]) -> Any:
    start = fill(total, constant(rows.dtype.min, rows.dtype))
    return tensor_scatter_nd_max(start, expand_dims(places, 1), rows)


def _smallest(rows: Any, places: Any, total: list[Any]) -> Any:
    start = fill(total, constant(rows.dtype.max, rows.dtype))
    return tensor_scatter_nd_min(start, expand_dims(places, 1), rows)


def _sorted(combine: Callable[[Any, Any, list[Any]], Any]) -> Callable[..., Any]:
    """As `_unsorted`, for ids in order; groups without rows are 0."""
    unsorted = _unsorted(combine)

    def decomposition(data: Any, ids: Any) -> Any:
        groups = cast(ids, dtypes.int64)
        before = concat([constant([0], dtypes.int64), groups], 0)
        ordered = reduce_all(at(before, 0, Slice(None, -1, None)) <= groups)
        Assert(ordered, ["segment_ids must be sorted and not negative"])
        count = reduce_max(concat([constant([-1], dtypes.int64), groups], 0)) + 1
        found = unsorted(data, groups, num_segments=count)
        used = scatter_nd(expand_dims(groups, 1), ones_like(groups), [count]) > 0
        for _ in range(data.shape.rank - 1):
            used = expand_dims(used, -1)
        return where(used, found, constant(0, data.dtype))

    return decomposition


for _name, _combine in {
    "Sum": _sum,
    "Mean": _mean_of_rows,
    "Prod": _prod,
    "Max": _largest,
    "Min": _smallest,
}.items():
    decomposes(f"UnsortedSegment{_name}")(_on_flat_rows(_unsorted(_combine)))
    decomposes(f"Segment{_name}")(_on_flat_rows(_sorted(_combine)))


# --- counts ---------------------------------------------------------------------------


@decomposes("Bincount")
def _bincount(values: Any, weights: Any, *, minlength: Any, maxlength: Any) -> Any:
    flat = reshape(cast(values, dtypes.int64), [-1])
    nothing = constant([-1], dtypes.int64)
    count = maximum(reduce_max(concat([nothing, flat], 0)) + 1, number(minlength))
    each = reshape(broadcast_to(weights, shape(values)), [-1])
    if maxlength is None:
        return scatter_nd(expand_dims(flat, 1), each, [count])
    # What is too large is counted together, and dropped.
    count = minimum(count, number(maxlength))
    found = scatter_nd(expand_dims(minimum(flat, count), 1), each, [count + 1])
    return at(found, 0, Slice(None, -1, None))


@decomposes("ConfusionMatrix")
def _confusion(labels: Any, predictions: Any, weights: Any, *, num_classes: Any) -> Any:
    pairs = stack([labels, predictions], -1)
    each = broadcast_to(weights, shape(labels))
    if num_classes is None:
        nothing = constant([-1], pairs.dtype)
        all_classes = concat([nothing, reshape(pairs, [-1])], 0)
        num_classes = reduce_max(all_classes) + 1
    count = number(num_classes)
    return scatter_nd(pairs, each, [count, count])
