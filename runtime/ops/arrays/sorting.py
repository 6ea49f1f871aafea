"""Order among elements: sort, argsort, top_k, unique, searchsorted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import Export, decomposes
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument, together
from runtime.ops.arrays.dimensions import length, number
from runtime.ops.convert import as_tensor, cast
from runtime.ops.derivatives import Applied, gradient, without_gradient
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, known_int, normal_axis, show, spec

Array = np.ndarray[Any, Any]

# --- sort -----------------------------------------------------------------------------


def _descending_places(x: Array, axis: int) -> Array:
    """What sorts `x` from large to small, with equal elements in their order."""
    last = x.shape[axis] - 1
    flipped = np.argsort(np.flip(x, axis), axis, kind="stable")
    places: Array = last - np.flip(flipped, axis)
    return places


def _sort(x: Array, *, axis: int, descending: bool) -> Array:
    ordered = np.sort(x, axis)
    return np.flip(ordered, axis) if descending else ordered


def _argsort(x: Array, *, axis: int, descending: bool) -> Array:
    # NumPy takes a scalar for an array of one axis.
    axis = normal_axis(axis, x.ndim)
    if descending:
        places = _descending_places(x, axis)
    else:
        places = np.argsort(x, axis, kind="stable")
    return places.astype(np.int32)


def _infer_sort(x: TensorSpec, *, axis: int, descending: bool) -> TensorSpec:
    dims = dims_of(x)
    if dims is not None:
        normal_axis(axis, len(dims))
    return spec(dims, x.dtype)


def _infer_argsort(x: TensorSpec, *, axis: int, descending: bool) -> TensorSpec:
    return spec(dims_of(_infer_sort(x, axis=axis, descending=descending)), dtypes.int32)


define("Sort", _sort, _infer_sort, takes="fiub", family="order")
define("ArgSort", _argsort, _infer_argsort, takes="fiub", family="order")


def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Any:
    """The elements in order along an axis, ``ASCENDING`` or ``DESCENDING``.

    >>> print(sort([3, 1, 2], direction="DESCENDING"))
    tf.Tensor([3 2 1], shape=(3,), dtype=int32)
    """
    down = _is_descending(direction)
    return run("Sort", as_tensor(values), axis=axis, descending=down, name=name)


@gradient("Sort")
def _sort_gradient(node: Applied, g: Any) -> Any:
    x, axis = node.inputs[0], node.attrs["axis"]
    direction = "DESCENDING" if node.attrs["descending"] else "ASCENDING"
    order = argsort(x, axis, direction, stable=True)
    back = argsort(order, axis, stable=True)
    rank = x.shape.rank
    if rank is None and axis == -1:
        dims = shape_of(x)
        rows = [tf.reduce_prod(dims[:-1]), dims[-1]]
        moved = tf.gather(tf.reshape(g, rows), tf.reshape(back, rows), batch_dims=1)
        return [tf.reshape(moved, dims)]
    if rank is None:
        return NotImplemented
    # What is sorted goes to the end and back again.
    perm = list(range(rank))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    moved = tf.gather(
        tf.transpose(g, perm), tf.transpose(back, perm), batch_dims=rank - 1
    )
    return [tf.transpose(moved, perm)]


def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """The int32 indices that sort the elements along an axis; always stable.

    >>> print(argsort([3, 1, 2]))
    tf.Tensor([1 2 0], shape=(3,), dtype=int32)
    """
    down = _is_descending(direction)
    return run("ArgSort", as_tensor(values), axis=axis, descending=down, name=name)


def _is_descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"direction must be 'ASCENDING' or 'DESCENDING', not {direction!r}"
        )
    return direction == "DESCENDING"


# --- the largest ----------------------------------------------------------------------


class TopKV2(NamedTuple):
    """The largest elements of each row and where they are."""

    values: Any
    indices: Any


def _infer_top_k(
    x: TensorSpec, *, k: Any, sorted: bool, index_type: DType
) -> tuple[TensorSpec, TensorSpec]:
    dims, count = dims_of(x), known_int(k)
    if dims is None:
        return spec(None, x.dtype), spec(None, index_type)
    if not dims:
        raise InvalidArgumentError("the input must have at least one axis")
    if count is not None and (count < 0 or (dims[-1] is not None and count > dims[-1])):
        raise InvalidArgumentError(
            f"k = {count} elements cannot be picked from the last axis of {show(dims)}"
        )
    found = (*dims[:-1], count)
    return spec(found, x.dtype), spec(found, index_type)


def _top_k(x: Array, *, k: int, sorted: bool, index_type: DType) -> tuple[Array, Array]:
    if not x.ndim or not 0 <= k <= x.shape[-1]:
        raise ValueError
    places = _largest(x, k) if x.size > _MANY * max(k, 1) else None
    if places is None:
        places = _descending_places(x, -1)[..., :k]
    return np.take_along_axis(x, places, -1), places.astype(index_type.np_dtype)


#: From so many elements for each of the largest on it is worth while not to sort all.
_MANY = 32


def _largest(x: Array, k: int) -> Array | None:
    """The places of the `k` largest of each row, in order; None to sort all."""
    rows = x.reshape(-1, x.shape[-1])
    if not k or (x.dtype.kind == "f" and np.isnan(rows.max(-1)).any()):
        return None
    last = x.shape[-1] - k
    least = np.partition(rows, last, -1)[:, last, None]
    chosen = rows > least
    same = rows == least
    # Of those that are equal to the least, the first ones.
    wanted = k - chosen.sum(-1, keepdims=True)
    if (same.sum(-1, keepdims=True) == wanted).all():
        chosen |= same
    else:
        chosen |= same & (np.cumsum(same, -1) <= wanted)
    places = np.nonzero(chosen)[1].reshape(-1, k)
    order = _descending_places(np.take_along_axis(rows, places, -1), -1)
    return np.take_along_axis(places, order, -1).reshape(*x.shape[:-1], k)


define(
    "TopKV2",
    _top_k,
    _infer_top_k,
    takes="fiu",
    family="order",
    export=Export(inputs=((-1, "k", "k"),)),
)


def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The `k` largest elements along the last axis, from large to small, and their
    indices; of equal elements the first come first.

    >>> values, indices = top_k([1, 5, 3], k=2)
    >>> print(values.numpy(), indices.numpy())
    [5 3] [1 2]
    """
    values, indices = run(
        "TopKV2",
        as_tensor(input),
        k=int_argument(k, "k"),
        sorted=sorted,
        index_type=as_dtype(index_type),
        name=name,
    )
    return TopKV2(values, indices)


