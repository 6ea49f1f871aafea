"""Sums, means and extremes of whole arrays, of what their blocks give.

NumPy adds the numbers of an array in pairs of halves: the sum of the first half and
that of the second one, each computed in the same way, down to some numbers that it adds
in a row. Where the blocks are such parts, and their sums are added in the same order,
the result has the same bits as the sum of the whole array.

>>> x = np.linspace(0, 1, 1000, dtype=np.float32) ** 3
>>> edges = halves(1000, 200)
>>> edges
[0, 120, 248, 368, 496, 616, 744, 872, 1000]
>>> parts = np.array([np.sum(x[a:b]) for a, b in zip(edges, edges[1:])])
>>> bool(combined("sum", parts, edges) == np.sum(x))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["combined", "halves"]

Array = np.ndarray[Any, Any]

#: NumPy's own parts are not longer than this.
SHORT = 128

_EXTREMES = {"max": np.maximum, "min": np.minimum}


def _middle(length: int) -> int:
    """Where NumPy halves so many numbers."""
    half = length // 2
    return half - half % 8


def halves(length: int, room: int) -> list[int]:
    """The edges of blocks of at most `room` numbers, as NumPy's halving makes them."""
    edges = [0]

    def split(start: int, stop: int) -> None:
        if stop - start <= max(room, SHORT):
            edges.append(stop)
            return
        middle = start + _middle(stop - start)
        split(start, middle)
        split(middle, stop)

    split(0, length)
    return edges


def combined(kind: str, parts: Array, edges: Sequence[int]) -> Any:
    """The total of an array from those of its blocks, between these edges."""
    if kind in _EXTREMES:
        return _EXTREMES[kind].reduce(parts)
    places = {edge: place for place, edge in enumerate(edges)}

    def add(start: int, stop: int) -> Any:
        if places[stop] == places[start] + 1:
            return parts[places[start]]
        middle = start + _middle(stop - start)
        return np.add(add(start, middle), add(middle, stop))

    total = add(0, edges[-1])
    if kind == "mean":
        return total / edges[-1]
    return total
