"""Powers of any numbers."""

from __future__ import annotations

import math

from runtime.engines.native.maths.exponentials import LN2, exp_polynomial, split
from runtime.engines.native.maths.expressions import Number, polynomial, select

_INFINITY = math.inf

#: ln 2 in two parts, of which the first one has no error when it is multiplied by an
#: exponent, by `Format.is_single`; then 2 / 3 in two parts.
_EXACT_LN2 = {
    True: (0.693145751953125, 1.4286068203094172e-06),
    False: (0.6931471803691238, 1.9082149292705877e-10),
}
_TWO_THIRDS = {
    True: (0.6666666865348816, -1.9868215517249155e-08),
    False: (0.6666666666666666, 3.700743415417188e-17),
}
#: ``(2 * atanh(s) - 2 * s - s**3 * 2 / 3) / s**5`` in ``s * s``.
_LOG = {
    True: (
        0.40000152587890625,
        0.2854703366756439,
        0.23421058058738708,
    ),
    False: (
        0.4000000000000229,
        0.2857142857008369,
        0.2222222252288675,
        0.1818178409741816,
        0.15386770197234054,
        0.13256508580759083,
        0.1319928108193448,
    ),
}

#: A number as the sum of two, the second one at most the rounding error of the first.
Pair = tuple[Number, Number]


def _sum(x: Number, y: Number) -> Pair:
    """The sum, and its rounding error, if x is 0 or not smaller than y (Dekker)."""
    high = x + y
    return high, (x - high) + y


def _product(x: Number, y: Number) -> Pair:
    """The product, and its rounding error."""
    high = x * y
    return high, x.fma(y, -high)


def _log(x: Number) -> Pair:
    """The logarithm of a positive number with half as many digits again, and more.

    ``2 * atanh(s)`` is ``2 * s + s**3 * (2 / 3 + z * (...))`` with z for ``s * s``. All
    sums and products have their errors with them, but those of the last bracket.
    """
    single = x.format.is_single
    f, n = split(x)
    # s = f / (2 + f)
    below, below_error = _sum(f.number(2), f)
    inverse = 1 / below
    s = f * inverse
    rest = (-s).fma(below_error, (-s).fma(below, f))
    s_error = rest * inverse
    # z = s * s and w = s * z
    z, z_error = _product(s, s)
    z_error = (s * 2).fma(s_error, z_error)
    w, w_error = _product(s, z)
    w_error = s.fma(z_error, s_error.fma(z, w_error))
    two_thirds, two_thirds_error = _TWO_THIRDS[single]
    p, p_error = _sum(f.number(two_thirds), z * polynomial(z, _LOG[single]))
    v, v_error = _product(w, p)
    v_error = w.fma(p_error + two_thirds_error, w_error.fma(p, v_error))
    high, low = _EXACT_LN2[single]
    total, error = _sum(n * high, s * 2)
    total, more = _sum(total, v)
    error = error + more + (s_error.fma(2, v_error) + n * low)
    return _sum(total, error)


def _exp(x: Number, low: Number) -> Number:
    """``exp(x + low)`` with nearly no error but that of the last rounding."""
    ln2, rest = LN2[x.format.is_single]
    n, exponent = x.nearest(1 / math.log(2))
    r, r_error = _sum(n.fma(-ln2, x), n.fma(-rest, low))
    one, error = _sum(r.number(1), r)
    found = one + ((r * r).fma(exp_polynomial(r), r_error) + error)
    half = exponent >> 1
    return found * half.power_of_two * (exponent - half).power_of_two


def pow(x: Number, y: Number) -> Number:
    """The power of x; a negative number has those of whole numbers."""
    single = x.format.is_single
    size = abs(x)
    log, log_error = _log(size)
    product = y * log
    limited = product.within(*((-104, 89) if single else (-746, 710)))
    low = y.fma(log_error, y.fma(log, -product))
    low = select(limited.equals(product), low, 0.0)
    found = _exp(limited, low)
    # Where the logarithm is none, or multiplied by infinity.
    is_below = y < 0
    found = select(size.equals(1), 1.0, found)
    found = select(size.equals(0), select(is_below, y.number(_INFINITY), 0.0), found)
    found = select(
        size.equals(_INFINITY), select(is_below, y.number(0), _INFINITY), found
    )
    # Signs.
    half = y * 0.5
    is_whole = y.intrinsic("rint").equals(y)
    is_odd = is_whole & (half.intrinsic("rint").equals(half) ^ True)
    is_negative = x.bits < 0
    found = select(is_negative & is_odd, -found, found)
    has_none = (x < 0) & (size < _INFINITY) & (is_whole ^ True)
    found = select(has_none, math.nan, found)
    found = select(x.equals(x) & y.equals(y), found, math.nan)
    return select(x.equals(1) | y.equals(0), 1.0, found)
