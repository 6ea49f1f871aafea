"""The gamma function and its kin, and quantiles, on arrays of float64.

Each is written as arithmetic on whole arrays; `in_double` hands them blocks that stay
in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.ops.kernels.buffers import borrow, give_back

# --- The error function, as arithmetic on blocks of an array

# ``erf(x)`` is ``tanh(x * P(x * x))`` for a function P that is smooth and grows
# slowly, so that a short fraction stands for it. The fractions here are minimax ones:
# of all with as many terms, the largest relative error of ``erf`` is smallest (found
# in 70 digits by the iteration of Sanathanan and Koerner, 1963, with the weights of
# Lawson, 1961). Left alone they are off by 3e-9 (float32) and 2e-18 (float64), far
# below one unit in the last place; what rounding adds stays below 4 units for
# float32, and 3 for float64.

Array = np.ndarray[Any, Any]

#: As many elements at a time as stay in the cache with what is computed of them.
ERF_BLOCK = 1 << 16

#: ``1 / P(t)`` for float32: A + B/(t + C + D/(t + E + F/(t + G))). Nothing in it can
#: overflow to NaN, and it ends at A for infinite `t`.
_A, _B, _C, _D, _E, _F, _G = (
    np.array(value, np.float32)
    for value in (
        *(0.149165869, 7.9551148, 12.9326206, -5.48482161),
        *(-12.0771804, 274.110504, 18.7225513),
    )
)

#: ``P(t)`` for float64: a quotient of polynomials, the highest power first. All their
#: coefficients are positive, so that no digits cancel.
_NUMERATOR = (
    *(0.014869813283621964, 7.670123170090099, 505.2652925165724, 15554.387039646654),
    *(319842.37847961136, 4629250.412342787, 48705306.39419257, 360711231.2582566),
    *(1931185258.1014469, 6516770426.262527, 13887029275.82383),
)
_DENOMINATOR = (
    *(1.0, 141.25653411795744, 5415.210275398848, 133188.66054986563),
    *(2138889.63695077, 26052880.01718573, 209494052.67547798, 1289826859.1565943),
    *(4654412329.115003, 12307059258.785793),
)

#: From here on ``erf`` is 1 in double precision.
_END = 6.0


def erf(x: Any, out: Array | None = None) -> Any:
    """The error function of an array of floats; into `out`, which must not be `x`.

    >>> erf(np.array([0.0, 0.5, np.inf]))
    array([0.        , 0.52049988, 1.        ])
    """
    x = np.asarray(x)
    if x.dtype == np.float16:
        wide = erf(x.astype(np.float32))
        if out is None:
            return wide.astype(np.float16)
        out[...] = wide
        return out
    source = np.ascontiguousarray(x).reshape(-1)
    result = np.empty(x.shape, x.dtype) if out is None else out
    whole = result if result.flags.c_contiguous else np.empty(x.shape, x.dtype)
    flat = whole.reshape(-1)
    compute: Any
    compute, count = (_in_single, 1) if x.dtype == np.float32 else (_in_double, 2)
    size = min(x.size, ERF_BLOCK)
    parts = [borrow(size, x.dtype) for _ in range(count)]
    try:
        for start in range(0, x.size, ERF_BLOCK):
            block = source[start : start + ERF_BLOCK]
            places = [part[: block.size] for part in parts]
            compute(block, flat[start : start + ERF_BLOCK], *places)
    finally:
        give_back(parts)
    if whole is not result:
        result[...] = whole
    return result


def _in_single(x: Array, y: Array, t: Array) -> None:
    np.multiply(x, x, t)
    np.add(t, _G, y)
    for numerator, term in ((_F, _E), (_D, _C)):
        np.divide(numerator, y, y)
        np.add(y, term, y)
        np.add(y, t, y)
    np.divide(_B, y, y)
    np.add(y, _A, y)
    np.divide(x, y, y)
    np.tanh(y, y)


def _in_double(x: Array, y: Array, t: Array, value: Array) -> None:
    np.clip(x, -_END, _END, out=y)
    np.multiply(y, y, t)
    # In this order no tiny number loses digits.
    _polynomial_into(_NUMERATOR, t, value)
    np.multiply(y, value, y)
    _polynomial_into(_DENOMINATOR, t, value)
    np.divide(y, value, y)
    np.tanh(y, y)


def _polynomial_into(coefficients: Sequence[float], t: Array, y: Array) -> None:
    np.multiply(t, coefficients[0], y)
    for coefficient in coefficients[1:-1]:
        np.add(y, coefficient, y)
        np.multiply(y, t, y)
    np.add(y, coefficients[-1], y)


#: As many elements at a time as stay in the cache with what is computed of them.
BLOCK = 1 << 13


def in_double(function: Callable[[Array], Any]) -> Callable[[Array], Array]:
    """A kernel that computes in double precision, block by block."""

    def kernel(x: Array) -> Array:
        x = np.asarray(x)
        source = x.reshape(-1)
        result = np.empty(x.size, x.dtype)
        for start in range(0, x.size, BLOCK):
            part = slice(start, start + BLOCK)
            result[part] = function(source[part].astype(np.float64))
        return result.reshape(x.shape)

    return kernel


def _polynomial(coefficients: Sequence[float], t: Array) -> Array:
    """The value at `t`; the highest power is first."""
    value: Array = t * coefficients[0]
    for coefficient in coefficients[1:-1]:
        value += coefficient
        value *= t
    value += coefficients[-1]
    return value


# --- gamma ----------------------------------------------------------------------------

#: ``(-1)**k * (zeta(k) - 1) / k``, the highest k first, down to k = 2 and then that of
#: k = 1: the Taylor series of ``lgamma(2 + z)`` (Abramowitz and Stegun, 6.1.33).
TAYLOR = (
    *(-2.7595228851242334e-10, 5.731367241678862e-10, -1.1921401405860912e-09),
    *(2.4836745438024785e-09, -5.183475041970047e-09, 1.0838659214896955e-08),
    *(-2.2711094608943164e-08, 4.7698101693639804e-08, -1.0043224823968099e-07),
    *(2.1207184805554665e-07, -4.492469198764566e-07, 9.55141213040742e-07),
    *(-2.039215753801366e-06, 4.374866789907488e-06, -9.439488275268397e-06),
    *(2.050721277567069e-05, -4.492623673813314e-05, 9.945751278180853e-05),
    *(-0.00022315475845357939, 0.0005096695247430425, -0.001192753911703261),
    *(0.0028905103307415234, -0.007385551028673986, 0.020580808427784546),
    *(-0.0673523010531981, 0.3224670334241132, 0.42278433509846713),
)

#: From here on the asymptotic series is exact enough (6.1.41), the highest power first.
FAR = 8.0
STIRLING = (
    *(-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188),
    *(-1 / 1680, 1 / 1260, -1 / 360, 1 / 12),
)


def lgamma(x: Array) -> Array:
    """The logarithm of the absolute value of the gamma function."""
    # Those below 1/2 are reflected at it.
    low = x < 0.5
    y = np.where(low, 1 - x, x)
    near, far = y < FAR, y >= FAR
    result = np.full_like(y, math.nan)
    if near.any():
        result[near] = _lgamma_near(y[near])
    if far.any():
        result[far] = _lgamma_far(y[far])
    if low.any():
        mirrored = x[low]
        sine = np.abs(np.sin(math.pi * (mirrored - 2 * np.rint(mirrored / 2))))
        # At whole numbers the sine is 0 but for rounding, and this is a pole.
        sine[mirrored == np.rint(mirrored)] = 0
        result[low] = np.log(math.pi / sine) - result[low]
        result[np.isinf(x)] = math.inf
    return result


def _lgamma_near(y: Array) -> Array:
    """For numbers from 1/2 to 8: as that of a number within 1/2 of 2."""
    steps = np.floor(y - 1.5)
    z = y - 2 - steps
    factor = np.where(steps < 0, 1 / y, 1)
    for step in range(int(FAR - 2)):
        np.multiply(factor, z + (2 + step), out=factor, where=steps > step)
    value: Array = _polynomial(TAYLOR, z) * z
    below = steps < 0
    value[below] -= np.log1p(y[below] - 1)
    value[~below] += np.log(factor[~below])
    return value


def _lgamma_far(y: Array) -> Array:
    inverse = 1 / y
    series: Array = _polynomial(STIRLING, inverse * inverse) * inverse
    series += (math.log(2 * math.pi) - 1) / 2
    series += (y - 0.5) * (np.log(y) - 1)
    return series


def digamma(x: Array) -> Array:
    """The derivative of `lgamma`."""
    pole = (x <= 0) & (x == np.floor(x))
    # Reflection for negative numbers, recurrence up to 10, then the asymptotic series.
    z = np.where(x < 0, 1 - x, x)
    shift = np.zeros_like(z)
    for _ in range(10):
        small = z < 10
        if not small.any():
            break
        np.subtract(shift, 1 / z, out=shift, where=small)
        np.add(z, 1, out=z, where=small)
    w = 1 / (z * z)
    series = 1 / 132 - w * (691 / 32760 - w / 12)
    series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * series))))
    result = np.log(z) - 1 / (2 * z) - series + shift
    negative = x < 0
    if negative.any():
        result[negative] -= math.pi / np.tan(math.pi * x[negative])
    result[pole] = math.nan
    return result


# --- what is left of the error function -----------------------------------------------

#: ``erfc(x) * exp(x * x) * (1 + 2 * x)`` for positive x as a series of Chebyshev's
#: polynomials of ``(x - 3.75) / (x + 3.75)`` (Shepherd and Laframboise, 1981), the
#: highest first; found in 40 digits.
_CHEBYSHEV = (
    *(5.068148904796111e-17, 7.418235256624044e-17, -1.2507950530688648e-15),
    *(-1.864562880419313e-15, 3.3478119482868056e-14, 3.25254814814874e-14),
    *(-9.65469674843344e-13, 1.9455868545777347e-13, 2.86879501093067e-11),
    *(-6.318088340886684e-11, -7.754400208831351e-10, 4.521959811218287e-09),
    *(1.076499946567091e-08, -2.1886401049234397e-07, 7.74038306619849e-07),
    *(4.13902798607301e-06, -6.916973302501207e-05, 0.0004907758365258086),
    *(-0.002413163540417608, 0.009074997670705265, -0.026658668435305753),
    *(0.05920993999819189, -0.08424913336651792, -0.004590054580646478),
    1.1775789345674017,
)


def erfc(x: Array) -> Array:
    """``1 - erf(x)``, exact where that is small."""
    # From 30 on it is 0.
    size = np.minimum(np.abs(x), 30)
    t = (size - 3.75) / (size + 3.75)
    value, before = np.zeros_like(t), np.zeros_like(t)
    for coefficient in _CHEBYSHEV[:-1]:
        value, before = 2 * t * value - before + coefficient, value
    value = (t * value - before + _CHEBYSHEV[-1]) / (1 + 2 * size)
    # The square of the first digits is exact.
    first = np.floor(size * 16) / 16
    value *= np.exp(-first * first) * np.exp((first - size) * (first + size))
    result: Array = np.where(x < 0, 2 - value, value)
    return result


# --- quantiles ------------------------------------------------------------------------

# The fractions of Wichura (1988), "Algorithm AS 241: The Percentage Points of the
# Normal Distribution", Applied Statistics 37 (3): in the middle, in the tails, far out.
MIDDLE = (
    (
        *(2509.0809287301226727, 33430.575583588128105, 67265.770927008700853),
        *(45921.953931549871457, 13731.693765509461125, 1971.5909503065514427),
        *(133.14166789178437745, 3.387132872796366608),
    ),
    (
        *(5226.495278852854561, 28729.085735721942674, 39307.89580009271061),
        *(21213.794301586595867, 5394.1960214247511077, 687.1870074920579083),
        *(42.313330701600911252, 1.0),
    ),
)
TAIL = (
    (
        *(7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177),
        *(1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055),
        *(4.6303378461565452959, 1.42343711074968357734),
    ),
    (
        *(1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966),
        *(0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494),
        *(2.05319162663775882187, 1.0),
    ),
)
FAR_OUT = (
    (
        *(
            2.01033439929228813265e-7,
            2.71155556874348757815e-5,
            1.2426609473880784386e-3,
        ),
        *(0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358),
        *(5.4637849111641143699, 6.6579046435011037772),
    ),
    (
        *(2.04426310338993978564e-15, 1.4215117583164458887e-7),
        *(1.8463183175100546818e-5, 7.868691311456132591e-4, 0.0148753612908506148525),
        *(0.13692988092273580531, 0.59983220655588793769, 1.0),
    ),
)


def _fraction(parts: tuple[Sequence[float], Sequence[float]], r: Array) -> Array:
    result: Array = _polynomial(parts[0], r) / _polynomial(parts[1], r)
    return result


def quantile(p: Array) -> Array:
    """The number that a standard normal number is below with the probability `p`."""
    q = p - 0.5
    middle = np.abs(q) <= 0.425
    result = _fraction(MIDDLE, 0.180625 - q * q) * q
    if not middle.all():
        outside = ~middle
        q, p = q[outside], p[outside]
        r = np.sqrt(-np.log(np.where(q <= 0, p, 1 - p)))
        tail = np.where(r <= 5, _fraction(TAIL, r - 1.6), _fraction(FAR_OUT, r - 5))
        tail[np.isinf(r)] = math.inf
        result[outside] = np.where(q < 0, -tail, tail)
    return result


def erfinv(x: Array) -> Array:
    """The inverse of the error function."""
    y = quantile((x + 1) / 2) / math.sqrt(2)
    # (x + 1) / 2 forgets the last digits of a small x; two Newton steps restore them.
    small = np.abs(x) < 0.5
    if small.any():
        wanted, near = x[small], y[small]
        for _ in range(2):
            slope = np.exp(near * near) * (math.sqrt(math.pi) / 2)
            near -= (erf(near) - wanted) * slope
        y[small] = near
    return y


def erfcinv(x: Array) -> Array:
    """The inverse of ``1 - erf(x)``."""
    return -quantile(x / 2) / math.sqrt(2)
