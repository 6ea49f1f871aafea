"""The polynomials with the least largest errors, for `runtime.engines.native.maths`.

    python -m benchmarks.minimax [names]

Prints the coefficients of each, the lowest power first, and the largest error over the
interval, as a power of 2. They are found by the algorithm of Remez (1934): polynomials
whose errors at some points are equal and of changing signs, where these points are
moved to the extremes of the error until they stay.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mpf

__all__ = ["POLYNOMIALS", "Polynomial", "main", "remez"]

DIGITS = 60
#: Points where errors are computed, and steps at most.
POINTS, STEPS = 600, 25

Real = Any
Of = Callable[[Real], Real]


def remez(
    function: Of, low: Real, high: Real, degree: int, weight: Of
) -> tuple[list[Real], Real]:
    """The coefficients, and the largest ``weight * (polynomial - function)``."""
    middle, radius = (low + high) / 2, (high - low) / 2
    angles = [mpmath.pi * (2 * k + 1) / (2 * POINTS) for k in range(POINTS)]
    points = [middle - radius * mpmath.cos(angle) for angle in angles]
    values, weights = [function(t) for t in points], [weight(t) for t in points]
    extremes = [round((POINTS - 1) * k / (degree + 1)) for k in range(degree + 2)]
    for _ in range(STEPS):
        rows = [
            [
                *(points[k] ** power for power in range(degree + 1)),
                (-1) ** i / weights[k],
            ]
            for i, k in enumerate(extremes)
        ]
        solved = mpmath.lu_solve(
            mpmath.matrix(rows), mpmath.matrix([values[k] for k in extremes])
        )
        found = list(solved[: degree + 1])
        errors = [
            w * (mpmath.polyval(found[::-1], t) - value)
            for t, value, w in zip(points, values, weights)
        ]
        largest, following = max(map(abs, errors)), _extremes(errors, degree + 2)
        level = abs(solved[degree + 1])
        if len(following) < degree + 2 or largest < level * mpf("1.001"):
            break
        extremes = following
    return found, largest


def _extremes(errors: Sequence[Real], count: int) -> list[int]:
    """Where errors of changing signs are largest: so many places, in order."""
    found: list[int] = []
    for k, error in enumerate(errors):
        if not found or (errors[found[-1]] > 0) != (error > 0):
            found.append(k)
        elif abs(error) > abs(errors[found[-1]]):
            found[-1] = k
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found


class Polynomial(NamedTuple):
    """A function, the interval, and the degrees for float32 and float64.

    Errors are multiplied by the weight: what is left is relative to the result.
    """

    function: Of
    interval: tuple[Real, Real]
    degrees: tuple[int, int]
    weight: Of
    #: The interval for float64, where it is another.
    for_double: tuple[Real, Real] | None = None


def of_root(function: Of, near_0: Real) -> Of:
    """A function of the root, which is a limit at 0."""

    def of_square(z: Real) -> Real:
        return function(mpmath.sqrt(z)) if z > mpf(10) ** -15 else near_0

    return of_square


def scaled_erfc(center: int) -> Of:
    """``(1 + 2 * x) * exp(x * x) * erfc(x)`` of ``(x - center) / (x + center)``."""

    def function(t: Real) -> Real:
        x = center * (1 + t) / (1 - t)
        with mpmath.workdps(DIGITS + int(x * x / 2)):
            return (1 + 2 * x) * mpmath.exp(x * x) * mpmath.erfc(x)

    return function


def _polynomials() -> dict[str, Polynomial]:
    expm1, sin, cos, atanh = mpmath.expm1, mpmath.sin, mpmath.cos, mpmath.atanh
    atan, asin, erf, erfc = mpmath.atan, mpmath.asin, mpmath.erf, mpmath.erfc
    wider, root = mpf("1.001"), mpmath.sqrt
    ln2 = mpmath.log(2) / 2 * wider
    angle = (0, (mpmath.pi / 4 * wider) ** 2)
    ratio = (0, ((root(2) - 1) / (root(2) + 1) * wider) ** 2)
    single, double = scaled_erfc(3), scaled_erfc(4)
    return {
        "exp": Polynomial(
            lambda r: (expm1(r) - r) / r**2,
            (-ln2, ln2),
            (4, 9),
            lambda r: abs(r**2 / expm1(r)),
        ),
        "log": Polynomial(
            of_root(lambda s: 2 * (atanh(s) - s) / s**3, mpf(2) / 3),
            ratio,
            (2, 6),
            lambda z: z,
        ),
        "pow": Polynomial(
            of_root(
                lambda s: (2 * (atanh(s) - s) / s**3 - mpf(2) / 3) / s**2, mpf(2) / 5
            ),
            ratio,
            (2, 6),
            lambda z: z**2,
        ),
        "sin": Polynomial(
            of_root(lambda r: (sin(r) - r) / r**3, -mpf(1) / 6),
            angle,
            (2, 5),
            lambda z: z,
        ),
        "cos": Polynomial(
            of_root(lambda r: (cos(r) - 1 + r**2 / 2) / r**4, mpf(1) / 24),
            angle,
            (2, 5),
            lambda z: z**2 / cos(root(z)),
        ),
        "atan": Polynomial(
            of_root(lambda t: (atan(t) - t) / t**3, -mpf(1) / 3),
            (0, wider),
            (8, 20),
            lambda z: z * root(z) / atan(root(z)),
        ),
        "asin": Polynomial(
            of_root(lambda s: (asin(s) - s) / s**3, mpf(1) / 6),
            (0, wider / 4),
            (5, 12),
            lambda z: z * root(z) / asin(root(z)),
        ),
        "erf near 0": Polynomial(
            of_root(lambda x: erf(x) / x - 1, 2 / root(mpmath.pi) - 1),
            (0, 1),
            (6, 12),
            lambda z: root(z) / erf(root(z)),
        ),
        "erf": Polynomial(
            lambda x: -mpmath.log(erfc(x)), (1, 4), (6, 18), erfc, (1, 6)
        ),
        "erfc of float32": Polynomial(
            single, (-1, mpf("7.2") / mpf("13.2")), (10, 10), lambda t: 1 / single(t)
        ),
        "erfc of float64": Polynomial(
            double, (-1, mpf("23.5") / mpf("31.5")), (22, 22), lambda t: 1 / double(t)
        ),
    }


with mpmath.workdps(DIGITS):
    POLYNOMIALS = _polynomials()


def main(given: Sequence[str] | None = None) -> None:
    """Print the coefficients."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.minimax")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(POLYNOMIALS)}")
    names = parser.parse_args(given).names or POLYNOMIALS
    with mpmath.workdps(DIGITS):
        for name in names:
            known = POLYNOMIALS[name]
            for typ, degree in zip((np.float32, np.float64), known.degrees):
                interval = known.interval
                if typ is np.float64:
                    interval = known.for_double or interval
                low, high = map(mpf, interval)
                found, error = remez(known.function, low, high, degree, known.weight)
                power = float(mpmath.log(error, 2))
                print(f"{name} {typ.__name__}: error 2**{power:.1f}")
                for each in found:
                    print(f"    {float(typ(float(each)))!r},")


if __name__ == "__main__":
    main()
