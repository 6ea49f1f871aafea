"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import Any

from keras.src.backend import config

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.core import shape as shape_of
from runtime.training.keras_backend.numpy.arrays import moveaxis, ravel
from runtime.training.keras_backend.promotion import common_dtype, dtype_of, together


def _product(multiply: Any) -> Any:
    """A product of two operands, in a dtype that is wide enough for the sums."""

    def product(x1: Any, x2: Any, *args: Any, **kwargs: Any) -> Any:
        (x1, x2), result = _widened(x1, x2)
        return tf.cast(multiply(x1, x2, *args, **kwargs), result)

    return product


def _widened(*operands: Any) -> tuple[list[Any], str]:
    """Operands in the dtype in which they are multiplied, and that of the result."""
    tensors = [convert_to_tensor(x) for x in operands]
    is_int8 = all(dtype_of(x) == "int8" for x in tensors)
    tensors = together(*tensors)
    result = "int32" if is_int8 else dtype_of(tensors[0])
    narrow = ("bool", "int8", "uint8", "int16", "uint16")
    wide = "int32" if result in narrow else result
    return [tf.cast(x, wide) for x in tensors], result


@_product
def matmul(x1: Any, x2: Any) -> Any:
    one, other = len(x1.shape) == 1, len(x2.shape) == 1
    found = tf.matmul(x1[None, :] if one else x1, x2[:, None] if other else x2)
    found = tf.squeeze(found, -2) if one else found
    return tf.squeeze(found, -1) if other else found


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Any:
    tensors, result = _widened(*operands)
    return tf.cast(tf.einsum(subscripts, *tensors, **kwargs), result)


@_product
def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    return tf.tensordot(x1, x2, axes)


@_product
def dot(x1: Any, x2: Any) -> Any:
    if not len(x1.shape) or not len(x2.shape):
        return x1 * x2
    axes = [[len(x1.shape) - 1], [max(len(x2.shape) - 2, 0)]]
    return tf.tensordot(x1, x2, axes)


@_product
def inner(x1: Any, x2: Any) -> Any:
    if not len(x1.shape) or not len(x2.shape):
        return x1 * x2
    return tf.tensordot(x1, x2, [[len(x1.shape) - 1], [len(x2.shape) - 1]])


@_product
def vdot(x1: Any, x2: Any) -> Any:
    return tf.reduce_sum(ravel(x1) * ravel(x2))


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


def _as_float(x: Any) -> Any:
    """Integers of 64 bits in float64, others in Keras's own dtype."""
    dtype = {"int64": "float64"}.get(dtype_of(x), dtype_of(x))
    return tf.cast(x, dtype if dtype in ("float16", "float64") else config.floatx())


def correlate(x1: Any, x2: Any, mode: str = "valid") -> Any:
    x1, x2 = map(_as_float, together(x1, x2))
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
    x = _as_float(convert_to_tensor(x))
    x = x[None, :] if len(x.shape) == 1 else x
    x = x - tf.reduce_mean(x, -1, keepdims=True)
    covariance = tf.matmul(x, x, transpose_b=True)
    deviation = tf.sqrt(tf.linalg.diag_part(covariance))
    found = covariance / deviation[:, None] / deviation[None, :]
    return tf.squeeze(found) if found.shape[0] == 1 else found


def slogdet(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tuple(tf.linalg.slogdet(tf.cast(x, common_dtype(x, float))))
