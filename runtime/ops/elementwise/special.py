"""Special functions: gamma and its kin, quantiles, products that are 0 with 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.graph.record import decomposes
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.arrays.creation import zeros_like
from runtime.ops.convert import as_tensor, cast
from runtime.ops.derivatives import partials
from runtime.ops.elementwise.factories import (
    FLOATS,
    INEXACT,
    binary_function,
    binary_op,
    one_of,
    unary_function,
    unary_op,
    zero_of,
)
from runtime.ops.kernels import special as kernels
from runtime.ops.kernels.special import FAR_OUT, MIDDLE, TAIL, in_double
from runtime.ops.reduce.reductions import reduce_sum

Array = np.ndarray[Any, Any]


# --- kernels --------------------------------------------------------------------------


def _zero_times(x: Array, product: Any) -> Any:
    """The product, and 0 where `x` is 0 even if the other factor is infinite or NaN."""
    return np.where(x == 0, x.dtype.type(0), product)


# --- ops ------------------------------------------------------------------------------

unary_op("Erfinv", in_double(kernels.erfinv), FLOATS)
unary_op("Erfcinv", in_double(kernels.erfcinv), FLOATS)
unary_op("Ndtri", in_double(kernels.quantile), FLOATS)
unary_op("Lgamma", in_double(kernels.lgamma), FLOATS)
unary_op("Digamma", in_double(kernels.digamma), FLOATS)
binary_op("Xdivy", lambda x, y: _zero_times(x, np.true_divide(x, y)), INEXACT)
binary_op("Xlogy", lambda x, y: _zero_times(x, x * np.log(y)), INEXACT)
binary_op("Xlog1py", lambda x, y: _zero_times(x, x * np.log1p(y)), INEXACT)


# --- functions ------------------------------------------------------------------------

lgamma = unary_function(
    "lgamma", "Lgamma", "The logarithm of the absolute value of the gamma function."
)
partials("Lgamma", lambda x, y: tf.digamma(x))
erfinv = unary_function("erfinv", "Erfinv", "The inverse of `erf`.")
partials("Erfinv", lambda x, y: math.sqrt(math.pi) / 2 * tf.exp(y * y))
erfcinv = unary_function("erfcinv", "Erfcinv", "The inverse of `erfc`.")


@decomposes("Erfcinv")
def _erfcinv_decomposed(x: Any) -> Any:
    wide = cast(x, dtypes.float64)
    return cast(-ndtri(wide / 2) / math.sqrt(2), x.dtype)


def _fraction(parts: tuple[Sequence[float], Sequence[float]], r: Any) -> Any:
    above, below = (_polynomial(part, r) for part in parts)
    return above / below


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """The value at `x`; the highest power is first."""
    value = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        value = (value + coefficient) * x
    return value + coefficients[-1]


ndtri = unary_function("ndtri", "Ndtri", "The quantile of the normal distribution.")


@decomposes("Ndtri")
def _ndtri_decomposed(p: Any) -> Any:
    wide = cast(p, dtypes.float64)
    q = wide - 0.5
    middle = _fraction(MIDDLE, 0.180625 - q * q) * q
    nearer = tf.where(q <= 0, wide, 1 - wide)
    r = tf.sqrt(-tf.log(nearer))
    tail = tf.where(r <= 5, _fraction(TAIL, r - 1.6), _fraction(FAR_OUT, r - 5))
    tail = tf.where(r == math.inf, r, tail)
    outside = tf.where(q < 0, -tail, tail)
    return cast(tf.where(tf.abs(q) <= 0.425, middle, outside), p.dtype)


digamma = unary_function("digamma", "Digamma", "The derivative of `lgamma`.")


def _trigamma(x: Any) -> Any:
    """The derivative of digamma: M. Abramowitz and I. Stegun, "Handbook of Mathematical
    Functions", 1964, 6.4.6 (the recurrence), 6.4.7 (negative numbers) and 6.4.12.
    """
    mirrored = x < 0.5
    z = tf.where(mirrored, 1 - x, x)
    total = zeros_like(z)
    for step in range(_TRIGAMMA_STEPS):
        total += 1 / ((z + step) * (z + step))
    z += _TRIGAMMA_STEPS
    inverse = 1 / (z * z)
    series = zeros_like(z)
    for factor in _TRIGAMMA_SERIES:
        series = (series + factor) * inverse
    total += (1 + 0.5 / z + series) / z
    turn = math.pi / tf.sin(math.pi * tf.where(mirrored, x, 0.5 * tf.ones_like(x)))
    return tf.where(mirrored, turn * turn - total, total)


_TRIGAMMA_STEPS = 10

#: The Bernoulli numbers B(14), B(12), … B(2).
_TRIGAMMA_SERIES = (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6)
partials("Digamma", lambda x, y: _trigamma(x))
xdivy = binary_function("xdivy", "Xdivy", "``x / y``, and 0 where `x` is 0.")


@decomposes("Xdivy")
def _xdivy_decomposed(x: Any, y: Any) -> Any:
    zero = x == 0
    return tf.where(zero, zero_of(x), x / tf.where(zero, one_of(y), y))


xlogy = binary_function("xlogy", "Xlogy", "``x * log(y)``, and 0 where `x` is 0.")


@decomposes("Xlogy")
def _xlogy_decomposed(x: Any, y: Any) -> Any:
    zero = x == 0
    return tf.where(zero, zero_of(x), x * tf.log(tf.where(zero, one_of(y), y)))


xlog1py = binary_function(
    "xlog1py", "Xlog1py", "``x * log(1 + y)``, and 0 where `x` is 0."
)


@decomposes("Xlog1py")
def _xlog1py_decomposed(x: Any, y: Any) -> Any:
    zero = x == 0
    return tf.where(zero, zero_of(x), x * tf.log1p(tf.where(zero, zero_of(y), y)))


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the multivariate beta function along the last dimension."""
    x = as_tensor(x)
    total: Tensor = reduce_sum(lgamma(x), axis=-1) - lgamma(reduce_sum(x, axis=-1))
    return total


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The value at `x` of a polynomial; the coefficient of the highest power is first.

    >>> polyval([1, 2, 3], 10)
    <tf.Tensor: shape=(), dtype=int32, numpy=123>
    """
    if not isinstance(coeffs, (list, tuple)):
        raise ValueError("the coefficients must be a list of tensors or numbers")
    x = as_tensor(x)
    value: Tensor = zeros_like(x)
    for coefficient in coeffs:
        value = value * x + coefficient
    return value
