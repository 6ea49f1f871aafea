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

from runtime.ops.kernels.buffers import borrow, give_back, new_result
from runtime.ops.kernels.threads import allowed_threads, share

__all__ = [
    "copies_transposed",
    "deep_product",
    "is_small",
    "may_take_pieces",
    "multiply",
    "product",
    "stacked_product",
]

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
#: From so many multiplications on it shares those with a transposed second matrix, for
#: which it has no short way.
SHARED = 1 << 18
#: For so many rows it is worth while to copy that matrix.
ROWS = 32
#: Pieces with all columns and fewer rows than this are slower than one product.
LEAST = 16
#: With the short way it is worth while to take so many bytes of each row of the second
#: matrix at a time, and at least so many rows of the first.
NARROW = 256
FEWEST = 8
#: Sums of fewer products are no work beside that of writing them.
DEEP = 128
#: For so many rows it is worth while to copy a few columns: each row of these lies on
#: another page of memory.
MANY_ROWS = 1 << 8
#: How many rows a thread takes at a time.
TALL = 1 << 10
#: From so many multiplications on it is worth while to wake other threads.
MANY = 1 << 22


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


def product(left: Array, right: Array) -> Array:
    """The product of two matrices: by BLAS, large ones in pieces on all threads.

    Threads of BLAS wait for each other, which takes long where other programs use the
    processors; these take up what the others leave.
    """
    height, width = len(left), right.shape[1]
    work = left.size * width
    if copies_transposed(height, len(right), width) and _is_transposed(right):
        right = np.ascontiguousarray(right)
    if work <= SMALL or not SHORT_WAY or not _takes(left, right):
        # This takes half the time of np.matmul where the matrices are small.
        return left.dot(right)  # type: ignore[no-any-return]
    found = new_result((height, width), left.dtype)
    step = min(width, NARROW // right.itemsize)
    parts = [
        (slice(row, row + TALL), slice(column, column + step))
        for column in range(0, width, step)
        for row in range(0, height, TALL)
    ]

    def fill(index: int) -> None:
        rows, columns = parts[index]
        part = right[:, columns]
        if step == width or height < MANY_ROWS:
            multiply(left[rows], part, found[rows, columns])
            return
        scratch = borrow(part.size, part.dtype)
        together = scratch.reshape(part.shape)
        together[...] = part
        multiply(left[rows], together, found[rows, columns])
        give_back([scratch])

    share(fill, len(parts), allowed_threads() if work >= MANY else 1)
    return found


def copies_transposed(height: int, depth: int, width: int) -> bool:
    """Whether `product` copies a second matrix of these sizes that lies transposed."""
    fits = SHORT_WAY and SHARED < height * depth * width <= SMALL
    return fits and height >= ROWS and depth >= DEEP


def _is_transposed(matrix: Array) -> bool:
    flags = matrix.flags
    return flags.f_contiguous and not flags.c_contiguous and matrix.dtype.char in "fd"


def stacked_product(left: Array, right: Array) -> Array:
    """The products of two stacks of matrices: as `product`."""
    *stack, height, depth = left.shape
    width = right.shape[-1]
    work = left.size * width
    found: Array
    if work < MANY or not SHORT_WAY or not _takes_stack(left, right):
        found = np.matmul(left, right)
        return found
    found = new_result((*stack, height, width), left.dtype)
    flat = found.reshape(-1, height, width)
    lefts, rights = left.reshape(-1, height, depth), right.reshape(-1, depth, width)
    step = max(1, MANY // (height * depth * width))

    def fill(index: int) -> None:
        part = slice(index * step, (index + 1) * step)
        multiply(lefts[part], rights[part], flat[part])

    share(fill, -(-len(flat) // step), allowed_threads())
    return found


def _takes_stack(left: Array, right: Array) -> bool:
    """Whether there is a matrix for each, and pieces are fast."""
    if left.dtype.char not in "fd" or left.shape[:-2] != right.shape[:-2]:
        return False
    if left.shape[-1] != right.shape[-2]:
        return False
    return _lie_together(left, right) and is_small(right)


def _takes(left: Array, right: Array) -> bool:
    """Whether pieces are as fast as one product."""
    if left.dtype.char not in "fd" or min(len(left), right.shape[1]) < FEWEST:
        return False
    return len(right) >= DEEP and _lie_together(left, right) and is_small(right)


def _lie_together(left: Array, right: Array) -> bool:
    """Whether the rows of both do: pieces of transposed matrices are slow."""
    return left.flags.c_contiguous and right.flags.c_contiguous


def may_take_pieces(size: int | None, depth: int | None, width: int | None) -> bool:
    """Whether `product` may be anything but ``left.dot(right)`` for a matrix of so many
    elements, and one with so many rows and columns, as far as they are known.
    """
    if depth is not None and depth < DEEP:
        return False
    return size is None or width is None or size * width > SHARED
