"""Sines, and what belongs to them."""

from __future__ import annotations

import math

from runtime.native.maths.expressions import Number, below, polynomial, select

__all__ = ["cos", "sin", "tan"]

#: Half of pi as the sum of three numbers, by `Format.is_single`.
_HALF_PI = {
    True: (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    False: (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
#: The angle from which on the remainder is too inexact.
_FAR = {True: 2.0**17, False: 2.0**30}

#: ``(sin(r) - r) / r**3`` and ``(cos(r) - 1 + r * r / 2) / r**4`` in ``r * r``, for r
#: of at most a quarter of pi.
_SIN = {
    True: (-0.16666653752326965, 0.008332131430506706, -0.00019510839774738997),
    False: (
        -0.16666666666666627,
        0.008333333333321286,
        -0.00019841269828870003,
        2.755731335597013e-06,
        -2.5050704032666245e-08,
        1.5893583516072468e-10,
    ),
}
_COS = {
    True: (0.04166664555668831, -0.0013887251261621714, 2.4425680749118328e-05),
    False: (
        0.04166666666666658,
        -0.0013888888888871375,
        2.480158728778254e-05,
        -2.7557313865411264e-07,
        2.087565755215261e-09,
        -1.1356265502685222e-11,
    ),
}


def _of_remainder(x: Number) -> tuple[Number, Number, Number]:
    """The sine and the cosine of ``r = x - n * pi / 2``, and n.

    Each part of pi / 2 is multiplied and subtracted with one rounding: first with none,
    since what is left is small, and a multiple of the last place of the first part.
    """
    single = x.format.is_single
    n, quarter = x.nearest(2 / math.pi)
    r = x
    for part in _HALF_PI[single]:
        r = n.fma(-part, r)
    z = r * r
    sine = (z * r).fma(polynomial(z, _SIN[single]), r)
    half = z * 0.5
    less = 1 - half
    cosine = less + (z * z).fma(polynomial(z, _COS[single]), (1 - less) - half)
    return sine, cosine, quarter


def _rotated(sine: Number, cosine: Number, quarter: Number) -> Number:
    """The sine of an angle so many quarters of a turn further."""
    found = select((quarter & 1).equals(0), sine, cosine)
    sign = (quarter & 2) << (found.format.width - 2)
    return (found.bits ^ sign).as_float


def sin(x: Number) -> Number:
    """The sine of an angle in radians."""
    found = select(x.equals(0), x, _rotated(*_of_remainder(x)))
    return below(_FAR[x.format.is_single], x, found, "sin")


def cos(x: Number) -> Number:
    """The cosine of an angle in radians."""
    sine, cosine, quarter = _of_remainder(x)
    found = _rotated(sine, cosine, quarter + 1)
    return below(_FAR[x.format.is_single], x, found, "cos")


def tan(x: Number) -> Number:
    """The tangent of an angle in radians."""
    sine, cosine, quarter = _of_remainder(x)
    is_even = (quarter & 1).equals(0)
    above = select(is_even, sine, -cosine)
    found = select(x.equals(0), x, above / select(is_even, cosine, sine))
    return below(_FAR[x.format.is_single], x, found, "tan")
