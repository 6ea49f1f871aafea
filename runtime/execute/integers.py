"""What generated source calls for integers that are Python's own."""

from __future__ import annotations

from collections.abc import Callable

from runtime.ops.record import get
from runtime.types.dtypes import int64

__all__ = ["checked_range", "wrapping"]


def wrapping(bits: int) -> Callable[[int], int]:
    """The function that wraps ints around as signed integers of so many bits do.

    >>> wrapping(32)(2**31)
    -2147483648
    """
    half, whole = 1 << (bits - 1), 1 << bits

    def wrap(number: int) -> int:
        return (number + half) % whole - half

    return wrap


def checked_range(*bounds: int) -> range:
    """Python's ``range``, where `Range` makes one; it raises as that does.

    >>> checked_range(1, 4)
    range(1, 4)
    """
    given = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    start, limit, delta = map(int, given)
    if (limit - start if delta > 0 else start - limit) <= 0:
        bounds_of_kernel = {"start": start, "limit": limit, "delta": delta}
        get("Range").kernel(**bounds_of_kernel, dtype=int64)
    return range(start, limit, delta)
