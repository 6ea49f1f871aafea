"""Products of matrices in pieces, against NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.ops.kernels import small_products as kernels
from runtime.ops.kernels.small_products import (
    deep_product,
    is_small,
    multiply,
)

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)


def draw(*shape: int, dtype: str = "float32") -> Array:
    return RANDOM.normal(size=shape).astype(dtype)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with AVX-512, but with pieces of few rows and columns."""
    values = {"SHORT_WAY": True, "SMALL": 4000, "NARROW": 64}
    for name, value in values.items():
        monkeypatch.setattr(kernels, name, value)


@pytest.mark.parametrize("rows", [1, 19, 80, 83])
def test_deep_products(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(kernels, "SMALL", 20 * 3 * 5)
    left, right = draw(rows, 3, dtype="float64"), draw(rows, 5, dtype="float64")
    np.testing.assert_allclose(deep_product(left, right), left.T @ right)


@pytest.mark.parametrize("width", [4, 100])
def test_stacks(small_pieces: None, width: int) -> None:
    rows, matrix, out = draw(2, 3, 37, 20), draw(2, 1, 20, width), np.empty(1)
    assert is_small(matrix)
    # Every third row of the result, as convolutions have it.
    out = np.zeros((2, 3, 37 * 3, width), "float32")

    multiply(rows, matrix, out[:, :, ::3])

    np.testing.assert_allclose(out[:, :, ::3], rows @ matrix, rtol=1e-4, atol=1e-4)
    assert not out[:, :, 1::3].any()


def test_matrices_that_do_not_fit() -> None:
    left, right = tf.constant(draw(64, 130)), tf.constant(draw(131, 128))
    unknown = tf.TensorSpec([None, None])
    for call in (tf.matmul, tf.function(tf.matmul, input_signature=[unknown, unknown])):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="130, must be as many"
        ):
            call(left, right)
