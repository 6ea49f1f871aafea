"""Values that meet at the places that indices name: added up, or the largest kept."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: As many elements at a time as their indices stay in the cache.
BLOCK = 1 << 16


def accumulate(ufunc: np.ufunc, target: Array, places: Array, values: Array) -> None:
    """``target[places[i]] = ufunc(target[places[i]], values[i])`` for one i after the
    other; `target` is contiguous, and what it has at one place may be an array.

    >>> sums = np.zeros((2, 3))
    >>> accumulate(np.add, sums, np.array([1, 1]), np.ones((2, 3)))
    >>> sums
    array([[0., 0., 0.],
           [2., 2., 2.]])
    """
    # ``ufunc.at`` is fast where indices and values are vectors, and only there.
    width = math.prod(target.shape[1:])
    flat = target.reshape(-1)
    places = places.astype(np.intp, copy=False)
    if width == 1:
        ufunc.at(flat, places, values.reshape(-1))
        return
    inner = np.arange(width)
    rows = max(1, BLOCK // max(width, 1))
    for start in range(0, len(places), rows):
        part = slice(start, start + rows)
        each = places[part, None] * width + inner
        ufunc.at(flat, each.reshape(-1), values[part].reshape(-1))
