"""Reductions over groups of rows, and counts of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import DTypeMismatchError, InvalidArgumentError
from runtime.core.graph.record import Export, decomposes
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype, of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument
from runtime.ops.arrays.dimensions import at, lengths, number, product_of
from runtime.ops.convert import as_tensor, cast, constant, convert_to_tensor
from runtime.ops.kernels.accumulate import accumulate
from runtime.ops.operands import Slice, define, run
from runtime.ops.shapes import dims_of, known_int, merge_dims, show, spec

Array = np.ndarray[Any, Any]
Combine = Callable[[Any, Any, list[Any]], Any]

# --- rules ----------------------------------------------------------------------------


def _infer_unsorted(
    data: TensorSpec, ids: TensorSpec, *, num_segments: Any
) -> TensorSpec:
    if not ids.dtype.is_integer:
        raise DTypeMismatchError(f"segment_ids must be integers, not {ids.dtype.name}")
    dims, groups = dims_of(data), dims_of(ids)
    if dims is None or groups is None:
        return spec(None, data.dtype)
    try:
        merge_dims(dims[: len(groups)], groups)
    except ValueError:
        raise InvalidArgumentError(
            f"segment_ids {show(groups)} must have the shape of the first axes of the "
            f"data {show(dims)}"
        ) from None
    return spec((known_int(num_segments), *dims[len(groups) :]), data.dtype)


def _infer_sorted(data: TensorSpec, ids: TensorSpec) -> TensorSpec:
    if ids.shape.rank not in (1, None):
        raise InvalidArgumentError(f"segment_ids must be a vector, not {ids.shape}")
    return _infer_unsorted(data, ids, num_segments=None)


def _lowest(dtype: DType) -> Any:
    return dtype.min


def _highest(dtype: DType) -> Any:
    return dtype.max


def _segments(
    name: str,
    ufunc: Any,
    start: Callable[[DType], Any],
    takes: str,
    combine: Combine,
    mean: bool = False,
) -> None:
    """Define the sorted and the unsorted form of a reduction over groups."""

    def unsorted(data: Array, ids: Array, *, num_segments: int) -> Array:
        if data.shape[: ids.ndim] != ids.shape:
            raise ValueError
        if ids.size and ids.max() >= num_segments:
            raise InvalidArgumentError(
                f"segment_ids must be less than num_segments = {num_segments}, not "
                f"{ids.max()}"
            )
        rows = data.reshape(ids.size, *data.shape[ids.ndim :])
        groups = ids.reshape(-1)
        if ids.size and ids.min() < 0:
            used = groups >= 0
            groups, rows = groups[used], rows[used]
        shape = (num_segments, *rows.shape[1:])
        result = np.full(shape, start(of_array(data)), data.dtype)
        accumulate(ufunc, result, groups, rows)
        if mean:
            counts = np.bincount(groups, minlength=num_segments)
            counts = np.maximum(counts, 1).astype(data.dtype)
            result = result / counts.reshape(-1, *[1] * (rows.ndim - 1))
        return result.astype(data.dtype, copy=False)

    def sorted_kernel(data: Array, ids: Array) -> Array:
        if ids.ndim != 1:
            raise ValueError
        if len(ids) and (ids[0] < 0 or (ids[1:] < ids[:-1]).any()):
            raise InvalidArgumentError("segment_ids must be sorted and not negative")
        count = int(ids[-1]) + 1 if len(ids) else 0
        found = unsorted(data, ids, num_segments=count)
        # Groups without rows are 0 here, whatever the reduction is.
        found[np.bincount(ids, minlength=count) == 0] = 0
        return found

    define(
        f"UnsortedSegment{name}",
        unsorted,
        _infer_unsorted,
        takes=takes,
        family="reduction",
        export=Export(inputs=((-1, "num_segments", "num_segments"),)),
    )
    define(
        f"Segment{name}", sorted_kernel, _infer_sorted, takes=takes, family="reduction"
    )
    decomposes(f"UnsortedSegment{name}")(_on_flat_rows(_decomposed_unsorted(combine)))
    decomposes(f"Segment{name}")(_on_flat_rows(_decomposed_sorted(combine)))


def _zero(dtype: DType) -> Any:
    return 0


def _one(dtype: DType) -> Any:
    return 1


# Rows with a negative id go to a row of their own, in front of the others, which is
# dropped at the end. An id that is too large is out of bounds there, too.
def _rows(data: Any, ids: Any) -> tuple[Any, Any]:
    """The rows that the ids are for, and the place of each among the results."""
    inner = lengths(data)[ids.shape.rank :]
    sizes = lengths(ids)
    rows = tf.reshape(data, [product_of(sizes), *inner])
    groups = tf.reshape(cast(ids, dtypes.int64), [product_of(sizes)])
    return rows, tf.maximum(groups + 1, 0)


def _on_flat_rows(decomposition: Callable[..., Any]) -> Callable[..., Any]:
    """A decomposition that takes rows of any rank, as vectors."""

    def flat(data: Any, ids: Any, **attrs: Any) -> Any:
        if ids.shape.rank is None:
            return NotImplemented
        if data.shape.rank is not None:
            return decomposition(data, ids, **attrs)
        dims = tf.shape(data, dtypes.int64)
        outer, inner = dims[: ids.shape.rank], dims[ids.shape.rank :]
        rows = tf.reshape(
            data, tf.concat([outer, tf.reshape(tf.reduce_prod(inner), [1])], 0)
        )
        rows = tf.ensure_shape(rows, [None] * (ids.shape.rank + 1))
        found = decomposition(rows, ids, **attrs)
        return tf.reshape(
            found, tf.concat([tf.shape(found, dtypes.int64)[:1], inner], 0)
        )

    return flat


def _decomposed_unsorted(combine: Combine) -> Callable[..., Any]:
    """A decomposition; `combine` is given rows, places and the shape of all results."""

    def decomposition(data: Any, ids: Any, *, num_segments: Any) -> Any:
        rows, places = _rows(data, ids)
        total = [number(num_segments) + 1, *lengths(rows)[1:]]
        return at(combine(rows, places, total), 0, Slice(1, None, None))

    return decomposition


def _sum(rows: Any, places: Any, total: list[Any]) -> Any:
    return tf.scatter_nd(tf.expand_dims(places, 1), rows, total)


def _mean_of_rows(rows: Any, places: Any, total: list[Any]) -> Any:
    counts = tf.scatter_nd(tf.expand_dims(places, 1), tf.ones_like(places), total[:1])
    counts = cast(tf.maximum(counts, 1), rows.dtype)
    for _ in total[1:]:
        counts = tf.expand_dims(counts, -1)
    return _sum(rows, places, total) / counts


def _prod(rows: Any, places: Any, total: list[Any]) -> Any:
    """Each product is one of all rows, of which the others count as ones."""
    count = total[0]
    # Refuses ids that are too large.
    checked = tf.scatter_nd(tf.expand_dims(places, 1), tf.zeros_like(places), [count])
    groups = tf.range(0, count, dtype=dtypes.int64) + checked
    own = tf.equal(tf.expand_dims(groups, 1), places)
    for _ in total[1:]:
        own = tf.expand_dims(own, -1)
    return tf.reduce_prod(tf.where(own, rows, constant(1, rows.dtype)), 1)


def _largest(rows: Any, places: Any, total: list[Any]) -> Any:
    start = tf.fill(total, constant(rows.dtype.min, rows.dtype))
    return tf.tensor_scatter_nd_max(start, tf.expand_dims(places, 1), rows)


def _smallest(rows: Any, places: Any, total: list[Any]) -> Any:
    start = tf.fill(total, constant(rows.dtype.max, rows.dtype))
    return tf.tensor_scatter_nd_min(start, tf.expand_dims(places, 1), rows)


def _decomposed_sorted(combine: Combine) -> Callable[..., Any]:
    """As `_decomposed_unsorted`, for ids in order; groups without rows are 0."""
    unsorted = _decomposed_unsorted(combine)

    def decomposition(data: Any, ids: Any) -> Any:
        groups = cast(ids, dtypes.int64)
        before = tf.concat([constant([0], dtypes.int64), groups], 0)
        ordered = tf.reduce_all(at(before, 0, Slice(None, -1, None)) <= groups)
        tf.Assert(ordered, ["segment_ids must be sorted and not negative"])
        count = tf.reduce_max(tf.concat([constant([-1], dtypes.int64), groups], 0)) + 1
        found = unsorted(data, groups, num_segments=count)
        used = (
            tf.scatter_nd(tf.expand_dims(groups, 1), tf.ones_like(groups), [count]) > 0
        )
        for _ in range(data.shape.rank - 1):
            used = tf.expand_dims(used, -1)
        return tf.where(used, found, constant(0, data.dtype))

    return decomposition


_segments("Sum", np.add, _zero, "fiuc", _sum)
_segments("Mean", np.add, _zero, "fc", _mean_of_rows, mean=True)
_segments("Prod", np.multiply, _one, "fiuc", _prod)
_segments("Max", np.maximum, _lowest, "fiu", _largest)
_segments("Min", np.minimum, _highest, "fiu", _smallest)


# --- segments -------------------------------------------------------------------------


def _sorted(op: str, data: Any, segment_ids: Any, name: str | None) -> Any:
    return run(op, as_tensor(data), as_tensor(segment_ids), name=name)


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sums of the rows with one id; the ids are sorted.

    >>> print(segment_sum([1, 2, 3], [0, 0, 1]))
    tf.Tensor([3 3], shape=(2,), dtype=int32)
    """
    return _sorted("SegmentSum", data, segment_ids, name)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The means of the rows with one id; see `segment_sum`."""
    return _sorted("SegmentMean", data, segment_ids, name)


def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The products of the rows with one id; see `segment_sum`."""
    return _sorted("SegmentProd", data, segment_ids, name)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The largest of the rows with one id; see `segment_sum`."""
    return _sorted("SegmentMax", data, segment_ids, name)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The smallest of the rows with one id; see `segment_sum`."""
    return _sorted("SegmentMin", data, segment_ids, name)