@gradient("TopKV2")
def _top_k_gradient(node: Applied, g: Any, _: Any) -> Any:
    x, indices = node.inputs[0], node.outputs[1]
    width = length(x, -1)
    rows = tf.reshape(g, [-1, length(indices, -1)])
    picked = tf.reshape(indices, [-1, length(indices, -1)])
    count = length(rows, 0)
    lines = tf.expand_dims(tf.range(count, dtype=picked.dtype), 1) + 0 * picked
    flat = tf.scatter_nd(tf.stack([lines, picked], -1), rows, [count, width])
    return [tf.reshape(flat, shape_of(x))]


def _infer_in_top_k(
    targets: TensorSpec, predictions: TensorSpec, *, k: Any
) -> TensorSpec:
    if predictions.rank not in (2, None) or targets.rank not in (1, None):
        raise InvalidArgumentError(
            "targets must be a vector and predictions a matrix, not of the shapes "
            f"{targets.shape} and {predictions.shape}"
        )
    return spec(dims_of(targets) or (None,), dtypes.bool)


def _in_top_k(targets: Array, predictions: Array, *, k: int) -> Array:
    if targets.ndim != 1 or predictions.ndim != 2:
        raise ValueError
    rows, classes = predictions.shape
    valid = (targets >= 0) & (targets < classes)
    own = predictions[np.arange(rows), np.where(valid, targets, 0)]
    larger = (predictions > own[:, None]).sum(1)
    found: Array = valid & np.isfinite(own) & (larger < k)
    return found


define("InTopKV2", _in_top_k, _infer_in_top_k, takes="iu", family="order")


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Any:
    """For each row of predictions whether the target is among its `k` largest."""
    return run(
        "InTopKV2",
        as_tensor(targets),
        as_tensor(predictions),
        k=int_argument(k, "k"),
        name=name,
    )


@decomposes("InTopKV2")
def _in_top_k_decomposed(targets: Any, predictions: Any, *, k: Any) -> Any:
    classes = length(predictions, -1)
    places = cast(targets, dtypes.int64)
    valid = tf.logical_and(places >= 0, places < classes)
    rows = tf.range(0, length(predictions, 0), dtype=dtypes.int64)
    picked = tf.stack([rows, tf.where(valid, places, 0)], 1)
    own = tf.gather_nd(predictions, picked)
    larger = predictions > tf.expand_dims(own, 1)
    count = tf.reduce_sum(cast(larger, dtypes.int64), 1)
    return tf.logical_and(tf.logical_and(valid, tf.is_finite(own)), count < number(k))


# --- unique ---------------------------------------------------------------------------


