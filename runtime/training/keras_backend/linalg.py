"""Linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend.common.backend_utils import canonicalize_axis

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.numpy.arrays import expand_dims, moveaxis, swapaxes
from runtime.training.keras_backend.promotion import (
    as_float,
    dtype_of,
    in_float,
    is_exact,
)

det = in_float(tf.linalg.det)
inv = in_float(tf.linalg.inv)


def eigh(a: Any) -> Any:
    return tuple(tf.linalg.eigh(as_float(a)))


def cholesky(a: Any, upper: bool = False) -> Any:
    found = tf.linalg.cholesky(as_float(a))
    return tf.linalg.adjoint(found) if upper else found


def cholesky_inverse(a: Any, upper: bool = False) -> Any:
    a = as_float(a)
    eye = tf.eye(a.shape[-1], dtype=a.dtype)
    inverse = solve_triangular(a, eye, lower=not upper)
    return tf.matmul(inverse, inverse, transpose_a=not upper, transpose_b=upper)


def eig(a: Any) -> Any:
    return tuple(tf.linalg.eig(as_float(a)))


def lu_factor(a: Any) -> Any:
    """SciPy's: it has no gradient."""
    a = as_float(a)

    def find(array: Any) -> Any:
        from scipy.linalg import lu_factor as factor

        rows = array.reshape(-1, *array.shape[-2:])
        pairs = [factor(matrix) for matrix in rows]
        lu = np.stack([lu for lu, _ in pairs]).reshape(array.shape)
        pivots = np.stack([p for _, p in pairs])
        return lu, pivots.reshape(*array.shape[:-2], -1).astype("int32")

    lu, pivots = tf.numpy_function(find, [a], [a.dtype, "int32"])
    least = min(a.shape[-2:])
    return tf.ensure_shape(lu, a.shape), tf.ensure_shape(pivots, [*a.shape[:-2], least])


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = convert_to_tensor(x)
    x = as_float(x) if is_exact(x) else x
    rank = len(x.shape)
    if axis is None and ord is None:
        flat = tf.sqrt(tf.reduce_sum(tf.square(tf.abs(x))))
        return tf.reshape(flat, [1] * rank) if keepdims else flat
    given = range(rank) if axis is None else axis
    given = [given] if isinstance(given, int) else given
    axes = [canonicalize_axis(place, rank) for place in given]
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError(
            f"Invalid axis values. Expected to be 1 or 2 values. Received: axis={axis}"
        )
    return _matrix_norm(x, "fro" if ord is None else ord, axes, keepdims)


def _vector_norm(x: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    size = tf.abs(x)
    if isinstance(ord, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={ord}")
    if ord == float("-inf"):
        return tf.reduce_min(size, axis, keepdims)
    if ord == 0:
        return tf.reduce_sum(tf.cast(size > 0, size.dtype), axis, keepdims)
    if ord < 0:
        return tf.pow(tf.reduce_sum(tf.pow(size, ord), axis, keepdims), 1 / ord)
    return tf.norm(size, ord, axis, keepdims)


def _matrix_norm(x: Any, ord: Any, axes: list[int], keepdims: bool) -> Any:
    if ord in ("fro", 1, float("inf")):
        return tf.norm(tf.abs(x), ord, axes, keepdims)
    x = moveaxis(x, axes, (-2, -1))
    if ord in (2, -2, "nuc"):
        values = tf.linalg.svd(x, compute_uv=False)
    elif ord in (-1, float("-inf")):
        values = tf.reduce_sum(tf.abs(x), -2 if ord == -1 else -1)
    else:
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={ord}")
    reduce = {2: tf.reduce_max, "nuc": tf.reduce_sum}.get(ord, tf.reduce_min)
    found = reduce(values, -1)
    return expand_dims(found, axes) if keepdims else found


def qr(x: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete"):
        raise ValueError(
            "`mode` argument value not supported. Expected one of "
            f"{{'reduced', 'complete'}}. Received: mode={mode}"
        )
    return tuple(tf.linalg.qr(as_float(x), full_matrices=mode == "complete"))


def _with_vectors(solve: Any) -> Any:
    """A function that solves for a matrix, for a vector as well."""

    def solved(a: Any, b: Any, **options: Any) -> Any:
        a, b = as_float(a), as_float(b)
        if len(b.shape) == len(a.shape) - 1:
            return tf.squeeze(solve(a, b[..., None], **options), -1)
        return solve(a, b, **options)

    return solved


solve = _with_vectors(tf.linalg.solve)


def solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    return _with_vectors(tf.linalg.triangular_solve)(a, b, lower=lower)


def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    found = tf.linalg.svd(as_float(x), full_matrices, compute_uv)
    if not compute_uv:
        return found
    s, u, v = found
    return u, s, tf.linalg.adjoint(v)


def pinv(x: Any, rcond: float | None = None) -> Any:
    u, s, vh = svd(x, full_matrices=False)
    if rcond is None:
        rcond = 10.0 * max(x.shape[-2:]) * np.finfo(dtype_of(s)).eps
    limit = tf.cast(rcond, s.dtype) * tf.reduce_max(s, -1, keepdims=True)
    is_large = s > limit
    inverse = tf.where(is_large, 1 / tf.where(is_large, s, tf.ones_like(s)), 0 * s)
    return tf.matmul(swapaxes(vh, -1, -2) * inverse[..., None, :], swapaxes(u, -1, -2))


def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    a, b = as_float(a), as_float(b)
    if rcond is None:
        rcond = np.finfo(dtype_of(a)).eps * max(a.shape)
    return _with_vectors(lambda a, b: tf.matmul(pinv(a, rcond), b))(a, b)


def matrix_rank(x: Any, tol: Any = None) -> Any:
    values = svd(x, compute_uv=False)
    if tol is None:
        largest = tf.reduce_max(values, -1, keepdims=True)
        tol = largest * max(x.shape[-2:]) * np.finfo(dtype_of(values)).eps
    else:
        tol = tf.cast(tol, values.dtype)
        tol = tol[..., None] if len(tol.shape) else tol
    return tf.reduce_sum(tf.cast(values > tol, "int32"), -1)


def jvp(fun: Any, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    with tf.autodiff.ForwardAccumulator(list(primals), list(tangents)) as accumulator:
        found = fun(*primals)
        result, aux = found if has_aux else (found, None)
    derivative = accumulator.jvp(result)
    return (result, derivative, aux) if has_aux else (result, derivative)
