"""The LU decomposition, and what is solved and inverted by it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import together
from runtime.ops.arrays.dimensions import length, lengths
from runtime.ops.convert import as_tensor
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.linalg.factorizations import (
    SINGULAR,
    over_adjoint,
    solving,
    square_dims,
    triangular_solve,
)
from runtime.ops.operands import define, run
from runtime.ops.shapes import spec

Array = np.ndarray[Any, Any]


class Lu(NamedTuple):
    """The factors of a matrix in one, and the order of its rows."""

    lu: Any
    p: Any


def _infer_lu(x: TensorSpec, *, output_idx_type: DType) -> Any:
    dims = square_dims(x)
    order = None if dims is None else dims[:-1]
    return spec(dims, x.dtype), spec(order, output_idx_type)


def _lu(x: Array, *, output_idx_type: DType) -> tuple[Array, Array]:
    *batch, rows, columns = x.shape
    if rows != columns:
        raise ValueError
    factors = x.reshape(int(np.prod(batch)), rows, rows).copy()
    order = np.tile(np.arange(rows, dtype=output_idx_type.np_dtype), (len(factors), 1))
    each = np.arange(len(factors))
    for k in range(rows):
        pivot = k + np.abs(factors[:, k:, k]).argmax(-1)
        for items in (factors, order):
            items[each, k], items[each, pivot] = items[each, pivot], items[each, k]
        if not (np.abs(factors[:, k, k]) > 0).all():  # also of what is no number
            raise np.linalg.LinAlgError
        factors[:, k + 1 :, k] /= factors[:, k, None, k]
        below, right = factors[:, k + 1 :, k, None], factors[:, k, None, k + 1 :]
        factors[:, k + 1 :, k + 1 :] -= below * right
    return factors.reshape(x.shape), order.reshape(*batch, rows)


define("Lu", solving(_lu, SINGULAR), _infer_lu, takes="fc", family="linalg")


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Lu:
    """The factors L and U of a square matrix whose rows are in the order `p`.

    The result has the fields `lu`, in which U is the upper triangle with the diagonal
    and L what is below, with ones on its diagonal, and `p`: row i of ``L @ U`` is row
    ``p[i]`` of the matrix. Raises InvalidArgumentError if the matrix is not invertible.

    >>> factors, order = lu([[1.0, 2.0], [4.0, 4.0]])
    >>> factors.numpy().tolist(), order.numpy().tolist()
    ([[4.0, 4.0], [0.25, 1.0]], [1, 0])
    """
    kind = as_dtype(output_idx_type)
    return Lu(*run("Lu", as_tensor(input), output_idx_type=kind, name=name))


@gradient("Lu")
def _lu_gradient(node: Applied, g: Any, _: Any) -> Any:
    # As for `Qr`, by S. Walter and L. Lehmann, 2010.
    lower, upper = _both(node.outputs[0])
    below = tf.matmul(lower, _below(g), adjoint_a=True)
    above = tf.matmul(tf.band_part(g, 0, -1), upper, adjoint_b=True)
    middle = _below(below) + tf.band_part(above, 0, -1)
    found = over_adjoint(triangular_solve(lower, middle, adjoint=True), upper)
    return [_rows(found, tf.argsort(node.outputs[1]))]


def _both(factors: Any) -> tuple[Any, Any]:
    """L, with ones on its diagonal, and U."""
    ones = tf.ones_like(tf.diag_part(factors))
    lower = tf.set_diag(tf.band_part(factors, -1, 0), ones)
    return lower, tf.band_part(factors, 0, -1)


def _below(x: Any) -> Any:
    return tf.band_part(x, -1, 0) - tf.band_part(x, 0, 0)


def _rows(x: Any, order: Any) -> Any:
    """The rows of matrices in an order, which each matrix of a batch may have."""
    order = as_tensor(order)
    if (x.shape.rank or 0) < 2 or order.shape.rank is None:
        # `gather` must know the axes of the batch; `matmul` refuses what is no matrix.
        return tf.matmul(tf.one_hot(order, length(order, -1), dtype=x.dtype), x)
    if order.shape.rank != 1:
        order += tf.zeros(lengths(x)[:-1], order.dtype)
        x = tf.broadcast_to(x, [*lengths(order), length(x, -1)])
    return tf.gather(x, order, axis=-2, batch_dims=order.shape.rank - 1)


def lu_solve(
    lower_upper: Any,
    perm: Any,
    rhs: Any,
    validate_args: bool = False,
    name: str | None = None,
) -> Any:
    """The x of ``matrix @ x = rhs``, where `lu` gave `lower_upper` and `perm`.

    Whether shapes fit is checked in any case.

    >>> lu_solve(*lu([[2.0, 0.0], [0.0, 4.0]]), [[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """
    factors, rhs = together((lower_upper, rhs), "MatrixTriangularSolve", name)
    lower, upper = _both(factors)
    half = triangular_solve(lower, _rows(rhs, perm))
    return triangular_solve(upper, half, lower=False, name=name)


def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """The inverse of the matrix of which `lu` gave `lower_upper` and `perm`."""
    factors = as_tensor(lower_upper)
    one = tf.eye(length(factors, -1), dtype=factors.dtype)
    return lu_solve(factors, perm, one, name=name)


def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """The matrix of which `lu` gave `lower_upper` and `perm`."""
    factors = as_tensor(lower_upper)
    product = tf.matmul(*_both(factors))
    return tf.identity(_rows(product, tf.argsort(perm)), name)
