"""Activations and normalization."""

from __future__ import annotations

import math
from typing import Any

import runtime as tf
from runtime.training.keras_backend.core import cast, convert_to_tensor
from runtime.training.keras_backend.promotion import dtype_of, in_float

relu = tf.nn.relu
relu6 = tf.nn.relu6
sigmoid = in_float(tf.sigmoid)
tanh = in_float(tf.tanh)
softplus = in_float(tf.math.softplus)
softsign = in_float(tf.nn.softsign)
silu = in_float(tf.nn.silu)
log_sigmoid = in_float(tf.math.log_sigmoid)
selu = in_float(tf.nn.selu)
tanh_shrink = in_float(lambda x: x - tf.tanh(x))


sparse_sigmoid = in_float(lambda x: clipped(0.5 * (x + 1), 0.0, 1.0))
hard_sigmoid = in_float(lambda x: tf.nn.relu6(x + 3.0) / 6.0)
hard_silu = in_float(lambda x: x * (tf.nn.relu6(x + 3.0) / 6.0))
hard_tanh = in_float(lambda x: clipped(x, -1.0, 1.0))


def clipped(x: Any, low: float, high: float) -> Any:
    return tf.minimum(tf.maximum(x, low), high)


@in_float
def sparse_plus(x: Any) -> Any:
    return tf.where(x <= -1, 0.0, tf.where(x < 1, 0.25 * tf.square(x + 1), x))


@in_float
def squareplus(x: Any, b: float = 4) -> Any:
    return (x + tf.sqrt(tf.square(x) + b)) / 2


@in_float
def soft_shrink(x: Any, threshold: float = 0.5) -> Any:
    below = tf.where(x < -threshold, x + threshold, 0.0)
    return tf.where(x > threshold, x - threshold, below)


@in_float
def hard_shrink(x: Any, threshold: float = 0.5) -> Any:
    return tf.where(tf.abs(x) > threshold, x, 0.0)


@in_float
def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    return tf.nn.leaky_relu(x, alpha=negative_slope)


@in_float
def elu(x: Any, alpha: float = 1.0) -> Any:
    found = tf.nn.elu(x)
    return found if alpha == 1 else tf.where(x > 0, found, alpha * found)


@in_float
def celu(x: Any, alpha: float = 1.0) -> Any:
    below = alpha * tf.math.expm1(tf.minimum(x, 0.0) / alpha)
    return tf.maximum(x, 0.0) + below


@in_float
def gelu(x: Any, approximate: bool = True) -> Any:
    return tf.nn.gelu(x, approximate=approximate)


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
    low, default = tf.cast(threshold, x.dtype), tf.cast(default_value, x.dtype)
    return tf.where(x > low, x, default)


def _along(function: Any) -> Any:
    """A function along an axis, or of all elements if that is None."""

    @in_float
    def normalized(x: Any, axis: int | None = -1) -> Any:
        if axis is None:
            return tf.reshape(function(tf.reshape(x, [-1])), tf.shape(x))
        return function(x, axis=axis)

    return normalized


softmax, log_softmax = _along(tf.nn.softmax), _along(tf.nn.log_softmax)


@in_float
def sparsemax(x: Any, axis: int = -1) -> Any:
    place = axis % len(x.shape)
    ordered = tf.sort(x, axis=place, direction="DESCENDING")
    totals = tf.cumsum(ordered, axis=place)
    dims = [1] * len(x.shape)
    dims[place] = -1
    counts = tf.reshape(tf.cast(tf.range(1, tf.shape(x)[place] + 1), x.dtype), dims)
    inside = ordered - (totals - 1) / counts > 0
    size = tf.reduce_sum(tf.cast(inside, x.dtype), place, keepdims=True)
    total = tf.reduce_sum(tf.where(inside, ordered, 0.0), place, keepdims=True)
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
    return ratio / math.log(10)
