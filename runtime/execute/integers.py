"""What generated source calls for integers that are Python's own."""

from __future__ import annotations

from collections.abc import Callable

from runtime.dtypes import int64
from runtime.ops.registry import get

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


def checked_range(start: int, limit: int, delta: int = 1) -> range:
    """Python's ``range``, where `Range` makes one; it raises as that does.

    >>> checked_range(1, 4)
    range(1, 4)
    """
    numbers = range(start, limit, delta) if delta else range(0)
    if not numbers:
        bounds = {"start": int(start), "limit": int(limit), "delta": int(delta)}
        get("Range").kernel(**bounds, dtype=int64)
    return numbers