class Unique(NamedTuple):
    """The different elements, and for each element the place of its like."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """As `Unique`, and how often each occurs."""

    y: Any
    idx: Any
    count: Any


def _infer_unique(x: TensorSpec, *, out_idx: DType) -> tuple[TensorSpec, ...]:
    dims = dims_of(x)
    if dims is not None and len(dims) != 1:
        raise InvalidArgumentError(f"the input must be a vector, not {show(dims)}")
    length = None if dims is None else dims[0]
    return spec((None,), x.dtype), spec((length,), out_idx), spec((None,), out_idx)


def _unique(x: Array, *, out_idx: DType) -> tuple[Array, Array, Array]:
    if x.ndim != 1:
        raise ValueError
    first, inverse, counts = _classes(x)
    # They are sorted; here they stand in the order in which they occur.
    begins = np.zeros(len(x), bool)
    begins[first] = True
    place = (np.cumsum(begins) - 1)[first]
    numpy_type = out_idx.np_dtype
    ordered = np.empty(len(first), numpy_type)
    ordered[place] = counts
    return x[begins], place[inverse].astype(numpy_type), ordered


def _classes(x: Array) -> tuple[Array, Array, Array]:
    """For the different elements where each occurs first and how often; and for each
    element which it is of these.
    """
    if x.dtype.kind not in "iu" or not x.size:
        _, first, inverse, counts = np.unique(
            x, return_index=True, return_inverse=True, return_counts=True
        )
        return first, inverse.reshape(-1), counts
    low, high = int(x.min()), int(x.max())
    if high - low > 2 * x.size or x.dtype == np.uint64:
        order = np.argsort(x, kind="stable")
        ordered = x[order]
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        inverse = np.empty(len(x), np.intp)
        inverse[order] = np.cumsum(new) - 1
        starts = np.flatnonzero(new)
        return order[starts], inverse, np.diff(starts, append=len(x))
    # Few different numbers are counted, and need not be sorted.
    numbers = x.astype(np.int64) - low
    counts = np.bincount(numbers)
    kept = np.flatnonzero(counts)
    which = np.zeros(len(counts), np.intp)
    which[kept] = np.arange(len(kept))
    first = np.empty(len(counts), np.intp)
    first[numbers[::-1]] = np.arange(len(x))[::-1]
    return first[kept], which[numbers], counts[kept]


define("UniqueWithCounts", _unique, _infer_unique, family="order")


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """The different elements of a vector in the order of their first occurrence.

    >>> y, idx = unique([7, 5, 7])
    >>> print(y.numpy(), idx.numpy())
    [7 5] [0 1 0]
    """
    return Unique(*unique_with_counts(x, out_idx, name)[:2])


def unique_with_counts(
    x: Any, out_idx: Any = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """As `unique`, and how often each element occurs."""
    found = run("UniqueWithCounts", as_tensor(x), out_idx=as_dtype(out_idx), name=name)
    return UniqueWithCounts(*found)


# --- searchsorted ---------------------------------------------------------------------


def _infer_searchsorted(
    rows: TensorSpec, values: TensorSpec, *, side: str, out_type: DType
) -> TensorSpec:
    a, b = dims_of(rows), dims_of(values)
    if a is not None and b is not None:
        same = len(a) == len(b) and all(
            m == n or m is None or n is None for m, n in zip(a[:-1], b[:-1])
        )
        if not same or not a:
            raise InvalidArgumentError(
                f"the sorted rows {show(a)} and the values {show(b)} must have the "
                "same shape but for the last axis"
            )
    return spec(b, out_type)


def _searchsorted(rows: Array, values: Array, *, side: Any, out_type: DType) -> Array:
    if not 0 < rows.ndim == values.ndim or rows.shape[:-1] != values.shape[:-1]:
        raise ValueError
    if rows.ndim == 1:
        return np.searchsorted(rows, values, side).astype(out_type.np_dtype)
    if values.shape[-1] > _FEW:
        result = np.empty(values.shape, out_type.np_dtype)
        for place in np.ndindex(rows.shape[:-1]):
            result[place] = np.searchsorted(rows[place], values[place], side)
        return result
    return _bisected(rows, values, side).astype(out_type.np_dtype)


#: Up to so many values for each row all rows are searched at once.
_FEW = 32


def _bisected(rows: Array, values: Array, side: str) -> Array:
    """The places of the values, by halving all the intervals in each step."""
    low = np.zeros(values.shape, np.intp)
    high = np.full(values.shape, rows.shape[-1], np.intp)
    for _ in range(rows.shape[-1].bit_length()):
        middle = (low + high) >> 1
        found = np.take_along_axis(rows, np.minimum(middle, rows.shape[-1] - 1), -1)
        # NaNs come last, as where NumPy sorts.
        if side == "left":
            right = (found < values) | ((found == found) & (values != values))
        else:
            right = ~(values < found) & ((found == found) | (values != values))
        right &= low < high
        low = np.where(right, middle + 1, low)
        high = np.where(right, high, middle)
    return low


define(
    "SearchSorted",
    _searchsorted,
    _infer_searchsorted,
    takes="fiu",
    family="order",
    export=Export(
        lambda attrs: "LowerBound" if attrs["side"] == "left" else "UpperBound"
    ),
)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Where each value would be put into its sorted row (the last axis): to the
    ``left`` or the ``right`` of elements equal to it.

    >>> print(searchsorted([1, 3, 5], [0, 3, 9]))
    tf.Tensor([0 1 3], shape=(3,), dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', not {side!r}")
    rows, wanted = together((sorted_sequence, values), "SearchSorted", name)
    found = as_dtype(out_type)
    return run("SearchSorted", rows, wanted, side=side, out_type=found, name=name)


without_gradient("ArgSort", "SearchSorted")
