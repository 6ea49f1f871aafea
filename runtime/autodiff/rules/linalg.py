"""Gradients of products and factorizations of matrices."""

from __future__ import annotations

from typing import Any

from runtime.ops.arrays.shape import expand_dims
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.elementwise.complex_numbers import complex, conj, imag, real
from runtime.ops.gradient_shapes import sum_to
from runtime.ops.linalg.factorizations import inv, solve, triangular_solve
from runtime.ops.linalg.matrices import adjoint, band_part, diag_part, set_diag
from runtime.ops.linalg.products import matmul


@gradient("MatMul", "BatchMatMulV2")
def _matmul(node: Applied, g: Any) -> Any:
    a, b = node.inputs
    flip_a, flip_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    ca, cb = _conjugated(a), _conjugated(b)
    by_a = by_b = None
    if node.wanted[0]:
        if flip_a:
            by_a = matmul(cb, g, transpose_a=flip_b, transpose_b=True)
        else:
            by_a = matmul(g, cb, transpose_b=not flip_b)
        by_a = _unbatched(by_a, a, b)
    if node.wanted[1]:
        if flip_b:
            by_b = matmul(g, ca, transpose_a=True, transpose_b=flip_a)
        else:
            by_b = matmul(ca, g, transpose_a=not flip_a)
        by_b = _unbatched(by_b, b, a)
    return [by_a, by_b]


def _conjugated(x: Any) -> Any:
    return conj(x) if x.dtype.is_complex else x


def _unbatched(gradient: Any, x: Any, other: Any) -> Any:
    """Summed over the batches that `x` was repeated for."""
    if x.shape.rank == 2 and gradient.shape.rank == 2:
        return gradient
    if x.shape.is_fully_defined() and gradient.shape == x.shape:
        return gradient
    if (
        x.shape.rank is not None
        and x.shape.rank == other.shape.rank
        and None not in x.shape[:-2].as_list()
        and x.shape[:-2] == other.shape[:-2]
    ):
        return gradient
    return sum_to(gradient, x)


@gradient("MatrixInverse")
def _inverse(node: Applied, g: Any) -> Any:
    y = node.outputs[0]
    if node.attrs["adjoint"]:
        return [-matmul(y, matmul(adjoint(g), y))]
    other = adjoint(y)
    return [-matmul(other, matmul(g, other))]


@gradient("MatrixDeterminant")
def _determinant(node: Applied, g: Any) -> Any:
    x, y = node.inputs[0], node.outputs[0]
    factor = expand_dims(expand_dims(g * conj(y), -1), -1)
    return [factor * adjoint(inv(x))]


@gradient("LogMatrixDeterminant")
def _log_determinant(node: Applied, by_sign: Any, g: Any) -> Any:
    factor = g
    if node.inputs[0].dtype.is_complex:
        # By the angle of the determinant, too.
        angle = imag(by_sign * conj(node.outputs[0]))
        factor = complex(real(g), angle)
    factor = expand_dims(expand_dims(factor, -1), -1)
    return [factor * adjoint(inv(node.inputs[0]))]


@gradient("PseudoInverse")
def _pseudo_inverse(node: Applied, g: Any) -> Any:
    # G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear
    # least squares problems whose variables separate", 1973: where the rank stays.
    x, y, g = node.inputs[0], node.outputs[0], adjoint(g)
    flipped = adjoint(y)
    left, right = matmul(g, matmul(y, flipped)), matmul(matmul(flipped, y), g)
    found = left - matmul(x, matmul(y, left)) + right - matmul(matmul(right, y), x)
    return [found - matmul(flipped, matmul(adjoint(g), flipped))]


@gradient("MatrixSolve")
def _solve(node: Applied, g: Any) -> Any:
    matrix, _ = node.inputs
    x, flipped = node.outputs[0], node.attrs["adjoint"]
    by_rhs = solve(matrix, g, adjoint=not flipped)
    if flipped:
        by_matrix = -matmul(x, by_rhs, adjoint_b=True)
    else:
        by_matrix = -matmul(by_rhs, x, adjoint_b=True)
    return [by_matrix, by_rhs]


@gradient("MatrixTriangularSolve")
def _triangular_solve(node: Applied, g: Any) -> Any:
    matrix, rhs = node.inputs
    x, flipped, lower = node.outputs[0], node.attrs["adjoint"], node.attrs["lower"]
    by_rhs = triangular_solve(matrix, g, lower=lower, adjoint=not flipped)
    if flipped:
        by_matrix = -matmul(x, by_rhs, adjoint_b=True)
    else:
        by_matrix = -matmul(by_rhs, x, adjoint_b=True)
    by_matrix = band_part(by_matrix, -1, 0) if lower else band_part(by_matrix, 0, -1)
    return [sum_to(by_matrix, matrix), sum_to(by_rhs, rhs)]


@gradient("Cholesky")
def _cholesky(node: Applied, g: Any) -> Any:
    factor = node.outputs[0]
    inner = matmul(factor, g, adjoint_a=True)
    inner = set_diag(inner, diag_part(inner) / 2)
    middle = band_part(inner, -1, 0)
    # L^-H middle L^-1, and its symmetric part.
    left = triangular_solve(factor, middle, lower=True, adjoint=True)
    found = adjoint(triangular_solve(factor, adjoint(left), lower=True, adjoint=True))
    return [(found + adjoint(found)) / 2]
