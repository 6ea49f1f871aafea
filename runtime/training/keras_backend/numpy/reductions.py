"""Functions that take one or several axes away, and running totals."""

from __future__ import annotations

from typing import Any

from keras.src.backend import config
from keras.src.backend.common.dtypes import result_type

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor, shape
from runtime.training.keras_backend.numpy.arrays import (
    flattened,
    moveaxis,
    ravel,
    take_along_axis,
)
from runtime.training.keras_backend.numpy.elementwise import isnan, signbit
from runtime.training.keras_backend.promotion import (
    as_float,
    as_number,
    common_dtype,
    dtype_of,
    is_exact,
    widened,
)

INF, NAN = float("inf"), float("nan")


def _axes(x: Any, axis: Any) -> list[int]:
    rank = len(x.shape)
    if axis is None:
        return list(range(rank))
    chosen = axis if isinstance(axis, (list, tuple)) else [axis]
    return [a % rank if rank else a for a in chosen]


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_sum(widened(x), axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    x = convert_to_tensor(x, dtype) if dtype else widened(x)
    return tf.reduce_prod(x, axis, keepdims)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    x = convert_to_tensor(x)
    if is_exact(x):
        x = tf.cast(x, result_type(x.dtype, "float32"))
    return tf.reduce_mean(x, axis, keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    x = convert_to_tensor(x)
    wide = tf.cast(x, result_type(x.dtype, "float32"))
    found = tf.math.reduce_variance(wide, axis, keepdims)
    return tf.cast(found, result_type(x.dtype, float))


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    x = convert_to_tensor(x)
    if is_exact(x):
        x = tf.cast(x, config.floatx())
    return tf.math.reduce_std(x, axis, keepdims)


def _extreme(reduce: Any, of_bools: Any, join: Any) -> Any:
    def extreme(
        x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None
    ) -> Any:
        x = convert_to_tensor(x)
        if dtype_of(x) == "bool":
            return of_bools(x, axis, keepdims)
        if initial is None and 0 in x.shape:
            raise ValueError(
                "zero-size array to reduction operation which has no identity"
            )
        found = reduce(x, axis, keepdims)
        return found if initial is None else join(found, tf.cast(initial, x.dtype))

    return extreme


max = amax = _extreme(tf.reduce_max, tf.reduce_any, tf.maximum)
min = amin = _extreme(tf.reduce_min, tf.reduce_all, tf.minimum)


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return max(x, axis, keepdims) - min(x, axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_all(convert_to_tensor(x, "bool"), axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.reduce_any(convert_to_tensor(x, "bool"), axis, keepdims)


def count_nonzero(x: Any, axis: Any = None) -> Any:
    return tf.reduce_sum(tf.cast(convert_to_tensor(x, "bool"), "int32"), axis)


def _place(function: Any) -> Any:
    def place(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        x = as_number(x)
        if not is_exact(x) and len(x.shape):
            # -0.0 comes before 0.0.
            x = tf.cast(x, result_type(x.dtype, "float32"))
            x = tf.where(tf.equal(x, 0) & signbit(x), -(2.0**-126), x)
        flat, along = flattened(x, axis)
        found = (
            function(flat, along, "int32") if len(x.shape) else tf.zeros([], "int32")
        )
        if not keepdims:
            return found
        dims = [1 if a in _axes(x, axis) else d for a, d in enumerate(shape(x))]
        return tf.reshape(found, dims)

    return place


argmax, argmin = _place(tf.argmax), _place(tf.argmin)


def average(x: Any, axis: Any = None, weights: Any = None) -> Any:
    x = convert_to_tensor(x)
    if weights is None:
        return mean(tf.cast(x, common_dtype(x, float)), axis)
    weights = convert_to_tensor(weights)
    dtype = common_dtype(x, weights, float)
    x, weights = tf.cast(x, dtype), tf.cast(weights, dtype)
    if len(weights.shape) < len(x.shape):
        dims = [1] * len(x.shape)
        for number, place in enumerate(_axes(x, axis)):
            dims[place] = shape(weights)[number]
        weights = tf.reshape(weights, dims)
    weights = weights * tf.ones_like(x)
    return tf.reduce_sum(x * weights, axis) / tf.reduce_sum(weights, axis)


# --- running totals -------------------------------------------------------------------


def _running(function: Any) -> Any:
    def total(x: Any, axis: int | None = None, dtype: Any = None) -> Any:
        return function(*flattened(as_number(convert_to_tensor(x, dtype)), axis))

    return total


cumsum, cumprod = _running(tf.cumsum), _running(tf.math.cumprod)


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    a = moveaxis(a, axis, -1)
    for _ in range(n):
        change = tf.not_equal if dtype_of(a) == "bool" else tf.subtract
        a = change(a[..., 1:], a[..., :-1])
    return moveaxis(a, -1, axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = moveaxis(as_float(y), axis, -1)
    widths = convert_to_tensor(dx, y.dtype)
    if x is not None:
        x = convert_to_tensor(x, y.dtype)
        widths = diff(moveaxis(x, axis, -1) if len(x.shape) > 1 else x)
    return tf.reduce_sum(widths * (y[..., 1:] + y[..., :-1]) / 2, -1)


# --- NaN counts as missing ------------------------------------------------------------


def _filled(x: Any, value: float) -> Any:
    x = convert_to_tensor(x)
    return x if is_exact(x) else tf.where(isnan(x), tf.cast(value, x.dtype), x)


def _without_nan(function: Any, value: float) -> Any:
    """A function for which NaN is a number that changes nothing."""
    return lambda x, *args, **kwargs: function(_filled(x, value), *args, **kwargs)


nansum, nanprod = _without_nan(sum, 0), _without_nan(prod, 1)
nancumsum, nancumprod = _without_nan(cumsum, 0), _without_nan(cumprod, 1)


def _unless_all(function: Any, value: float, result: float) -> Any:
    """`_without_nan`, which gives a result of its own where all numbers are NaN."""

    def reduce(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        x = convert_to_tensor(x)
        found = function(_filled(x, value), axis, keepdims)
        if is_exact(x):
            return found
        is_empty = tf.reduce_all(isnan(x), axis, keepdims)
        return tf.where(is_empty, tf.cast(result, found.dtype), found)

    return reduce


nanmax = _unless_all(max, -INF, NAN)
nanmin = _unless_all(min, INF, NAN)
nanargmax = _unless_all(argmax, -INF, -1)
nanargmin = _unless_all(argmin, INF, -1)


def nanmean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    x = as_float(x)
    count = tf.reduce_sum(tf.cast(~isnan(x), x.dtype), axis, keepdims)
    return tf.reduce_sum(_filled(x, 0), axis, keepdims) / count


def nanvar(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    x = as_float(x)
    kind = x.dtype
    x = tf.cast(x, result_type(x.dtype, "float32"))
    distance = tf.square(x - nanmean(x, axis, keepdims=True))
    return tf.cast(nanmean(distance, axis, keepdims), kind)


def nanstd(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return tf.sqrt(nanvar(x, axis, keepdims))


# --- quantiles ------------------------------------------------------------------------


def _rows(x: Any, axis: Any) -> Any:
    """The tensor with the axes to take away as one, the last."""
    away = _axes(x, axis)
    kept = [a for a in range(len(x.shape)) if a not in away]
    rows = tf.transpose(x, [*kept, *away])
    return tf.reshape(rows, [*[shape(x)[a] for a in kept], -1])


def _quantile(
    x: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool
) -> Any:
    x = as_float(x)
    kind = x.dtype
    rows = _rows(x, axis)
    # NaN sorts to the end, where it is not counted.
    missing = isnan(rows)
    rows = tf.sort(tf.where(missing, tf.cast(float("inf"), kind), rows), axis=-1)
    total = shape(rows)[-1]
    count = tf.reduce_sum(tf.cast(~missing, "int32"), -1)
    last = tf.cast(count if skip_nan else tf.zeros_like(count) + total, "float64") - 1
    dims = shape(q)
    place = tf.reshape(q, [*dims, *[1] * len(last.shape)]) * last
    low = tf.floor(place)
    high = tf.minimum(low + 1, tf.maximum(last, tf.zeros_like(last)))
    if method == "nearest":
        low = high = tf.round(place)
    elif method == "lower":
        high = low
    elif method == "higher":
        low = high = tf.math.ceil(place)
    share = {"linear": place - low, "midpoint": tf.where(place > low, 0.5, 0.0)}
    weight = tf.cast(share.get(method, tf.zeros_like(place)), kind)

    def at(index: Any) -> Any:
        index = tf.cast(tf.maximum(index, tf.zeros_like(index)), "int32")
        wide = tf.broadcast_to(rows, [*dims, *shape(rows)])
        return take_along_axis(wide, index[..., None], -1)[..., 0]

    below, above = at(low), at(high)
    # An infinite neighbour that does not count is not to be subtracted.
    alone = tf.equal(below, above) | tf.equal(weight, tf.zeros_like(weight))
    step = tf.where(alone, tf.zeros_like(below), above - below)
    found = below + step * weight
    bad = tf.equal(count, 0) if skip_nan else count < total
    found = tf.where(bad, tf.cast(float("nan"), kind), found)
    if keepdims:
        ones = [1 if a in _axes(x, axis) else d for a, d in enumerate(shape(x))]
        found = tf.reshape(found, [*dims, *ones])
    return found


def _quantiles(skip_nan: bool, scale: float) -> Any:
    def quantiles(
        x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
    ) -> Any:
        q = tf.cast(convert_to_tensor(q), "float64") / scale
        return _quantile(x, q, axis, method, keepdims, skip_nan)

    return quantiles


quantile, nanquantile = _quantiles(False, 1), _quantiles(True, 1)
percentile, nanpercentile = _quantiles(False, 100), _quantiles(True, 100)


def median(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return quantile(x, 0.5, axis, keepdims=keepdims)


def nanmedian(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return nanquantile(x, 0.5, axis, keepdims=keepdims)


def bincount(
    x: Any, weights: Any = None, minlength: int = 0, sparse: bool = False
) -> Any:
    if sparse:
        raise ValueError("Unsupported value `sparse=True` with this backend")
    x = tf.cast(convert_to_tensor(x), "int32")
    length = tf.reduce_max(tf.concat([ravel(x), [minlength - 1]], 0)) + 1
    known = tf.get_static_value(length)
    if known is not None:
        length = int(known)
    if weights is None:
        return tf.reduce_sum(tf.one_hot(x, length, dtype="int32"), -2)
    weights = convert_to_tensor(weights)
    dtype = common_dtype(x, weights)
    marks = tf.one_hot(x, length, dtype=dtype)
    return tf.reduce_sum(marks * tf.cast(weights, dtype)[..., None], -2)
