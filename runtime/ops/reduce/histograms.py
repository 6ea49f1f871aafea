"""What is asked of all elements of an array: whether they grow, how they spread."""

from __future__ import annotations

from typing import Any

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.ops import late as tf
from runtime.ops.convert import as_tensor, cast


def is_non_decreasing(x: Any, name: str | None = None) -> Any:
    """Whether no element is less than the one in front of it, in row-major order.

    >>> is_non_decreasing([1, 1, 2]).numpy().item()
    True
    """
    flat = tf.reshape(as_tensor(x), [-1])
    return tf.reduce_all(flat[1:] >= flat[:-1])


def is_strictly_increasing(x: Any, name: str | None = None) -> Any:
    """Whether each element is more than the one in front of it, in row-major order.

    >>> is_strictly_increasing([1, 1, 2]).numpy().item()
    False
    """
    flat = tf.reshape(as_tensor(x), [-1])
    return tf.reduce_all(flat[1:] > flat[:-1])


def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: int = 100,
    dtype: DType = dtypes.int32,
    name: str | None = None,
) -> Any:
    """In which of `nbins` equal parts of a range each value lies; the outer ones take
    what is outside of the range.

    >>> histogram_fixed_width_bins([-1.0, 0.4, 3.0], [0.0, 1.0], 4).numpy().tolist()
    [0, 1, 3]
    """
    values = as_tensor(values)
    low, high = tf.unstack(cast(value_range, values.dtype))
    part = (values - low) / (high - low)
    place = tf.floor(cast(nbins, part.dtype) * part)
    largest = cast(nbins - 1, part.dtype)
    within = tf.minimum(tf.maximum(place, tf.zeros_like(place)), largest)
    return cast(within, as_dtype(dtype))


def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: int = 100,
    dtype: DType = dtypes.int32,
    name: str | None = None,
) -> Any:
    """How many values lie in each of `nbins` equal parts of a range.

    >>> histogram_fixed_width([-1.0, 0.4, 3.0], [0.0, 1.0], 4).numpy().tolist()
    [1, 1, 0, 1]
    """
    bins = histogram_fixed_width_bins(values, value_range, nbins)
    flat = tf.reshape(bins, [-1])
    ones = tf.ones_like(flat)
    return cast(tf.unsorted_segment_sum(ones, flat, nbins), as_dtype(dtype))
