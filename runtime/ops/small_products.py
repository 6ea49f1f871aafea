"""Products of matrices in pieces so small that BLAS takes its short way with each.

OpenBLAS, NumPy's library, rearranges matrices before it multiplies them, and shares
large ones among threads of its own. On processors with AVX-512 it does neither for up
to a million multiplications, and is 10 to 50 % faster for it: 110 billion operations in
a second rather than 80 where the second matrix is narrow. `np.matmul` goes through a
stack of such pieces in one call.

All that pieces depend on is the shapes, so results are the same in each run, however
many threads there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["is_small", "multiply"]

Array = np.ndarray[Any, Any]


def _has_avx512() -> bool:
    # NumPy says so in no public place.
    internal = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    features: dict[str, bool] = getattr(internal, "__cpu_features__", {})
    return features.get("AVX512_SKX", False)


#: How many multiplications a piece may have: those that OpenBLAS takes the short way
#: with, or else those that it makes on the thread that calls.
SMALL = 10**6 if _has_avx512() else 1 << 18
#: Pieces of fewer rows than this are slower than one product.
LEAST = 16


def _rows_of_piece(matrix: Array) -> int:
    # The fastest are multiples of 8.
    rows: int = SMALL // (matrix.shape[-2] * matrix.shape[-1])
    return rows // 8 * 8


def is_small(matrix: Array) -> bool:
    """Whether `multiply` takes pieces for products with this matrix: then BLAS uses no
    threads, and the caller may.
    """
    return _rows_of_piece(matrix) >= LEAST


def multiply(rows: Array, matrix: Array, out: Array) -> None:
    """The product of a matrix, or a stack of them, with another, into `out`.

    >>> found = np.empty((3, 1))
    >>> multiply(np.eye(3), np.array([[1.0], [2.0], [3.0]]), found)
    >>> found.ravel()
    array([1., 2., 3.])
    """
    count, each = rows.shape[-2], _rows_of_piece(matrix)
    if count <= each or each < LEAST:
        np.matmul(rows, matrix, out=out)
        return
    whole = count - count % each
    np.matmul(
        _pieces(rows[..., :whole, :], each),
        matrix[..., None, :, :],
        out=_pieces(out[..., :whole, :], each),
    )
    if whole < count:
        np.matmul(rows[..., whole:, :], matrix, out=out[..., whole:, :])


def _pieces(x: Array, each: int) -> Array:
    """The rows, so many at a time: a view, since an axis is split."""
    *stack, _, width = x.shape
    return x.reshape(*stack, -1, each, width)