def _unsorted(op: str, data: Any, ids: Any, num_segments: Any, name: str | None) -> Any:
    count = int_argument(num_segments, "num_segments")
    return run(op, as_tensor(data), as_tensor(ids), num_segments=count, name=name)


def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The sums of the rows with one id, for the ids up to `num_segments`.

    Negative ids are left out.

    >>> print(unsorted_segment_sum([1, 2, 3], [1, 0, 1], 3))
    tf.Tensor([2 4 0], shape=(3,), dtype=int32)
    """
    return _unsorted("UnsortedSegmentSum", data, segment_ids, num_segments, name)


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The means of the rows with one id; see `unsorted_segment_sum`."""
    return _unsorted("UnsortedSegmentMean", data, segment_ids, num_segments, name)


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The sums of the rows with one id, over the root of their number."""
    rows, ids = as_tensor(data), as_tensor(segment_ids)
    total = unsorted_segment_sum(rows, ids, num_segments)
    counts = unsorted_segment_sum(tf.ones_like(ids), ids, num_segments)
    roots = tf.sqrt(cast(tf.maximum(counts, 1), rows.dtype))
    for _ in range((total.shape.rank or 1) - 1):
        roots = tf.expand_dims(roots, -1)
    return tf.divide(total, roots, name=name)


def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The products of the rows with one id; see `unsorted_segment_sum`."""
    return _unsorted("UnsortedSegmentProd", data, segment_ids, num_segments, name)


