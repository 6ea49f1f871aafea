"""Gradients of factorizations; vectors are squared: their signs are arbitrary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import GradientError
from tests.runtime.autodiff.checks import check_grads, sample

SHAPES = [(3, 3), (4, 2), (2, 4), (2, 3, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_singular_values(shape: tuple[int, ...]) -> None:
    x = sample(*shape)
    check_grads(lambda x: tf.linalg.svd(x, compute_uv=False), [x])
    check_grads(lambda x: tf.linalg.svd(x)[0], [x], order=1)
    check_grads(lambda x: tf.linalg.svd(x)[1] ** 2, [x], order=1)
    check_grads(lambda x: tf.linalg.svd(x)[2] ** 2, [x], order=1)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)], ids=str)
def test_eigenvalues(shape: tuple[int, ...]) -> None:
    def symmetric(x: Any) -> Any:
        return x + tf.linalg.matrix_transpose(x)

    x = sample(*shape)
    check_grads(lambda x: tf.linalg.eigh(symmetric(x))[0], [x])
    check_grads(lambda x: tf.linalg.eigh(symmetric(x))[1] ** 2, [x], order=1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_qr(shape: tuple[int, ...]) -> None:
    x = sample(*shape)
    check_grads(lambda x: tf.linalg.qr(x)[0], [x], order=1)
    check_grads(lambda x: tf.linalg.qr(x)[1], [x], order=1)


def test_all_rows_and_columns_of_the_space() -> None:
    x = sample(4, 2)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        q, _ = tf.linalg.qr(x, full_matrices=True)
        _, u, _ = tf.linalg.svd(x, full_matrices=True)
    for target in (q, u):
        with pytest.raises(GradientError, match="AG330"):
            tape.gradient(target, x)


def test_equal_eigenvalues_have_no_gradient_of_vectors() -> None:
    x = tf.eye(2, dtype=tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, vectors = tf.linalg.eigh(x)
    assert not np.isfinite(tape.gradient(vectors, x).numpy()).all()
