"""Products of matrices, decompositions, equations, and Fourier transforms.

Where NumPy raises, as for a matrix that is not invertible, the flag is raised.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import jax.scipy.linalg
from jax import lax

from runtime.engines.xla.flow import Step, Value, rule


def _adjoint(x: Value) -> Value:
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def _diagonal(x: Value) -> Value:
    return jnp.diagonal(x, axis1=-2, axis2=-1)


@rule("Cholesky", checks=True)
def _cholesky(step: Step, x: Value) -> Value:
    found = lax.linalg.cholesky(jnp.asarray(x), symmetrize_input=False)
    # NaNs are all over where it fails. Where they come from the matrix it does not, and
    # then the first one comes from there.
    first, given = (a[..., :1, :1] for a in (found, x))
    step.check(~jnp.isnan(first) | jnp.isnan(given))
    return found


def _batches(matrix: Value, rhs: Value) -> tuple[Value, Value]:
    """Both with the same axes in front of those of matrices."""
    batch = jnp.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    return (
        jnp.broadcast_to(matrix, (*batch, *matrix.shape[-2:])),
        jnp.broadcast_to(rhs, (*batch, *rhs.shape[-2:])),
    )


def _check_fits(matrix: Value, rhs: Value) -> None:
    if not matrix.shape[-2] == matrix.shape[-1] == rhs.shape[-2]:
        raise ValueError(f"equations of the shapes {matrix.shape} and {rhs.shape}")


def _triangle(matrix: Value, rhs: Value, **how: bool) -> Value:
    return lax.linalg.triangular_solve(matrix, rhs, left_side=True, **how)


@rule("MatrixSolve", checks=True)
def _solve(step: Step, matrix: Value, rhs: Value, adjoint: bool) -> Value:
    matrix, rhs = jnp.asarray(matrix), jnp.asarray(rhs)
    _check_fits(matrix, rhs)
    # NumPy finds a matrix singular where one of these pivots is exactly 0.
    factors, _, order = lax.linalg.lu(_adjoint(matrix) if adjoint else matrix)
    step.check(_diagonal(factors) != 0)
    order, rhs = _batches(order[..., None], rhs)
    factors, rhs = _batches(factors, jnp.take_along_axis(rhs, order, -2))
    below = _triangle(factors, rhs, lower=True, unit_diagonal=True)
    return _triangle(factors, below, lower=False)


@rule("MatrixTriangularSolve", checks=True)
def _triangular_solve(
    step: Step, matrix: Value, rhs: Value, lower: bool, adjoint: bool
) -> Value:
    matrix, rhs = _batches(jnp.asarray(matrix), jnp.asarray(rhs))
    _check_fits(matrix, rhs)
    step.check(_diagonal(matrix) != 0)
    return _triangle(matrix, rhs, lower=lower, transpose_a=adjoint, conjugate_a=adjoint)


@rule("Qr")
def _qr(step: Step, x: Value, full: bool) -> Any:
    return tuple(jnp.linalg.qr(x, mode="complete" if full else "reduced"))


@rule("Svd", checks=True)
def _svd(step: Step, x: Value, full: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        values = jnp.linalg.svd(x, compute_uv=False)
        step.check(~jnp.isnan(values))
        return values
    left, values, right = jnp.linalg.svd(x, full_matrices=full)
    step.check(~jnp.isnan(values))
    return values, left, _adjoint(right)


@rule("SelfAdjointEigV2", checks=True)
def _eigh(step: Step, x: Value) -> Any:
    values, vectors = jnp.linalg.eigh(x, UPLO="L", symmetrize_input=False)
    step.check(~jnp.isnan(values))
    return values, vectors


@rule("Eig", checks=True)
def _eig(step: Step, x: Value) -> Any:
    values, vectors = jnp.linalg.eig(x)
    step.check(~jnp.isnan(values))
    return values, vectors


@rule("Lu", checks=True)
def _lu(step: Step, x: Value, output_idx_type: Any) -> Any:
    _check_fits(x, x)
    # Of complex numbers LAPACK may take another pivot than NumPy code does: by the sum
    # of the absolute values of both parts.
    factors, _, order = lax.linalg.lu(x)
    step.check(jnp.abs(_diagonal(factors)) > 0)
    return factors, order.astype(output_idx_type.np_dtype)


@rule("MatrixExponential")
def _expm(step: Step, x: Value) -> Value:
    return jax.scipy.linalg.expm(x, max_squarings=128) if x.size else x


@rule("LogMatrixDeterminant")
def _slogdet(step: Step, x: Value) -> Any:
    sign, logarithm = jnp.linalg.slogdet(x)
    return sign, logarithm.astype(step.dtype)


@rule("MatMul", "BatchMatMulV2")
def _matmul(
    step: Step,
    x: Value,
    y: Value,
    transpose_a: bool = False,
    transpose_b: bool = False,
    **_: Any,
) -> Value:
    if min(jnp.ndim(x), jnp.ndim(y)) < 2:
        raise ValueError("a product of vectors")
    x = jnp.swapaxes(x, -1, -2) if transpose_a else x
    y = jnp.swapaxes(y, -1, -2) if transpose_b else y
    # Half precision would not hold long sums.
    wide = jnp.float32 if step.dtype == jnp.float16 else None
    found = jnp.matmul(x, y, precision="highest", preferred_element_type=wide)
    return found.astype(step.dtype)


@rule("FFT")
def _fft(step: Step, x: Value, axes: int, inverse: bool) -> Value:
    if not x.size:
        return x
    transform = jnp.fft.ifftn if inverse else jnp.fft.fftn
    return transform(x, axes=tuple(range(-axes, 0)))
