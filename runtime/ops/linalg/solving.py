"""Equations, ranks and diagonals that are made of factorizations."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arrays.creation import eye
from runtime.ops.checks.assertions import Assert
from runtime.ops.convert import as_tensor, cast, constant


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """The solution of ``chol @ adjoint(chol) @ x = rhs``; `chol` is as of `cholesky`.

    >>> cholesky_solve([[2.0]], [[8.0]]).numpy().tolist()
    [[2.0]]
    """
    chol = as_tensor(chol)
    half = tf.triangular_solve(chol, rhs)
    return tf.triangular_solve(chol, half, adjoint=True)


def lstsq(
    matrix: Any,
    rhs: Any,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Any:
    """The x for which the squares of ``matrix @ x - rhs`` have the least sum.

    To that the squares of x are added `l2_regularizer` times. `fast` solves the normal
    equations, for matrices of full rank; otherwise x is the shortest one, by the
    pseudo-inverse, and there is no regularizer.

    >>> lstsq([[1.0], [1.0]], [[1.0], [3.0]]).numpy().tolist()
    [[2.0]]
    """
    matrix, rhs = as_tensor(matrix), as_tensor(rhs)
    if not fast:
        return tf.matmul(tf.pinv(matrix), rhs)
    rows, columns = matrix.shape.as_list()[-2:]
    if rows is None or columns is None:
        raise InvalidArgumentError(
            f"the last dimensions of the matrix must be known, not {matrix.shape}; "
            "with fast=False they need not be"
        )
    is_wide = rows < columns
    gram = tf.matmul(matrix, matrix, adjoint_a=not is_wide, adjoint_b=is_wide)
    if l2_regularizer:
        size = rows if is_wide else columns
        gram += cast(l2_regularizer, matrix.dtype) * eye(size, dtype=matrix.dtype)
    factor = tf.cholesky(gram)
    if is_wide:
        return tf.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)
    return cholesky_solve(factor, tf.matmul(matrix, rhs, adjoint_a=True))


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Any:
    """How many singular values are larger than `tol`, as int32.

    Without `tol` those count that rounding could not have made: the largest one times
    the larger dimension times the precision of the dtype, as in `numpy`.

    >>> int(matrix_rank([[1.0, 2.0], [2.0, 4.0]]))
    1
    """
    a = as_tensor(a)
    values = tf.svd(a, compute_uv=False)
    if tol is None:
        size = tf.reduce_max(tf.shape(a)[-2:])
        precision = constant(np.finfo(values.dtype.as_numpy_dtype).eps, values.dtype)
        largest = tf.reduce_max(values, -1, keepdims=True)
        tol = precision * cast(size, values.dtype) * largest
    return tf.reduce_sum(cast(values > tol, dtypes.int32), -1)


def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """The array of twice the rank that has these elements where both halves of an index
    are equal, and zeros elsewhere.

    >>> tensor_diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    x: Any = as_tensor(diagonal)
    shape = tf.shape(x)
    flat = tf.diag(tf.reshape(x, [-1]))
    return tf.reshape(flat, tf.concat([shape, shape], 0))


def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """The inverse of `tensor_diag`: the elements with two equal halves of an index."""
    x: Any = as_tensor(input)
    count = (x.shape.rank or 1) // 2
    if x.shape.rank is None or x.shape.rank % 2:
        raise InvalidArgumentError(f"the rank must be known and even: {x.shape}")
    half, other = tf.shape(x)[:count], tf.shape(x)[count:]
    Assert(tf.reduce_all(half == other), ["the halves of a shape differ:", half, other])
    size = tf.reduce_prod(half)
    return tf.reshape(tf.diag_part(tf.reshape(x, tf.stack([size, size]))), half)
