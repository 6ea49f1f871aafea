"""Products of matrices in pieces so small that BLAS takes its short way with each.

OpenBLAS, NumPy's library, rearranges matrices before it multiplies them, and shares
large ones among threads of its own, which wait for each other. On processors with
AVX-512 it does neither for up to a million multiplications, and is faster for it, by
half where the second matrix is narrow: 110 billion operations in a second. `np.matmul`
goes through a stack of such pieces in one call.

All that pieces depend on is the matrices, so results are the same in each run, however
many threads there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _has_short_way() -> bool:
    # NumPy tells in no public place what the processor has.
    internal = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    features: dict[str, bool] = getattr(internal, "__cpu_features__", {})
    return features.get("AVX512_SKX", False)


#: Whether BLAS has a short way here.
SHORT_WAY = _has_short_way()
#: How many multiplications a piece may have: those that OpenBLAS takes the short way
#: with, or else those that it makes on the thread that calls.
SMALL = 10**6 if SHORT_WAY else 1 << 18
#: Pieces with all columns and fewer rows than this are slower than one product.
LEAST = 16
#: With the short way it is worth while to take so many bytes of each row of the second
#: matrix at a time, and at least so many rows of the first.
NARROW = 256
FEWEST = 8


def _piece(matrix: Array) -> tuple[int, int]:
    """How many columns and rows a piece has; no rows if there are to be no pieces."""
    depth, width = matrix.shape[-2:]
    # The fastest are multiples of 8.
    rows = SMALL // (depth * width) // 8 * 8
    if rows >= LEAST or not SHORT_WAY:
        return width, rows if rows >= LEAST else 0
    columns = min(width, NARROW // matrix.itemsize)
    rows = SMALL // (depth * columns) // 8 * 8
    return columns, rows if rows >= FEWEST else 0


def is_small(matrix: Array) -> bool:
    """Whether `multiply` takes pieces for products with this matrix: then BLAS uses no
    threads, and the caller may.
    """
    return _piece(matrix)[1] > 0


def multiply(rows: Array, matrix: Array, out: Array) -> None:
    """The product of a matrix, or a stack of them, with another, into `out`.

    >>> found = np.empty((3, 1))
    >>> multiply(np.eye(3), np.array([[1.0], [2.0], [3.0]]), found)
    >>> found.ravel()
    array([1., 2., 3.])
    """
    columns, each = _piece(matrix)
    if not each:
        np.matmul(rows, matrix, out=out)
        return
    count = rows.shape[-2]
    whole = count - count % each
    for first in range(0, matrix.shape[-1], columns):
        part = matrix[..., first : first + columns]
        target = out[..., first : first + columns]
        if whole:
            np.matmul(
                _pieces(rows[..., :whole, :], each),
                part[..., None, :, :],
                out=_pieces(target[..., :whole, :], each),
            )
        if whole < count:
            np.matmul(rows[..., whole:, :], part, out=target[..., whole:, :])


def _pieces(x: Array, each: int) -> Array:
    """The rows, so many at a time: a view, since an axis is split."""
    *stack, _, width = x.shape
    return x.reshape(*stack, -1, each, width)


def deep_product(left: Array, right: Array) -> Array:
    """The product of the transposed `left` with `right`, both of which have many rows.

    >>> deep_product(np.ones((100, 2)), np.ones((100, 1))).ravel()
    array([100., 100.])
    """
    rows = len(left)
    most = SMALL // (left.shape[1] * right.shape[1])
    if most < LEAST or rows <= most:
        return left.T.dot(right)  # type: ignore[no-any-return]
    each = rows // -(-rows // most)
    whole = rows - rows % each
    pieces = _pieces(left[:whole], each).swapaxes(1, 2)
    found = np.add.reduce(np.matmul(pieces, _pieces(right[:whole], each)), axis=0)
    if whole < rows:
        found += left[whole:].T.dot(right[whole:])
    return found  # type: ignore[no-any-return]
