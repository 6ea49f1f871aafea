"""Matrices taken apart and equations solved, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building

RANDOM = np.random.default_rng(0)

# --- decompositions -------------------------------------------------------------------


def positive(*batch: int) -> Any:
    x = RANDOM.normal(size=(*batch, 3, 3))
    return x @ x.swapaxes(-1, -2) + 3 * np.eye(3)


@pytest.mark.parametrize("batch", [(), (2,), (0,)])
def test_square_matrices(agree: Any, batch: Any) -> None:
    x, b = positive(*batch), RANDOM.normal(size=(*batch, 3, 2))

    inverse, adjoint, det, sign, logdet, solved, lower, triangular = agree(
        lambda t, r: [
            tf.linalg.inv(t),
            tf.linalg.inv(t, adjoint=True),
            tf.linalg.det(t),
            *tf.linalg.slogdet(t),
            tf.linalg.solve(t, r),
            tf.linalg.cholesky(t),
            tf.linalg.triangular_solve(t, r, lower=False),
        ],
        x,
        b,
    )

    np.testing.assert_allclose(
        inverse @ x, np.broadcast_to(np.eye(3), x.shape), atol=1e-9
    )
    np.testing.assert_allclose(adjoint, inverse.swapaxes(-1, -2), atol=1e-9)
    np.testing.assert_allclose(det, np.linalg.det(x))
    np.testing.assert_allclose(sign * np.exp(logdet), det)
    np.testing.assert_allclose(x @ solved, b, atol=1e-9)
    np.testing.assert_allclose(lower @ lower.swapaxes(-1, -2), x, atol=1e-9)
    np.testing.assert_allclose(np.triu(x) @ triangular, b, atol=1e-9)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 4, 3)])
def test_qr_and_svd(agree: Any, full: bool, shape: Any) -> None:
    x = RANDOM.normal(size=shape)

    q, r, s, u, v = agree(
        lambda t: [*tf.linalg.qr(t, full), *tf.linalg.svd(t, full)], x
    )
    (alone,) = agree(lambda t: tf.linalg.svd(t, compute_uv=False), x)

    np.testing.assert_allclose(q @ r, x, atol=1e-9)
    count = min(shape[-2:])
    rebuilt = u[..., :count] * s[..., None, :] @ v[..., :count].swapaxes(-1, -2)
    np.testing.assert_allclose(rebuilt, x, atol=1e-9)
    np.testing.assert_allclose(alone, s)


def test_eigenvalues_and_pseudo_inverse(agree: Any) -> None:
    x, y = positive(), RANDOM.normal(size=(4, 3))

    values, vectors, alone = agree(
        lambda t: [*tf.linalg.eigh(t), tf.linalg.eigvalsh(t)], x
    )
    (pseudo,) = agree(tf.linalg.pinv, y)

    np.testing.assert_allclose(vectors * values @ vectors.T, x, atol=1e-9)
    np.testing.assert_array_equal(values, alone)
    np.testing.assert_allclose(pseudo, np.linalg.pinv(y))


def test_logdet() -> None:
    np.testing.assert_allclose(
        tf.linalg.logdet([[2.0, 0.0], [0.0, 3.0]]).numpy(), np.log(6)
    )


# --- errors ---------------------------------------------------------------------------

X = tf.ones([2, 3])
BAD = [
    (lambda: tf.linalg.inv(X), r"must be square, not \(2, 3\)"),
    (lambda: tf.linalg.inv([1.0]), r"a matrix \(or a batch of them\) is needed"),
    (lambda: tf.linalg.inv([[1]]), "does not take a int32"),
    (lambda: tf.linalg.solve(tf.eye(2), tf.ones([3, 1])), "must have as many rows"),
    (lambda: tf.linalg.solve(tf.eye(2), [1.0, 2.0]), "a matrix"),
    (lambda: tf.linalg.cholesky(X), "must be square"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with (
        building(Graph("g")),
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        function()


def test_matrices_without_the_property() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.inv([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.function(tf.linalg.solve)(tf.zeros([2, 2]), tf.ones([2, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive definite"):
        tf.linalg.cholesky([[-1.0]])
