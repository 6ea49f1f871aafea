"""The special functions, against those of the standard library."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from runtime.ops.kernels import special as kernels

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)


def each(function: Callable[[float], float], x: Array) -> Array:
    return np.array([function(value) for value in x.tolist()])


@pytest.mark.parametrize(
    ("low", "high"), [(1e-9, 0.5), (0.5, 2.5), (2.5, 8), (8, 50), (1e3, 1e300)]
)
def test_lgamma(low: float, high: float) -> None:
    x = RANDOM.uniform(low, high, 300)

    # Next to 1 and 2, where it is 0, the standard library loses digits.
    np.testing.assert_allclose(
        kernels.lgamma(x), each(math.lgamma, x), rtol=1e-14, atol=2e-15
    )


def test_lgamma_of_negative_numbers() -> None:
    x = RANDOM.uniform(-30, 0, 300)
    np.testing.assert_allclose(
        kernels.lgamma(x), each(math.lgamma, x), rtol=1e-11, atol=1e-11
    )
    poles = np.array([0.0, -0.0, -1, -2, -1e16, np.inf, -np.inf])
    with np.errstate(all="ignore"):
        assert (kernels.lgamma(poles) == math.inf).all()
        assert np.isnan(kernels.lgamma(np.array([np.nan]))).all()


def test_lgamma_next_to_its_zeros() -> None:
    z = np.array([1e-3, 1e-8, -1e-8, 1e-12])
    # Abramowitz and Stegun, 6.1.33, in two terms.
    slope, bend = 1 - np.euler_gamma, (math.pi**2 / 6 - 1) / 2

    found = kernels.lgamma(2 + z)

    exact = (2 + z) - 2
    np.testing.assert_allclose(found[1:], (slope * exact + bend * exact**2)[1:])


def test_quantiles() -> None:
    for p in (RANDOM.random(300), 10.0 ** -RANDOM.uniform(0, 300, 300)):
        expected = each(NormalDist().inv_cdf, p)
        np.testing.assert_allclose(kernels.quantile(p), expected, rtol=1e-15)
    with np.errstate(all="ignore"):
        found = kernels.quantile(np.array([0, 1, -0.1, 1.1, np.nan]))
    np.testing.assert_array_equal(found, [-np.inf, np.inf, *[np.nan] * 3])


def test_erfinv() -> None:
    x = np.concatenate([RANDOM.uniform(-1, 1, 300), [1e-10, -1e-200, 0]])

    found = kernels.erfinv(x)

    np.testing.assert_allclose(each(math.erf, found), x, rtol=1e-14)
    np.testing.assert_allclose(kernels.erfcinv(1 - x[:300]), found[:300], rtol=1e-9)


@pytest.mark.parametrize(("low", "high"), [(-6, 0), (0, 1), (1, 5), (5, 26)])
def test_erfc(low: float, high: float) -> None:
    x = RANDOM.uniform(low, high, 300)
    np.testing.assert_allclose(kernels.erfc(x), each(math.erfc, x), rtol=2e-15)


def test_erfc_of_extremes() -> None:
    x = np.array([np.inf, 40, -40, -np.inf, np.nan])
    np.testing.assert_array_equal(kernels.erfc(x), [0, 0, 2, 2, np.nan])


def test_blocks_make_one_array(monkeypatch: Any) -> None:
    x = RANDOM.random((7, 5)).astype("float32")
    expected = kernels.in_double(kernels.digamma)(x.T)
    monkeypatch.setattr(kernels, "BLOCK", 4)
    np.testing.assert_array_equal(kernels.in_double(kernels.digamma)(x.T), expected)
