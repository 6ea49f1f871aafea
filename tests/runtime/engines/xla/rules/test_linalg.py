"""Linear algebra on XLA. What is not unique is compared by what it multiplies to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.autodiff import op_cases
from tests.runtime.engines.xla.sweep import compare
from tests.runtime.ops.comparison import Case
from tests.runtime.ops.reduce.test_decompositions import drawn

pytest.importorskip("jax")

linalg = tf.linalg


def of_doubles() -> Iterator[Case]:
    for op, _, function, inputs, _ in op_cases.cases():
        if op in ("MatrixSolve", "MatrixTriangularSolve"):
            arrays = tuple(x.numpy() for x in inputs)
            yield Case(op, function, arrays, 2000, True, ("full",))


def parts_of_qr(x: Any, full: bool) -> Any:
    q, r = linalg.qr(x, full)
    return [linalg.matmul(q, r), linalg.matmul(q, q, adjoint_a=True), tf.shape(r)]


def parts_of_svd(x: Any, full: bool) -> Any:
    s, u, v = linalg.svd(x, full)
    squares = [linalg.matmul(w, w, adjoint_a=True) for w in (u, v)]
    count = s.shape[-1]
    product = u[..., :count] * tf.cast(s[..., None, :], u.dtype)
    return [s, *squares, linalg.matmul(product, v[..., :count], adjoint_b=True)]


def parts_of_eigh(x: Any) -> Any:
    values, vectors = linalg.eigh(x)
    product = vectors * tf.cast(values[..., None, :], vectors.dtype)
    return [values, linalg.matmul(product, vectors, adjoint_b=True)]


def of_parts() -> Iterator[Case]:
    for dtype, *shapes in ((np.float32, (4, 3), (2, 3, 4)), (np.complex64, (3, 2))):
        for shape in shapes:
            x = drawn(*shape, dtype=dtype)
            for full in (False, True):

                def qr(x: Any, full: bool = full) -> Any:
                    return parts_of_qr(x, full)

                def svd(x: Any, full: bool = full) -> Any:
                    return parts_of_svd(x, full)

                yield Case("Qr", qr, (x,), 200, True, ("full",))
                yield Case("Svd", svd, (x,), 200, True, ("full",))
        # Only the lower triangle is read.
        x = drawn(2, 3, 3, dtype=dtype)
        yield Case("SelfAdjointEigV2", parts_of_eigh, (x,), 200, True, ("full",))
        square = np.matmul(x, x.conj().swapaxes(-1, -2)) + np.eye(3, dtype=dtype)
        square[0, 0, 1:] = 9
        for given in (square, square[:0], square[:, :0, :0]):
            yield Case("Cholesky", linalg.cholesky, (given,), 200, True)
            yield Case("LogMatrixDeterminant", linalg.slogdet, (given,), 200, True)


def triangle(matrix: Any, rhs: Any) -> Any:
    return linalg.triangular_solve(matrix, rhs, lower=False)


def of_trouble() -> Iterator[Case]:
    """What has no solution."""
    ones, right = np.ones((3, 3)), tf.ones([3, 1], tf.float64)
    undefined = np.full((3, 3), np.nan)
    half = np.stack([np.eye(3), -np.eye(3)])
    upper = np.array([[1.0, 2, 3], [0, 0, 1], [0, 0, 2]])
    for x in (ones, undefined, half, upper):
        yield Case("Cholesky", linalg.cholesky, (x,), 9)
        yield Case("LogMatrixDeterminant", linalg.slogdet, (x,), 9)
        yield Case("MatrixSolve", lambda x: linalg.solve(x, right), (x,), 9)
        yield Case("MatrixTriangularSolve", lambda x: triangle(x, right), (x,), 9)
    yield Case("Svd", parts_of_values, (undefined,))
    yield Case("SelfAdjointEigV2", linalg.eigvalsh, (undefined,))
    yield Case("Cholesky", linalg.cholesky, (drawn(2, 3),), known=("rank unknown",))
    yield Case(
        "MatrixSolve", linalg.solve, (drawn(2, 2), drawn(3, 1)), known=("rank unknown",)
    )


def parts_of_values(x: Any) -> Any:
    return linalg.svd(x, compute_uv=False)


@pytest.mark.parametrize(
    "cases", [of_doubles, pytest.param(of_parts, marks=pytest.mark.slow), of_trouble]
)
def test_linear_algebra(cases: Any) -> None:
    compare(cases())
