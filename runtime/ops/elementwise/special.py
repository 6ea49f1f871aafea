"""Special functions: gamma and its kin, quantiles, products that are 0 with 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.tensor import Tensor
from runtime.ops.arrays.creation import zeros_like
from runtime.ops.convert import as_tensor
from runtime.ops.elementwise.define import (
    FLOATS,
    INEXACT,
    binary_function,
    binary_op,
    unary_function,
    unary_op,
)
from runtime.ops.kernels import special as kernels
from runtime.ops.kernels.special import in_double
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
erfinv = unary_function("erfinv", "Erfinv", "The inverse of `erf`.")
erfcinv = unary_function("erfcinv", "Erfcinv", "The inverse of `erfc`.")
ndtri = unary_function("ndtri", "Ndtri", "The quantile of the normal distribution.")
digamma = unary_function("digamma", "Digamma", "The derivative of `lgamma`.")
xdivy = binary_function("xdivy", "Xdivy", "``x / y``, and 0 where `x` is 0.")
xlogy = binary_function("xlogy", "Xlogy", "``x * log(y)``, and 0 where `x` is 0.")
xlog1py = binary_function(
    "xlog1py", "Xlog1py", "``x * log(1 + y)``, and 0 where `x` is 0."
)


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
