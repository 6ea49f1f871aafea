"""Softmax of the rows of a matrix.

``exp(x) / sum(exp(x))`` is what softmax is. The largest element is commonly subtracted
from `x` first, lest ``exp`` overflow; here that is done for those rows alone that need
it, which are few: where the sum is finite nothing did overflow, and unless it is small
too, no element of the result is so tiny that its ``exp`` lost digits. This saves two of
five passes, and the rounding of the difference. Each row is looked at by itself: what
it gives does not depend on the others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["softmax_rows"]

Array = np.ndarray[Any, Any]

#: With smaller sums the elements may be too tiny to be exact.
SMALL = 2.0**-10

#: NumPy adds longer rows more precisely, shorter ones faster, by `np.einsum`: that adds
#: in 16 places at once, one after the other.
LONG = 1 << 11


def softmax_rows(x: Array, out: Array) -> Array:
    """The softmax of each row of a matrix of floats, into `out`, which is not `x`.

    NumPy may find that powers overflow, and warn of it unless told otherwise.

    >>> x = np.array([[0.0, 0.0, -np.inf], [0.5, 0.5, 0.5]], np.float32)
    >>> softmax_rows(x, np.empty_like(x))
    array([[0.5       , 0.5       , 0.        ],
           [0.33333334, 0.33333334, 0.33333334]], dtype=float32)
    """
    if x.itemsize == 2:
        # In half precision most sums of powers are out of range.
        return _shifted(x, out)
    np.exp(x, out=out)
    sums = _sums(out)
    if len(sums) == 1:
        least = most = sums.item()
    else:
        least, most = np.minimum.reduce(sums, None), np.maximum.reduce(sums, None)
    if least >= SMALL and most < math.inf:
        np.divide(out, sums, out=out)
        return out
    fit = (sums >= SMALL) & (sums < np.inf)
    if not fit.any():
        return _shifted(x, out)
    np.divide(out, sums, out=out)
    others = np.flatnonzero(~fit)
    rows = x[others]
    out[others] = _shifted(rows, rows)
    return out


def _sums(powers: Array) -> Array:
    """The sum of each row, as a column."""
    sums: Array
    if powers.shape[1] > LONG:
        sums = np.add.reduce(powers, -1, keepdims=True)
        return sums
    sums = np.einsum("ij->i", powers)
    return sums[:, np.newaxis]


def _shifted(x: Array, out: Array) -> Array:
    np.subtract(x, np.maximum.reduce(x, -1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, _sums(out), out=out)
    return out
