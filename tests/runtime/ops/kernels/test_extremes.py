"""Extremes of arrays and numbers in blocks: what the ufunc gives, to the last bit."""

import numpy as np
import pytest

import runtime as tf
from runtime.ops.kernels import extremes
from runtime.ops.kernels.extremes import extreme


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(extremes, "FEW", 1)
    monkeypatch.setattr(extremes, "BLOCK", 8)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i4", "u8"])
@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum])
def test_numbers_on_either_side(ufunc, dtype):
    x = (np.arange(35).reshape(5, 7) - 17).astype(dtype)
    if x.dtype.kind == "f":
        x.flat[[3, 4, 20, 30]] = [0.0, -0.0, np.nan, np.inf]
    for number in (0, x.dtype.type(5), np.array(3, dtype)):
        expected = ufunc(x, number)
        out = np.empty_like(x)
        assert extreme(ufunc, x, number).tobytes() == expected.tobytes()
        assert extreme(ufunc, number, x, out=out) is out
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(extreme(ufunc, x.T, number), expected.T)
        inside = x.copy()
        extreme(ufunc, inside, number, out=inside)
        np.testing.assert_array_equal(inside, expected)


def test_relu():
    x = np.linspace(-1, 1, 50, dtype=np.float32)
    np.testing.assert_array_equal(tf.nn.relu(x), np.maximum(x, 0))
    nothing = np.zeros((0, 3), np.float32)
    assert tf.nn.relu(nothing).shape == (0, 3)


def test_two_numbers(monkeypatch):
    monkeypatch.setattr(extremes, "FEW", 2)
    assert extreme(np.maximum, np.float32(-1), 0) == 0
    assert extreme(np.minimum, 3, np.array(2)) == 2
