"""Sorting, searching and counting."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend.common.backend_utils import canonicalize_axis

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.core import shape as shape_of
from runtime.training.keras_backend.numpy.arrays import flattened, ravel
from runtime.training.keras_backend.promotion import dtype_of, together


def sort(x: Any, axis: int | None = -1) -> Any:
    flat, place = flattened(x, axis)
    if dtype_of(flat) == "bool":
        return tf.cast(tf.sort(tf.cast(flat, "int32"), axis=place), "bool")
    return tf.sort(flat, axis=place)


def argsort(x: Any, axis: int | None = -1) -> Any:
    flat, place = flattened(x, axis)
    if not flat.shape:
        return tf.zeros([], "int32")
    if dtype_of(flat) == "bool":
        flat = tf.cast(flat, "int32")
    return tf.cast(tf.argsort(flat, axis=place, stable=True), "int32")


def argpartition(x: Any, kth: int, axis: int = -1) -> Any:
    return argsort(x, axis)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left") -> Any:
    rows = convert_to_tensor(sorted_sequence)
    if len(rows.shape) != 1:
        raise ValueError(
            "`searchsorted` only supports 1-D sorted sequences. You can use "
            "`keras.ops.vectorized_map` to extend it to N-D sequences. "
            f"Received: sorted_sequence.shape={tuple(rows.shape)}"
        )
    rows, wanted = together(rows, values)
    found = tf.searchsorted(rows, ravel(wanted), side=side)
    return tf.reshape(found, tf.shape(wanted))


def digitize(x: Any, bins: Any) -> Any:
    bins, x = together(convert_to_tensor(bins), x)
    return tf.reshape(tf.searchsorted(bins, ravel(x), side="right"), tf.shape(x))


def isin(x1: Any, x2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    x1, x2 = together(x1, x2)
    found = tf.reduce_any(tf.equal(x1[..., None], ravel(x2)), -1)
    return ~found if invert else found


def histogram(x: Any, bins: Any = 10, range: Any = None) -> Any:
    x = ravel(x)
    if isinstance(bins, int):
        x = tf.cast(x, "float32") if "float" not in dtype_of(x) else x
        if range is None:
            low, high = tf.reduce_min(x), tf.reduce_max(x)
        else:
            low, high = (tf.cast(end, x.dtype) for end in range)
        is_point = tf.equal(low, high)
        half = tf.where(is_point, tf.cast(0.5, x.dtype), tf.cast(0, x.dtype))
        low, high = low - half, high + half
        places = tf.cast(tf.range(bins + 1), x.dtype)
        edges = low + (high - low) * places / tf.cast(bins, x.dtype)
    else:
        edges, x = together(convert_to_tensor(bins), x)
    count = shape_of(edges)[0] - 1
    place = tf.searchsorted(edges, x, side="right") - 1
    # The last bin has both of its ends.
    place = tf.where(tf.equal(x, edges[-1]), count - 1, place)
    return tf.reduce_sum(tf.one_hot(place, count, dtype="int32"), 0), edges


def unique(
    x: Any,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """NumPy finds them: their number is known only when the values are."""
    x = convert_to_tensor(x)
    place = 0 if axis is None else canonicalize_axis(axis, len(x.shape))

    def find(array: Any) -> Any:
        values, index, inverse, counts = np.unique(
            array, True, True, True, axis=axis, equal_nan=False
        )
        if size is not None:
            missing = max(0, size - values.shape[place])
            values = np.take(values, range(min(size, values.shape[place])), place)
            width = [(0, missing if a == place else 0) for a in range(values.ndim)]
            values = np.pad(values, width, constant_values=fill_value or 0)
            index = np.pad(index[:size], (0, missing), constant_values=1)
            counts = np.pad(counts[:size], (0, missing))
        return (
            values.astype(array.dtype),
            *(part.astype("int32") for part in (index, inverse, counts)),
        )

    found = tf.numpy_function(find, [x], [x.dtype, "int32", "int32", "int32"])
    rest = shape_of(x)
    dims = [size] if axis is None else [*rest[:place], size, *rest[place + 1 :]]
    values = tf.ensure_shape(found[0], dims) if len(rest) else found[0]
    wanted = zip((return_index, return_inverse, return_counts), found[1:])
    parts = [values, *(part for is_wanted, part in wanted if is_wanted)]
    return values if len(parts) == 1 else tuple(parts)
