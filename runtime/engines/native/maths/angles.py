"""Sines, and what belongs to them."""

from __future__ import annotations

import math

from runtime.engines.native.maths.expressions import Number, below, polynomial, select

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
    True: (
        -0.16666655242443085,
        0.008332173340022564,
        -0.00019516656175255775,
    ),
    False: (
        -0.16666666666666632,
        0.008333333333322316,
        -0.00019841269829725351,
        2.7557313662092466e-06,
        -2.5050753268391437e-08,
        1.5896505109754381e-10,
    ),
}
_COS = {
    True: (
        0.04166664555668831,
        -0.0013887309469282627,
        2.4432414647890255e-05,
    ),
    False: (
        0.041666666666666595,
        -0.0013888888888872895,
        2.480158728874832e-05,
        -2.755731414865852e-07,
        2.0875696577018596e-09,
        -1.1358310706879313e-11,
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


#: ``(atan(t) - t) / t**3`` in ``t * t``, for t of at most 1.
_ATAN = {
    True: (
        -0.33333298563957214,
        0.19998539984226227,
        -0.14264148473739624,
        0.1095164343714714,
        -0.08401713520288467,
        0.05792536213994026,
        -0.031143318861722946,
        0.010894807055592537,
        -0.001788918860256672,
    ),
    False: (
        -0.33333333333333287,
        0.19999999999990317,
        -0.14285714285028,
        0.1111111108615729,
        -0.09090908541389876,
        0.07692299633402057,
        -0.06666582988099798,
        0.058817111221882046,
        -0.05259407885458284,
        0.047448238687752456,
        -0.04286077198669033,
        0.038202518646767665,
        -0.03277114956498739,
        0.02613042130375074,
        -0.018589491593522037,
        0.011295461090723626,
        -0.005597313459818684,
        0.0021441034643825156,
        -0.000590332063207195,
        0.0001033322429247085,
        -8.601454913993898e-06,
    ),
}
#: ``(asin(s) - s) / s**3`` in ``s * s``, for s of at most 1/2.
_ASIN = {
    True: (
        0.16666659712791443,
        0.07500506937503815,
        0.044516339898109436,
        0.031813185662031174,
        0.014416765421628952,
        0.03754865750670433,
    ),
    False: (
        0.16666666666666763,
        0.07499999999970387,
        0.04464285717502693,
        0.030381942686878067,
        0.02237221560282071,
        0.017351600521063437,
        0.013980963342757018,
        0.011397704612992806,
        0.010787233044763507,
        0.0036792690670259644,
        0.021775309533880724,
        -0.02109762258644845,
        0.03269180360190189,
    ),
}


def _less(x: Number, turns: float) -> Number:
    """So many quarters of a turn, less an angle."""
    high, low, _ = _HALF_PI[x.format.is_single]
    return turns * high - (x - turns * low)


def _atan_to_1(t: Number) -> Number:
    z = t * t
    return (t * z).fma(polynomial(z, _ATAN[t.format.is_single]), t)


def atan(x: Number) -> Number:
    """The inverse of the tangent."""
    size = abs(x)
    is_large = size > 1
    t = select(is_large, 1, size) / select(is_large, size, 1)
    found = _atan_to_1(t)
    return select(is_large, _less(found, 1), found).with_sign(x)


def atan2(y: Number, x: Number) -> Number:
    """The angle of a point."""
    high, wide = abs(y), abs(x)
    is_steep = high > wide
    t = select(is_steep, wide, high) / select(is_steep, high, wide)
    t = select(high.equals(wide), 1, t)  # Also of what is infinite.
    found = _atan_to_1(select(high.equals(0) & (wide >= 0), high, t))
    found = select(is_steep, _less(found, 1), found)
    return select(x.bits < 0, _less(found, 2), found).with_sign(y)


def _halved(x: Number) -> tuple[Number, Number]:
    """Whether ``abs(x)`` is above 1/2, and the arcsine of it or of what replaces it.

    That is half of the angle that is left: ``asin(sqrt((1 - abs(x)) / 2))``.
    """
    size = abs(x)
    is_large = size > 0.5
    z = select(is_large, size.fma(-0.5, 0.5), size * size)
    s = select(is_large, z.intrinsic("sqrt"), size)
    found = (s * z).fma(polynomial(z, _ASIN[x.format.is_single]), s)
    return is_large, found


def asin(x: Number) -> Number:
    """The inverse of the sine."""
    is_large, found = _halved(x)
    return select(is_large, _less(found * 2, 1), found).with_sign(x)


def acos(x: Number) -> Number:
    """The inverse of the cosine."""
    is_large, found = _halved(x)
    is_below = x < 0
    large = select(is_below, _less(found * 2, 2), found * 2)
    return select(is_large, large, _less(found.with_sign(x), 1))
