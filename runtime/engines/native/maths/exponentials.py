"""Powers of e, their logarithms, and the hyperbolic functions."""

from __future__ import annotations

import math

from runtime.engines.native.maths.expressions import Number, polynomial, select

_NAN, _INFINITY = math.nan, math.inf

#: ln 2 as the sum of two numbers, by `Format.is_single`.
LN2 = {
    True: (0.6931471824645996, -1.9046542121259336e-09),
    False: (0.6931471805599453, 2.3190468138462996e-17),
}

#: ``(exp(r) - 1 - r) / r**2`` for ``abs(r) <= ln(2) / 2``.
_EXP = {
    True: (
        0.4999999701976776,
        0.1666654348373413,
        0.04166720062494278,
        0.008366580121219158,
        0.0013882506173104048,
    ),
    False: (
        0.5000000000000006,
        0.16666666666666588,
        0.04166666666657612,
        0.008333333333389922,
        0.0013888888931793105,
        0.00019841269718437322,
        2.4801504980881386e-05,
        2.7557407768592453e-06,
        2.76261607072709e-07,
        2.5053809615255457e-08,
    ),
}


def exp_polynomial(r: Number) -> Number:
    """``(exp(r) - 1 - r) / r**2`` for a small r."""
    return polynomial(r, _EXP[r.format.is_single])


def divided(x: Number) -> tuple[Number, Number]:
    """``exp(x)`` as a power of 2, by its exponent, and ``exp(r) - 1`` of the rest.

    ``x = n * ln(2) + r``. The first of the subtractions has no error: what is left is
    small, and a multiple of the last place of the first part of ln 2.
    """
    high, low = LN2[x.format.is_single]
    n, exponent = x.nearest(1 / math.log(2))
    r = n.fma(-low, n.fma(-high, x))
    return exponent, (r * r).fma(exp_polynomial(r), r)


def exp(x: Number) -> Number:
    """The power of e."""
    single = x.format.is_single
    exponent, power = divided(x.within(*((-104, 89) if single else (-746, 710))))
    # In two steps, since the power of 2 may be out of range.
    half = exponent >> 1
    return (power + 1) * half.power_of_two * (exponent - half).power_of_two


def _quarter(x: Number) -> tuple[Number, Number]:
    """A quarter of ``exp(x) - 1``, and a quarter of ``exp(x)``: both are in range."""
    exponent, power = divided(x)
    scale = (exponent - 2).power_of_two
    return scale.fma(power, scale - 0.25), scale.fma(power, scale)


def expm1(x: Number) -> Number:
    """``exp(x) - 1``."""
    single = x.format.is_single
    quarter, _ = _quarter(x.within(*((-18, 89) if single else (-39, 710))))
    is_tiny = abs(x) < 2.0 ** -(x.format.digits + 2)
    return select(is_tiny, x, quarter * 4)


def sinh(x: Number) -> Number:
    """The hyperbolic sine: ``(e + e / (e + 1)) / 2`` where e is ``exp(x) - 1``."""
    quarter, _ = _quarter(abs(x).within(0, 89.5 if x.format.is_single else 710.5))
    return ((quarter + quarter / quarter.fma(4, 1)) * 2).with_sign(x)


def cosh(x: Number) -> Number:
    """The hyperbolic cosine: ``(e + 1 / e) / 2`` where e is ``exp(x)``."""
    _, quarter = _quarter(abs(x).within(0, 89.5 if x.format.is_single else 710.5))
    return quarter.fma(2, 0.125 / quarter)


def tanh(x: Number) -> Number:
    """The hyperbolic tangent: ``-e / (e + 2)`` where e is ``exp(-2 * x) - 1``."""
    furthest = 20.0 if x.format.is_single else 40.0
    exponent, power = divided((abs(x) * -2).within(-furthest, 0))
    scale = exponent.power_of_two
    less = scale.fma(power, scale - 1)
    return (less / (less + 2)).with_sign(x)


#: ``(2 * atanh(s) - 2 * s) / s**3`` as a polynomial in ``s**2``.
_LOG = {
    True: (
        0.6666677594184875,
        0.3997744917869568,
        0.29874420166015625,
    ),
    False: (
        0.6666666666666735,
        0.3999999999940748,
        0.28571428744141664,
        0.22222198378493443,
        0.18183575163224996,
        0.15313755840550147,
        0.1479906514419618,
    ),
}


def _exponent(x: Number) -> Number:
    """The n with ``x / 2**n`` between the roots of 1/2 and of 2; x is normal."""
    return (x.bits - x.format.bits(math.sqrt(0.5))) >> x.format.digits


def _log_near_1(f: Number, n: Number) -> Number:
    """``log(1 + f) + n * log(2)``, with ``log(1 + f) = 2 * atanh(f / (2 + f))``.

    ``2 * s`` is ``f - h + s * h`` where h is ``f * f / 2``: f itself is exact.
    """
    high, low = LN2[f.format.is_single]
    s = f / (f + 2)
    z = s * s
    half = f * f * 0.5
    rest = s.fma(z.fma(polynomial(z, _LOG[f.format.is_single]), half), n * low)
    return n.fma(high, f - (half - rest))


def split(x: Number) -> tuple[Number, Number]:
    """The f and whole n with ``x == (1 + f) * 2**n``; f is exact, x is positive."""
    form = x.format
    is_small = x < 2.0 ** (1 - form.bias)
    normal = select(is_small, x * 2.0**form.digits, x)
    n = _exponent(normal)
    f = (normal.bits - (n << form.digits)).as_float - 1
    return f, select(is_small, n - form.digits, n).converted


def log(x: Number) -> Number:
    """The natural logarithm."""
    return _with_limits(x, _log_near_1(*split(x)), 0)


def log1p(x: Number) -> Number:
    """``log(1 + x)``."""
    form = x.format
    n = _exponent(x + 1)
    # (1 + x) / 2**n - 1, rounded once. Four times the factor is no subnormal number.
    scale = (2 - n).power_of_two
    f = (x * 0.25).fma(scale, scale * 0.25 - 1)
    found = _with_limits(x, _log_near_1(f, n.converted), -1)
    return select(abs(x) < 2.0 ** -(form.digits + 2), x, found)


def _with_limits(x: Number, found: Number, least: float) -> Number:
    """The logarithm of what is infinite, NaN, 0 or less."""
    found = select(x < _INFINITY, found, x)
    found = select(x < least, _NAN, found)
    return select(x.equals(least), -_INFINITY, found)


def _log_of_double(x: Number, less_1: Number) -> Number:
    """``log(1 + less_1)``, or ``log(2 * x)`` where x is so large that they agree."""
    is_large = x > 2.0 ** (x.format.digits + 2)
    found = log1p(select(is_large, x, less_1))
    return found + select(is_large, x.number(math.log(2)), 0)


def asinh(x: Number) -> Number:
    """The inverse of the hyperbolic sine."""
    size = abs(x)
    square = size * size
    less_1 = size + square / ((square + 1).intrinsic("sqrt") + 1)
    return _log_of_double(size, less_1).with_sign(x)


def acosh(x: Number) -> Number:
    """The inverse of the hyperbolic cosine."""
    t = x - 1
    found = _log_of_double(x, t + t.fma(t, t * 2).intrinsic("sqrt"))
    return select(x < 1, _NAN, found)


def atanh(x: Number) -> Number:
    """The inverse of the hyperbolic tangent."""
    size = abs(x)
    return (log1p(size * 2 / (1 - size)) * 0.5).with_sign(x)
