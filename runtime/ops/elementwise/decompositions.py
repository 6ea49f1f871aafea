"""Elementwise ops written in others: see `runtime.passes.lowering`.

Where a branch of a choice may be infinite or NaN, its argument is replaced by a
harmless one first: the gradient of a choice multiplies that of the other branch by 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.ops.apply import apply
from runtime.ops.arrays.creation import ones, zeros
from runtime.ops.arrays.dimensions import alike
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.shape import identity, shape
from runtime.ops.convert import cast, constant
from runtime.ops.elementwise.arithmetic import maximum, minimum, not_equal
from runtime.ops.elementwise.functions import (
    abs,
    atan2,
    complex,
    conj,
    exp,
    imag,
    log,
    log1p,
    nextafter,
    real,
    rint,
    sqrt,
)
from runtime.ops.elementwise.logical import logical_not, logical_or
from runtime.ops.elementwise.special import ndtri
from runtime.ops.kernels.special import FAR_OUT, MIDDLE, TAIL

# --- arithmetic -----------------------------------------------------------------------


@decomposes("Square")
def _square(x: Any) -> Any:
    return x * x


@decomposes("Reciprocal")
def _reciprocal(x: Any) -> Any:
    return 1 / x


@decomposes("SquaredDifference")
def _squared_difference(x: Any, y: Any) -> Any:
    difference = x - y
    return difference * conj(difference)


@decomposes("DivNoNan")
def _div_no_nan(x: Any, y: Any) -> Any:
    zero = y == 0
    return where(zero, _zero(x), x / where(zero, _one(y), y))


@decomposes("MulNoNan")
def _mul_no_nan(x: Any, y: Any) -> Any:
    zero = y == 0
    return where(zero, _zero(x), where(zero, _zero(x), x) * y)


@decomposes("Xdivy")
def _xdivy(x: Any, y: Any) -> Any:
    zero = x == 0
    return where(zero, _zero(x), x / where(zero, _one(y), y))


@decomposes("Xlogy")
def _xlogy(x: Any, y: Any) -> Any:
    zero = x == 0
    return where(zero, _zero(x), x * log(where(zero, _one(y), y)))


@decomposes("Xlog1py")
def _xlog1py(x: Any, y: Any) -> Any:
    zero = x == 0
    return where(zero, _zero(x), x * log1p(where(zero, _zero(y), y)))


@decomposes("AddN")
def _add_n(*tensors: Any) -> Any:
    total = tensors[0]
    for tensor in tensors[1:]:
        left, right = alike(total, tensor)
        total = left + right
    return total


def _zero(x: Any) -> Any:
    return constant(0, x.dtype)


def _one(x: Any) -> Any:
    return constant(1, x.dtype)


# --- activations ----------------------------------------------------------------------


@decomposes("Sigmoid")
def _sigmoid(x: Any) -> Any:
    if x.dtype.is_complex:
        return 1 / (1 + exp(-x))
    # No power that can overflow: the gradient is finite everywhere.
    power = exp(-abs(x))
    return where(x < 0, power, _one(x)) / (1 + power)


@decomposes("Softplus")
def _softplus(x: Any) -> Any:
    return maximum(x, 0) + log1p(exp(-abs(x)))


@decomposes("Softsign")
def _softsign(x: Any) -> Any:
    return x / (1 + abs(x))


# --- questions, rounding, complex numbers ---------------------------------------------


@decomposes("IsNan")
def _is_nan(x: Any) -> Any:
    return not_equal(x, x)


@decomposes("IsInf")
def _is_inf(x: Any) -> Any:
    return abs(x) == math.inf


@decomposes("IsNone")
def _is_none(some: Any) -> Any:
    return logical_not(some)


@decomposes("IsNotNone")
def _is_not_none(some: Any) -> Any:
    return identity(some)


@decomposes("Round")
def _round(x: Any) -> Any:
    if x.dtype.is_complex:
        return complex(rint(real(x)), rint(imag(x)))
    # A number of Python stays one.
    return apply("Rint", x) if x.dtype.is_floating else x


@decomposes("Angle")
def _angle(x: Any) -> Any:
    if x.dtype.is_complex:
        return atan2(imag(x), real(x))
    return where(x < 0, constant(math.pi, x.dtype), _zero(x))


@decomposes("ComplexAbs")
def _complex_abs(x: Any) -> Any:
    first, second = abs(real(x)), abs(imag(x))
    large, small = maximum(first, second), minimum(first, second)
    # Divided by the larger part, so that no square overflows or vanishes.
    ratio = small / where(large == 0, _one(large), large)
    length = large * sqrt(1 + ratio * ratio)
    infinite = logical_or(first == math.inf, second == math.inf)
    return where(infinite, constant(math.inf, large.dtype), length)


@decomposes("ZerosLike")
def _zeros_like(x: Any, *, dtype: Any) -> Any:
    return zeros(shape(x), dtype)


@decomposes("OnesLike")
def _ones_like(x: Any, *, dtype: Any) -> Any:
    return ones(shape(x), dtype)


# --- quantiles ------------------------------------------------------------------------


@decomposes("Ndtri")
def _ndtri(p: Any) -> Any:
    wide = cast(p, dtypes.float64)
    q = wide - 0.5
    middle = _fraction(MIDDLE, 0.180625 - q * q) * q
    nearer = where(q <= 0, wide, 1 - wide)
    r = sqrt(-log(nearer))
    tail = where(r <= 5, _fraction(TAIL, r - 1.6), _fraction(FAR_OUT, r - 5))
    tail = where(r == math.inf, r, tail)
    outside = where(q < 0, -tail, tail)
    return cast(where(abs(q) <= 0.425, middle, outside), p.dtype)


@decomposes("Erfcinv")
def _erfcinv(x: Any) -> Any:
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


# --- neighbours -----------------------------------------------------------------------


@decomposes("LastBelow")
def _last_below(high: Any, low: Any) -> Any:
    return where(high > low, _next_below(high, low), low)


def _next_below(high: Any, low: Any) -> Any:
    """The largest number below `high`, which is above `low`."""
    if high.dtype is not dtypes.float16:
        return nextafter(high, low)
    # A step of 0.7 to 1.4 units in the last place is rounded to one.
    wide = cast(high, dtypes.float32)
    step = maximum(abs(wide) * 2.0**-10.5, 0.75 * 2.0**-24)
    below = cast(wide - step, dtypes.float16)
    return where(high == math.inf, constant(dtypes.float16.max, high.dtype), below)