def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The largest of the rows with one id; the lowest number where there are none."""
    return _unsorted("UnsortedSegmentMax", data, segment_ids, num_segments, name)


def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The smallest of the rows with one id; the highest number where there are none."""
    return _unsorted("UnsortedSegmentMin", data, segment_ids, num_segments, name)


# --- counts ---------------------------------------------------------------------------


def _infer_bincount(
    values: TensorSpec, weights: TensorSpec, *, minlength: Any, maxlength: Any
) -> TensorSpec:
    low, high = known_int(minlength), known_int(maxlength)
    return spec((low if low == high else None,), weights.dtype)


def _bincount(
    values: Array, weights: Array, *, minlength: int, maxlength: int | None
) -> Array:
    flat = values.reshape(-1)
    if np.any(flat < 0):
        raise InvalidArgumentError("the values to count must not be negative")
    length = max(int(flat.max()) + 1 if flat.size else 0, minlength)
    if maxlength is not None:
        length = min(length, maxlength)
    each = np.broadcast_to(weights, values.shape).reshape(-1)
    if maxlength is not None:
        counted = flat < length
        flat, each = flat[counted], each[counted]
    result = np.zeros(length, weights.dtype)
    accumulate(np.add, result, flat, each)
    return result


define("Bincount", _bincount, _infer_bincount, takes="iu", family="reduction")


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """How often each integer from 0 on occurs, or the sum of its weights.

    >>> print(bincount([1, 1, 3]))
    tf.Tensor([0 2 0 1], shape=(4,), dtype=int32)
    """
    each = np.ones((), as_dtype(dtype).np_dtype) if weights is None else weights
    return run(
        "Bincount",
        as_tensor(arr),
        convert_to_tensor(each),
        minlength=0 if minlength is None else int_argument(minlength, "minlength"),
        maxlength=None if maxlength is None else int_argument(maxlength, "maxlength"),
        name=name,
    )


