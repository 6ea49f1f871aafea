"""Softmax of rows: each by itself, and as exact as with the largest one subtracted."""

import numpy as np
import pytest

import runtime as tf
from runtime.ops.kernels.buffers import Unbuffered
from runtime.ops.nn import softmax
from runtime.ops.nn.softmax import LONG, softmax_rows


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def expected(x):
    wide = x.astype(np.longdouble)
    powers = np.exp(wide - wide.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def rows(dtype, length, seed=0):
    """Ordinary rows, and such that are very large, small, masked or far apart."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((9, length)) * 3
    shifts = [0, 1000, -1000, 80, -80, -8, 0, 40, 0]
    x += np.array(shifts)[:, np.newaxis]
    x[6, 1:] = -np.inf
    x[8, ::2] *= 20
    return x.astype(dtype)


@pytest.mark.parametrize("length", [1, 2, 30, 1000, LONG, LONG + 1])
@pytest.mark.parametrize(
    ("dtype", "error"), [(np.float16, 4e-3), (np.float32, 2e-6), (np.float64, 2e-15)]
)
def test_all_rows_are_as_exact(dtype, error, length):
    x = rows(dtype, length)
    found = softmax_rows(x, np.empty_like(x))
    tiny = float(np.finfo(dtype).tiny)
    np.testing.assert_allclose(found, expected(x), rtol=error, atol=tiny)


@pytest.mark.parametrize("length", [1, 7, 600, LONG + 7])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_row_does_not_depend_on_the_others(dtype, length):
    x = rows(dtype, length, seed=1)
    x[3, 0] = np.nan
    whole = softmax_rows(x, np.empty_like(x))
    for count in (1, 2, 5):
        with Unbuffered(length):
            parts = [
                softmax_rows(part, np.empty_like(part))
                for part in (x[i : i + count] for i in range(0, len(x), count))
            ]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_rows_without_a_softmax():
    inf, nan = np.inf, np.nan
    x = np.array([[inf, 0], [-inf, -inf], [nan, 1], [0, 0]], np.float32)
    found = softmax_rows(x, np.empty_like(x))
    assert np.isnan(found[:3]).all()
    np.testing.assert_array_equal(found[3], [0.5, 0.5])


def test_large_ones_in_blocks_and_along_other_axes(monkeypatch):
    monkeypatch.setattr(softmax, "BLOCK", 64)
    x = np.random.default_rng(0).standard_normal((3, 40, 13), np.float32)
    np.testing.assert_allclose(tf.nn.softmax(x), expected(x), rtol=1e-6)
    moved = np.moveaxis(expected(np.moveaxis(x, 1, -1)), -1, 1)
    np.testing.assert_allclose(tf.nn.softmax(x, axis=1), moved, rtol=1e-6)
    assert tf.nn.softmax(x[:, :0], axis=-1).shape == (3, 0, 13)
    strided = x[:, ::2]
    np.testing.assert_allclose(tf.nn.softmax(strided), expected(strided), rtol=1e-6)
