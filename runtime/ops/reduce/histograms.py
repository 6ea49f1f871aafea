"""What is asked of all elements of an array: whether they grow, how they spread."""

from __future__ import annotations

from typing import Any

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.ops import late as tf
from runtime.ops.checks.assertions import Assert
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

    Raises InvalidArgumentError for an empty range, and for a value that is NaN.

    >>> histogram_fixed_width([-1.0, 0.4, 3.0], [0.0, 1.0], 4).numpy().tolist()
    [1, 1, 0, 1]
    """
    values = as_tensor(values)
    low, high = tf.unstack(cast(cast(value_range, values.dtype), dtypes.float64))
    Assert(low < high, ["the range is empty:", low, high])
    numbers = tf.reshape(cast(values, dtypes.float64), [-1])
    Assert(tf.reduce_all(numbers <= numbers), ["a value is NaN:", values])
    # Divided by the width of a part, in double precision, as TensorFlow does it here
    # and not for `histogram_fixed_width_bins`.
    place = tf.floor((tf.maximum(numbers, low) - low) / ((high - low) / nbins))
    flat = cast(tf.minimum(place, nbins - 1), dtypes.int32)
    ones = tf.ones_like(flat)
    return cast(tf.unsorted_segment_sum(ones, flat, nbins), as_dtype(dtype))