@decomposes("Bincount")
def _bincount_decomposed(
    values: Any, weights: Any, *, minlength: Any, maxlength: Any
) -> Any:
    flat = tf.reshape(cast(values, dtypes.int64), [-1])
    nothing = constant([-1], dtypes.int64)
    count = tf.maximum(
        tf.reduce_max(tf.concat([nothing, flat], 0)) + 1, number(minlength)
    )
    each = tf.reshape(tf.broadcast_to(weights, tf.shape(values)), [-1])
    if maxlength is None:
        return tf.scatter_nd(tf.expand_dims(flat, 1), each, [count])
    # What is too large is counted together, and dropped.
    count = tf.minimum(count, number(maxlength))
    found = tf.scatter_nd(tf.expand_dims(tf.minimum(flat, count), 1), each, [count + 1])
    return at(found, 0, Slice(None, -1, None))


def _infer_confusion(
    labels: TensorSpec,
    predictions: TensorSpec,
    weights: TensorSpec,
    *,
    num_classes: Any,
) -> TensorSpec:
    if not labels.shape.is_compatible_with(predictions.shape):
        raise InvalidArgumentError(
            f"labels and predictions must have one shape, not {labels.shape} and "
            f"{predictions.shape}"
        )
    count = known_int(num_classes)
    return spec((count, count), weights.dtype)


def _confusion(
    labels: Array, predictions: Array, weights: Array, *, num_classes: int | None
) -> Array:
    if labels.shape != predictions.shape:
        raise ValueError
    both = np.concatenate([labels.reshape(-1), predictions.reshape(-1)])
    largest = int(both.max()) if both.size else -1
    count = largest + 1 if num_classes is None else num_classes
    if both.size and (both.min() < 0 or largest >= count):
        raise InvalidArgumentError(
            f"classes must be in [0, {count}), not {both.min()} to {largest}"
        )
    result = np.zeros((count, count), weights.dtype)
    each = np.broadcast_to(weights, labels.shape)
    places = labels.astype(np.intp) * count + predictions
    accumulate(np.add, result.reshape(-1), places.reshape(-1), each)
    return result


define("ConfusionMatrix", _confusion, _infer_confusion, takes="iu", family="reduction")


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """How often each class (row) was taken for each class (column).

    >>> confusion_matrix([0, 1, 1], [0, 0, 1]).numpy().tolist()
    [[1, 0], [1, 1]]
    """
    found = as_dtype(dtype)
    each = np.ones((), found.np_dtype) if weights is None else weights
    count = None if num_classes is None else int_argument(num_classes, "num_classes")
    return run(
        "ConfusionMatrix",
        *(cast(convert_to_tensor(c), dtypes.int64) for c in (labels, predictions)),
        convert_to_tensor(each, found if weights is None else None),
        num_classes=count,
        name=name,
    )


@decomposes("ConfusionMatrix")
def _confusion_decomposed(
    labels: Any, predictions: Any, weights: Any, *, num_classes: Any
) -> Any:
    pairs = tf.stack([labels, predictions], -1)
    each = tf.broadcast_to(weights, tf.shape(labels))
    if num_classes is None:
        nothing = constant([-1], pairs.dtype)
        all_classes = tf.concat([nothing, tf.reshape(pairs, [-1])], 0)
        num_classes = tf.reduce_max(all_classes) + 1
    count = number(num_classes)
    return tf.scatter_nd(pairs, each, [count, count])
