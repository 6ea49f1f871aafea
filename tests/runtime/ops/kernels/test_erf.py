"""The error function against Python's, and what it does with memory."""

import math

import numpy as np
import pytest

import runtime as tf
from runtime.ops.kernels import special as module
from runtime.ops.kernels.special import erf

exact = np.vectorize(math.erf)


@pytest.mark.parametrize(("dtype", "units"), [(np.float32, 4), (np.float64, 3.5)])
def test_it_is_a_few_units_in_the_last_place_off_at_most(dtype, units):
    x = np.concatenate([np.linspace(-6.5, 6.5, 2001), np.geomspace(1e-30, 5, 500)])
    x = x.astype(dtype)
    expected = exact(x.astype(np.float64))
    error = np.abs(erf(x) - expected) / np.spacing(np.abs(expected.astype(dtype)))
    assert error.max() < units


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@np.errstate(all="ignore")
def test_ends_zeros_and_nan(dtype):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e4, -1e4], dtype)
    found = erf(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [0.0, -0.0, 1, -1, np.nan, 1, -1])
    assert np.signbit(found[1])
    huge = np.finfo(dtype).max
    assert erf(np.array([huge], dtype)) == 1


def test_tiny_numbers_keep_their_digits():
    x = np.array([1e-308, 5e-324])
    np.testing.assert_array_equal(erf(x), exact(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_layout_and_place(dtype, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)
    x = np.linspace(-3, 3, 48).astype(dtype).reshape(6, 8)
    whole = erf(x)
    np.testing.assert_array_equal(erf(x.T), whole.T)
    np.testing.assert_array_equal(erf(x[::2, 1:6]), whole[::2, 1:6])
    out = np.zeros((8, 6), dtype).T
    assert erf(x, out) is out
    np.testing.assert_array_equal(out, whole)
    assert erf(dtype(0.5)).shape == ()


def test_tensors():
    assert tf.math.erf(tf.constant([[0.5]])).shape == [1, 1]
