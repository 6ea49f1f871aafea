"""New tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from keras.src.backend import config, standardize_dtype

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.numpy.elementwise import i0, power
from runtime.training.keras_backend.promotion import common_dtype


def _kind(x: Any) -> Any:
    return getattr(x, "dtype", type(x))


def _dtype(dtype: Any) -> Any:
    return standardize_dtype(dtype or config.floatx())


def array(x: Any, dtype: Any = None) -> Any:
    return convert_to_tensor(x, dtype)


def copy(x: Any) -> Any:
    return tf.identity(convert_to_tensor(x))


def zeros(shape: Any, dtype: Any = None) -> Any:
    return tf.zeros(shape, _dtype(dtype))


def ones(shape: Any, dtype: Any = None) -> Any:
    return tf.ones(shape, _dtype(dtype))


empty = zeros


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    value = convert_to_tensor(fill_value, _dtype(dtype))
    return tf.broadcast_to(value, shape)


def zeros_like(x: Any, dtype: Any = None) -> Any:
    return tf.zeros_like(convert_to_tensor(x), dtype and standardize_dtype(dtype))


def ones_like(x: Any, dtype: Any = None) -> Any:
    return tf.ones_like(convert_to_tensor(x), dtype and standardize_dtype(dtype))


empty_like = zeros_like


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    x = convert_to_tensor(x)
    value = convert_to_tensor(fill_value, dtype or x.dtype)
    return tf.broadcast_to(value, tf.shape(x))


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    if dtype is None:
        parts = [part for part in (start, stop, step) if part is not None]
        dtype = common_dtype(*map(_kind, parts))
    dtype = standardize_dtype(dtype)
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype == "bool":
        return tf.cast(tf.range(start, stop, step), "bool")
    if all(isinstance(part, (int, float)) for part in (start, stop, step)):
        return tf.constant(np.arange(start, stop, step, dtype=dtype))
    return tf.range(*(convert_to_tensor(part, dtype) for part in (start, stop, step)))


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    dtype = dtype or common_dtype(_kind(start), _kind(stop), float)
    wide = "float64" if "float" not in str(standardize_dtype(dtype)) else dtype
    start, stop = convert_to_tensor(start, wide), convert_to_tensor(stop, wide)
    start, stop = start + tf.zeros_like(stop), stop + tf.zeros_like(start)
    num = int(num)
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else tf.cast(float("nan"), wide)
    steps = [start + step * float(i) if i else start for i in range(num)]
    if endpoint and num > 1:
        steps[-1] = stop
    if not steps:
        return tf.zeros((0, *start.shape), dtype)
    found = tf.stack(steps, axis % (len(start.shape) + 1))
    if "int" in standardize_dtype(dtype):
        found = tf.floor(found)
    found = tf.cast(found, dtype)
    return (found, step) if retstep else found


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    dtype = dtype or common_dtype(_kind(start), _kind(stop), float)
    wide = dtype if "float" in standardize_dtype(dtype) else config.floatx()
    exponents = linspace(start, stop, num, endpoint, dtype=wide, axis=axis)
    return tf.cast(power(tf.cast(base, wide), exponents), dtype)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    dtype = dtype or common_dtype(_kind(start), _kind(stop), float)
    ends = [convert_to_tensor(end, "float64") for end in (start, stop)]
    first, last = (tf.math.log(tf.abs(end)) for end in ends)
    steps = linspace(first, last, num, endpoint, dtype="float64", axis=axis)
    return tf.cast(tf.exp(steps) * tf.sign(ends[0]), dtype)


def _diagonal(compare: Any, N: Any, M: Any, k: int, dtype: Any) -> Any:
    rows, columns = tf.range(N)[:, None], tf.range(N if M is None else M)[None, :]
    return tf.cast(compare(columns - rows, k), _dtype(dtype))


def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Any:
    return _diagonal(tf.equal, N, M, k, dtype)


def identity(n: Any, dtype: Any = None) -> Any:
    return eye(n, dtype=dtype)


def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Any:
    return _diagonal(tf.less_equal, N, M, k, dtype)


def meshgrid(*x: Any, indexing: str = "xy") -> Any:
    vectors = [tf.reshape(convert_to_tensor(v), [-1]) for v in x]
    return list(tf.meshgrid(*vectors, indexing=indexing))


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = convert_to_tensor(x)
    wide = tf.cast(x, common_dtype(x, config.floatx()))
    count = x.shape[0] if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    found = tf.pow(wide[:, None], tf.cast(tf.constant(powers), wide.dtype))
    return tf.cast(found, x.dtype)


# --- windows of signals ---------------------------------------------------------------


def _window(weights: Any) -> Any:
    """A function of a length, which gives those of each i / (n - 1)."""

    def window(x: Any, *parameters: Any) -> Any:
        length = tf.cast(convert_to_tensor(x), "int32")
        places = tf.cast(tf.range(length), "float64")
        last = tf.cast(tf.maximum(length - 1, 1), "float64")
        found = weights(places / last, *parameters)
        return tf.cast(tf.where(length > 1, found, 1.0), config.floatx())

    return window


def _cosines(*factors: float) -> Any:
    """The window of a sum of cosines of 0, 1, … turns, with these factors."""
    return _window(
        lambda t: sum(a * tf.cos(2 * math.pi * k * t) for k, a in enumerate(factors))
    )


bartlett = _window(lambda t: 1 - tf.abs(2 * t - 1))
hamming = _cosines(0.54, -0.46)
hanning = _cosines(0.5, -0.5)
blackman = _cosines(0.42, -0.5, 0.08)


@_window
def kaiser(t: Any, beta: Any) -> Any:
    beta = tf.cast(convert_to_tensor(beta), "float64")
    return i0(beta * tf.sqrt(tf.maximum(1 - tf.square(2 * t - 1), 0.0))) / i0(beta)
