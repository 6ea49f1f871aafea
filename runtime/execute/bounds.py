"""Between which bounds the results of operations on integers lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runtime.types.dtypes import DType

__all__ = ["RULES", "Bounds", "fits", "limits", "range_bounds", "stepped"]

#: The least and the greatest value that an integer may have.
Bounds = tuple[int, int]


def _corners(x: Bounds, y: Bounds) -> Bounds:
    products = [a * b for a in x for b in y]
    return min(products), max(products)


def _floor_div_bounds(x: Bounds, y: Bounds) -> Bounds | None:
    if y[0] > 0:
        quotients = [a // b for a in x for b in y]
        return min(quotients), max(quotients)
    largest = max(map(abs, x))
    # Only the least number divided by -1 is larger than the largest one.
    return (
        (-largest, largest) if y[0] <= -1 <= y[1] else (-largest, max(x[1], -x[0] - 1))
    )


def _floor_mod_bounds(x: Bounds, y: Bounds) -> Bounds:
    return min(0, y[0] + 1), max(0, y[1] - 1)


def _bit_bounds(x: Bounds, y: Bounds) -> Bounds:
    bits = max(abs(bound).bit_length() for bound in (*x, *y))
    least = 0 if x[0] >= 0 and y[0] >= 0 else -(1 << bits)
    return least, (1 << bits) - 1


#: For each op the bounds of its result, which is not wrapped around.
RULES: dict[str, Callable[..., Bounds | None]] = {
    "AddV2": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "Sub": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "Mul": _corners,
    "Neg": lambda x: (-x[1], -x[0]),
    "Abs": lambda x: (0, max(map(abs, x))),
    "FloorDiv": _floor_div_bounds,
    "FloorMod": _floor_mod_bounds,
    "Maximum": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    "Minimum": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "BitwiseAnd": _bit_bounds,
    "BitwiseOr": _bit_bounds,
    "BitwiseXor": _bit_bounds,
    "Identity": lambda x: x,
    "Cast": lambda x: x,
}


def limits(dtype: DType) -> Bounds:
    """The least and the greatest integer of a dtype.

    >>> from runtime import dtypes
    >>> limits(dtypes.int8)
    (-128, 127)
    """
    if not dtype.is_integer:
        return 0, 0
    bits = 8 * dtype.size
    return (
        (0, 2**bits - 1)
        if dtype.is_unsigned
        else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )


def fits(bounds: Bounds | None, dtype: DType) -> bool:
    """Whether all integers within the bounds are of a dtype."""
    lowest, highest = limits(dtype)
    return bounds is not None and lowest <= bounds[0] and bounds[1] <= highest


def stepped(first: Bounds, step: int, times: int) -> Bounds:
    """The bounds of a number to which a step was added up to so many times.

    >>> stepped((0, 5), -2, 3)
    (-6, 5)
    """
    change = step * max(0, times)
    return first[0] + min(0, change), first[1] + max(0, change)


def range_bounds(attrs: Mapping[str, Any], dtype: DType) -> Bounds:
    """The least and the greatest element of a ``Range`` that counts upwards."""
    lowest, highest = limits(dtype)
    start, limit, delta = (attrs[key] for key in ("start", "limit", "delta"))
    if type(delta) is not int or delta < 1:
        return lowest, highest
    if type(start) is int:
        lowest = start
    if type(limit) is int:
        highest = limit
    return lowest, max(lowest, highest - 1)
