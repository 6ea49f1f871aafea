"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import Any

from keras.src.backend import config

import runtime as tf
from runtime.keras_backend.core import convert_to_tensor
from runtime.keras_backend.core import shape as shape_of
from runtime.keras_backend.numpy.arrays import moveaxis, ravel
from runtime.keras_backend.promotion import common_dtype, dtype_of, together


def _products(*operands: Any) -> tuple[list[Any], str]:
    """Operands in the dtype in which they are multiplied, and that of the result."""
    tensors = together(*[convert_to_tensor(x) for x in operands])
    result = dtype_of(tensors[0])
    if all(dtype_of(convert_to_tensor(x)) == "int8" for x in operands):
        result = "int32"
    wide = "int32" if result in ("bool", "int8", "uint8", "int16", "uint16") else result
    return [tf.cast(x, wide) for x in tensors], result


def matmul(x1: Any, x2: Any) -> Any:
    (x1, x2), result = _products(x1, x2)
    one, other = len(x1.shape) == 1, len(x2.shape) == 1
    x1 = x1[None, :] if one else x1
    x2 = x2[:, None] if other else x2
    found = tf.matmul(x1, x2)
    found = tf.squeeze(found, [-2]) if one else found
    return tf.cast(tf.squeeze(found, [-1]) if other else found, result)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Any:
    tensors, result = _products(*operands)
    return tf.cast(tf.einsum(subscripts, *tensors, **kwargs), result)


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    (x1, x2), result = _products(x1, x2)
    return tf.cast(tf.tensordot(x1, x2, axes), result)


def dot(x1: Any, x2: Any) -> Any:
    (x1, x2), result = _products(x1, x2)
    if not len(x1.shape) or not len(x2.shape):
        return tf.cast(x1 * x2, result)
    axes = [[-1], [-1 if len(x2.shape) == 1 else -2]]
    axes = [[a[0] % len(x.shape)] for a, x in zip(axes, (x1, x2))]
    return tf.cast(tf.tensordot(x1, x2, axes), result)


def inner(x1: Any, x2: Any) -> Any:
    (x1, x2), result = _products(x1, x2)
    if not len(x1.shape) or not len(x2.shape):
        return tf.cast(x1 * x2, result)
    axes = [[len(x1.shape) - 1], [len(x2.shape) - 1]]
    return tf.cast(tf.tensordot(x1, x2, axes), result)


def vdot(x1: Any, x2: Any) -> Any:
    (x1, x2), result = _products(x1, x2)
    return tf.cast(tf.reduce_sum(ravel(x1) * ravel(x2)), result)


def outer(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    return ravel(x1)[:, None] * ravel(x2)[None, :]


def kron(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    rank = max(len(x1.shape), len(x2.shape))
    dims1 = [1] * (rank - len(x1.shape)) + list(shape_of(x1))
    dims2 = [1] * (rank - len(x2.shape)) + list(shape_of(x2))
    left = tf.reshape(x1, [d for dim in dims1 for d in (dim, 1)])
    right = tf.reshape(x2, [d for dim in dims2 for d in (1, dim)])
    return tf.reshape(left * right, [a * b for a, b in zip(dims1, dims2)])


def cross(
    x1: Any,
    x2: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = together(x1, x2)
    x1, x2 = moveaxis(x1, axisa, -1), moveaxis(x2, axisb, -1)
    lengths = {x1.shape[-1], x2.shape[-1]}
    if not lengths <= {2, 3, None}:
        raise ValueError(
            "Both `x1` and `x2` must have 2 or 3 elements along the axis. "
            f"Received: {tuple(x1.shape)} and {tuple(x2.shape)}"
        )

    def parts(x: Any) -> Any:
        found = tf.unstack(x, axis=-1)
        return found if len(found) == 3 else [*found, tf.zeros_like(found[0])]

    (a, b, c), (d, e, f) = parts(x1), parts(x2)
    if lengths == {2}:
        return a * e - b * d
    return moveaxis(
        tf.stack([b * f - c * e, c * d - a * f, a * e - b * d], -1), -1, axisc
    )


def correlate(x1: Any, x2: Any, mode: str = "valid") -> Any:
    x1, x2 = together(x1, x2)
    dtype = dtype_of(x1)
    if dtype == "int64":
        dtype = "float64"
    elif dtype not in ("float16", "float64"):
        dtype = "float32"
    x1, x2 = tf.cast(x1, dtype), tf.cast(x2, dtype)
    swapped = shape_of(x2)[0] > shape_of(x1)[0] and mode != "full"
    if swapped:
        x1, x2 = x2, x1
    long, short = shape_of(x1)[0], shape_of(x2)[0]
    before, after = {
        "valid": (0, 0),
        "same": (short // 2, short - 1 - short // 2),
        "full": (short - 1, short - 1),
    }[mode]
    padded = tf.pad(x1, [[before, after]])
    count = long + before + after - short + 1
    windows = tf.range(count)[:, None] + tf.range(short)[None, :]
    found = tf.linalg.matvec(tf.gather(padded, windows), x2)
    return tf.reverse(found, [0]) if swapped else found


def corrcoef(x: Any) -> Any:
    x = convert_to_tensor(x)
    dtype = dtype_of(x)
    if dtype == "int64":
        dtype = "float64"
    elif dtype not in ("float16", "float64"):
        dtype = config.floatx()
    x = tf.cast(x, dtype)
    x = x[None, :] if len(x.shape) == 1 else x
    x = x - tf.reduce_mean(x, -1, keepdims=True)
    covariance = tf.matmul(x, x, transpose_b=True)
    deviation = tf.sqrt(tf.linalg.diag_part(covariance))
    found = covariance / deviation[:, None] / deviation[None, :]
    return tf.squeeze(found) if found.shape[0] == 1 else found


def slogdet(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tuple(tf.linalg.slogdet(tf.cast(x, common_dtype(x, float))))
