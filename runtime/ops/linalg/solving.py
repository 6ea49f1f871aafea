"""Equations, ranks and diagonals that are made of factorizations."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, UnimplementedError
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arguments import together
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


def _tridiagonal(diagonals: Any, form: str) -> Any:
    """The matrix in full, of what is given for its three diagonals."""
    if form == "matrix":
        return tf.band_part(as_tensor(diagonals), 1, 1)
    if form == "compact":
        x: Any = as_tensor(diagonals)
        if x.shape.rank is not None and (
            x.shape.rank < 2 or x.shape[-2] not in (3, None)
        ):
            raise InvalidArgumentError(
                f"three rows are needed, not the shape {x.shape}"
            )
        above, main, below = (x[..., k, :] for k in range(3))
    elif form == "sequence":
        above, main, below = together(diagonals, "MatrixDiagV3", None)
    else:
        raise InvalidArgumentError(
            f"diagonals_format is 'compact', 'sequence' or 'matrix', not {form!r}"
        )
    if above.shape[-1] == main.shape[-1]:
        above = above[..., :-1]
    if below.shape[-1] == main.shape[-1]:
        below = below[..., 1:]
    return tf.diag(above, 1) + tf.diag(main) + tf.diag(below, -1)


def tridiagonal_matmul(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Any:
    """The product of a matrix with three diagonals and a matrix.

    The diagonals are three rows, that above the main one first, whose last element is
    not read, as is the first one of that below ("compact"); three tensors, which may
    leave these elements out ("sequence"); or the matrix ("matrix"). The matrix is made
    in full.

    >>> tridiagonal_matmul([[1, 0], [2, 4], [0, 3]], [[1], [2]]).numpy().tolist()
    [[4], [11]]
    """
    return tf.matmul(_tridiagonal(diagonals, diagonals_format), rhs, name=name)


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Any:
    """The x of ``matrix @ x = rhs``, a vector or matrix, for three diagonals.

    They are given as for `tridiagonal_matmul`. The matrix is made in full, and rows are
    always swapped as they need. Raises InvalidArgumentError if it is not invertible.

    >>> tridiagonal_solve([[1.0, 0.0], [2.0, 4.0], [0.0, 0.0]], [4.0, 8.0]).numpy()
    array([1., 2.], dtype=float32)
    """
    if perturb_singular:
        raise UnimplementedError("there is no perturb_singular: add a small diagonal")
    given = _tridiagonal(diagonals, diagonals_format), rhs
    matrix, rhs = together(given, "MatrixSolve", name)
    rhs = tf.conj(rhs) if conjugate_rhs else rhs
    if rhs.shape.rank is not None and rhs.shape.rank + 1 == matrix.shape.rank:
        return tf.squeeze(tf.solve(matrix, tf.expand_dims(rhs, -1), name=name), -1)
    rhs = tf.matrix_transpose(rhs) if transpose_rhs else rhs
    return tf.solve(matrix, rhs, name=name)


def banded_triangular_solve(
    bands: Any,
    rhs: Any,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Any:
    """As `triangular_solve`, of a matrix whose diagonals are the rows of `bands`.

    The first row is the main diagonal and the others are those below it; row k begins
    with k elements that are not read. Without `lower` the last row is the main diagonal
    and the others are those above, which end with as many. The matrix is made in full.

    >>> banded_triangular_solve([[1.0, 2.0], [0.0, 1.0]], [[1.0], [5.0]]).numpy()
    array([[1.],
           [2.]], dtype=float32)
    """
    bands, rhs = together((bands, rhs), "MatrixTriangularSolve", name)
    if bands.shape.rank in (None, 0, 1) or bands.shape[-2] is None:
        raise InvalidArgumentError(f"the bands must be known, as rows: {bands.shape}")
    rows = tf.unstack(bands, axis=-2)
    rows = (rows if lower else rows[::-1])[: bands.shape[-1]]
    if lower:
        parts = [tf.diag(row[..., k:], -k) for k, row in enumerate(rows)]
    else:
        parts = [tf.diag(row[..., : -k or None], k) for k, row in enumerate(rows)]
    return tf.triangular_solve(tf.add_n(parts), rhs, lower, adjoint, name)


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
