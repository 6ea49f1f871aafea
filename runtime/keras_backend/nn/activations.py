"""Activations and normalization."""

from __future__ import annotations

import math
from typing import Any

import runtime as tf
from runtime.keras_backend.core import cast, convert_to_tensor
from runtime.keras_backend.promotion import as_float, dtype_of, in_float


def _of_tensor(function: Any) -> Any:
    return lambda x: function(convert_to_tensor(x))


relu = _of_tensor(tf.nn.relu)
relu6 = _of_tensor(tf.nn.relu6)
sigmoid = in_float(tf.sigmoid)
tanh = in_float(tf.tanh)
softplus = in_float(tf.math.softplus)
softsign = in_float(tf.nn.softsign)
silu = in_float(tf.nn.silu)
log_sigmoid = in_float(tf.math.log_sigmoid)
selu = in_float(tf.nn.selu)
tanh_shrink = in_float(lambda x: x - tf.tanh(x))


def _number(value: float, like: Any) -> Any:
    return tf.cast(value, like.dtype)


def clipped(x: Any, low: float, high: float) -> Any:
    return tf.minimum(tf.maximum(x, _number(low, x)), _number(high, x))


def sparse_sigmoid(x: Any) -> Any:
    x = as_float(x)
    return clipped(0.5 * (x + 1), 0.0, 1.0)


def soft_shrink(x: Any, threshold: float = 0.5) -> Any:
    x = as_float(x)
    zero = tf.zeros_like(x)
    below = tf.where(x < -threshold, x + threshold, zero)
    return tf.where(x > threshold, x - threshold, below)


def hard_shrink(x: Any, threshold: float = 0.5) -> Any:
    x = as_float(x)
    return tf.where(tf.abs(x) > threshold, x, tf.zeros_like(x))


def sparse_plus(x: Any) -> Any:
    x = as_float(x)
    middle = tf.where(x < 1, 0.25 * tf.square(x + 1), x)
    return tf.where(x <= -1, tf.zeros_like(x), middle)


def squareplus(x: Any, b: float = 4) -> Any:
    x = as_float(x)
    return (x + tf.sqrt(tf.square(x) + _number(b, x))) / 2


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    return tf.nn.leaky_relu(as_float(x), alpha=negative_slope)


def hard_sigmoid(x: Any) -> Any:
    x = as_float(x)
    return tf.nn.relu6(x + _number(3.0, x)) / _number(6.0, x)


def hard_silu(x: Any) -> Any:
    return as_float(x) * hard_sigmoid(x)


def hard_tanh(x: Any) -> Any:
    return clipped(as_float(x), -1.0, 1.0)


def elu(x: Any, alpha: float = 1.0) -> Any:
    x = as_float(x)
    found = tf.nn.elu(x)
    return found if alpha == 1 else tf.where(x > 0, found, alpha * found)


def celu(x: Any, alpha: float = 1.0) -> Any:
    x = as_float(x)
    zero = tf.zeros_like(x)
    below = alpha * tf.math.expm1(tf.minimum(x, zero) / alpha)
    return tf.maximum(x, zero) + below


def gelu(x: Any, approximate: bool = True) -> Any:
    return tf.nn.gelu(as_float(x), approximate=approximate)


def glu(x: Any, axis: int = -1) -> Any:
    x = convert_to_tensor(x)
    if x.shape[axis] is not None and x.shape[axis] % 2:
        raise ValueError(
            f"axis size must be divisible by 2. Received: x.shape={tuple(x.shape)} "
            f"with axis={axis}"
        )
    value, gate = tf.split(x, 2, axis)
    return value * tf.sigmoid(gate)


def threshold(x: Any, threshold: float, default_value: float) -> Any:
    x = convert_to_tensor(x)
    filler = tf.fill(tf.shape(x), _number(default_value, x))
    return tf.where(x > _number(threshold, x), x, filler)


def softmax(x: Any, axis: int | None = -1) -> Any:
    x = as_float(x)
    if axis is None:
        return tf.reshape(tf.nn.softmax(tf.reshape(x, [-1])), tf.shape(x))
    return tf.nn.softmax(x, axis=axis)


def log_softmax(x: Any, axis: int | None = -1) -> Any:
    x = as_float(x)
    if axis is None:
        return tf.reshape(tf.nn.log_softmax(tf.reshape(x, [-1])), tf.shape(x))
    return tf.nn.log_softmax(x, axis=axis)


def sparsemax(x: Any, axis: int = -1) -> Any:
    x = as_float(x)
    place = axis % len(x.shape)
    ordered = tf.sort(x, axis=place, direction="DESCENDING")
    totals = tf.cumsum(ordered, axis=place)
    dims = [1] * len(x.shape)
    dims[place] = -1
    counts = tf.reshape(tf.cast(tf.range(1, tf.shape(x)[place] + 1), x.dtype), dims)
    inside = ordered - (totals - 1) / counts > 0
    size = tf.reduce_sum(tf.cast(inside, x.dtype), place, keepdims=True)
    total = tf.reduce_sum(
        tf.where(inside, ordered, tf.zeros_like(ordered)), place, keepdims=True
    )
    return tf.nn.relu(x - (total - 1) / size)


def moments(
    x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False
) -> Any:
    if synchronized:
        raise NotImplementedError("synchronized=True needs several devices")
    x = convert_to_tensor(x)
    kind = x.dtype
    if dtype_of(x) != "float16":
        return tf.nn.moments(x, axes, keepdims=keepdims)
    # Float16 is too narrow for sums of squares.
    found = tf.nn.moments(tf.cast(x, "float32"), axes, keepdims=keepdims)
    return tuple(tf.cast(clipped(part, kind.min, kind.max), kind) for part in found)


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    axis: int,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 1e-3,
) -> Any:
    x = convert_to_tensor(x)
    dims = [1] * len(x.shape)
    dims[axis] = -1

    def along(value: Any) -> Any:
        return None if value is None else tf.reshape(cast(value, x.dtype), dims)

    return tf.nn.batch_normalization(
        x, along(mean), along(variance), along(offset), along(scale), epsilon
    )


def psnr(x1: Any, x2: Any, max_val: float) -> Any:
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    if tuple(x1.shape) != tuple(x2.shape):
        raise ValueError(
            f"Input shapes {tuple(x1.shape)} and {tuple(x2.shape)} must match for PSNR "
            "calculation. "
        )
    highest = tf.cast(max_val, x2.dtype)
    error = tf.reduce_mean(tf.square(x1 - x2))
    ratio = 20 * tf.math.log(highest) - 10 * tf.math.log(error)
    return ratio / _number(math.log(10), x2)
