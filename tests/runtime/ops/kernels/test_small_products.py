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
    product,
)

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)


def draw(*shape: int, dtype: str = "float32") -> Array:
    return RANDOM.normal(size=shape).astype(dtype)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with AVX-512, but with pieces of few rows and columns."""
    values = {"SHORT_WAY": True, "SMALL": 4000, "NARROW": 64, "DEEP": 4}
    values |= {"TALL": 24, "MANY": 1, "MANY_ROWS": 30}
    for name, value in values.items():
        monkeypatch.setattr(kernels, name, value)


@pytest.mark.parametrize("height", [1, 8, 33, 50])
@pytest.mark.parametrize("width", [1, 10, 16, 45])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products(small_pieces: None, height: int, width: int, dtype: str) -> None:
    left, right = draw(height, 30, dtype=dtype), draw(30, width, dtype=dtype)

    found = product(left, right)

    assert found.dtype == dtype
    np.testing.assert_allclose(found, left.astype("f8") @ right, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(product(left, right), found)


@pytest.mark.parametrize("rows", [1, 19, 80, 83])
def test_deep_products(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(kernels, "SMALL", 20 * 3 * 5)
    left, right = draw(rows, 3, dtype="float64"), draw(rows, 5, dtype="float64")
    np.testing.assert_allclose(deep_product(left, right), left.T @ right)


def test_what_is_not_taken_to_pieces(small_pieces: None) -> None:
    left, right = draw(40, 30), draw(30, 40)
    for one, other in (
        (left.T[:30], right[:, ::2][:40]),
        (left.astype("float16"), right.astype("float16")),
        (left.astype("complex64"), right.astype("complex64")),
        (draw(40, 1000), draw(1000, 30)),
        (draw(0, 30), right),
        (left[:, :0], right[:0]),
    ):
        one, other = one[:, : len(other)], other[: one.shape[1]]
        np.testing.assert_array_equal(product(one, other), one.dot(other))


@pytest.mark.parametrize("width", [4, 100])
def test_stacks(small_pieces: None, width: int) -> None:
    rows, matrix, out = draw(2, 3, 37, 20), draw(2, 1, 20, width), np.empty(1)
    assert is_small(matrix)
    # Every third row of the result, as convolutions have it.
    out = np.zeros((2, 3, 37 * 3, width), "float32")

    multiply(rows, matrix, out[:, :, ::3])

    np.testing.assert_allclose(out[:, :, ::3], rows @ matrix, rtol=1e-4, atol=1e-4)
    assert not out[:, :, 1::3].any()


@pytest.mark.parametrize("stack", [(5,), (2, 3), (1, 1, 4)])
@pytest.mark.parametrize("flip", [False, True])
def test_stacks_of_matrices(small_pieces: None, stack: Any, flip: bool) -> None:
    left, right = draw(*stack, 9, 12), draw(*stack, 12, 10)
    given = np.ascontiguousarray(right.swapaxes(-1, -2)) if flip else right

    found = tf.matmul(left, given, transpose_b=flip).numpy()

    np.testing.assert_allclose(found, left @ right, rtol=1e-4, atol=1e-5)
    for one, other in ((left[:1], right), (left, right[..., :0]), (left, right[0])):
        found = tf.matmul(one, other).numpy()
        np.testing.assert_allclose(found, one @ other, rtol=1e-4, atol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="12, must be as many"):
        tf.matmul(left, right[..., :11, :])


def test_graphs_take_the_same_way(agree: Any, monkeypatch: Any) -> None:
    left, right = draw(64, 130), draw(130, 128)
    for known in (True, False):
        spec = tf.TensorSpec(left.shape if known else [None, None])
        concrete = tf.function(tf.matmul).get_concrete_function(spec, right)
        assert "product(a, b)" in concrete.to_source()
        found = concrete(tf.constant(left), tf.constant(right))
        np.testing.assert_array_equal(found, tf.matmul(left, right))
    agree(tf.matmul, left, right)
    agree(
        lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True),
        left.T,
        right.T,
    )


def test_matrices_that_do_not_fit() -> None:
    left, right = tf.constant(draw(64, 130)), tf.constant(draw(131, 128))
    unknown = tf.TensorSpec([None, None])
    for call in (tf.matmul, tf.function(tf.matmul, input_signature=[unknown, unknown])):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="130, must be as many"
        ):
            call(left, right)
