"""Choosing between the elements of two arrays, at once for all bits.

``np.where`` and ``np.copyto`` with a mask look at each element of the condition, and
processors that guess what comes next guess wrong at every other element of a random
one. ``y ^ ((x ^ y) * c)`` is `x` where `c` is 1 and `y` where it is 0, for all the bits
of a number, and takes as long for any condition. Where `y` is 0 it is ``x * c``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.ops.kernels.buffers import borrow, give_back, new_result
from runtime.ops.kernels.threads import is_plain

Array = np.ndarray[Any, Any]

#: Fewer elements are chosen faster one by one.
FEW = 1 << 12

#: As many elements at a time as stay in the cache.
BLOCK = 1 << 16

#: Integers of as many bytes as an element has.
_BITS = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}


def select(condition: Any, x: Any, y: Any, out: Array | None = None) -> Any:
    """`x` where the condition holds, else `y`; into `out`, which may be one of them.

    >>> select(np.array([True, False]), np.array([1, 2]), np.array([3, 4]))
    array([1, 4])
    """
    if type(condition) is not np.ndarray or condition.size < FEW or is_plain():
        return _one_by_one(condition, x, y, out)
    shape = condition.shape
    x, y = _written_out(x, shape), _written_out(y, shape)
    if not _are_alike(condition, x, y, out):
        return _one_by_one(condition, x, y, out)
    result = new_result(shape, x.dtype) if out is None else out
    bits = _BITS[x.itemsize]
    flat: list[Any] = [_flat(array.view(bits)) for array in (x, y, result)]
    if not flat[1].ndim and not flat[1]:
        flat[1] = None  # all bits of 0.0 are 0, and no others are
    chosen = condition.reshape(-1)
    size = min(chosen.size, BLOCK)
    scratch = [borrow(size, bits) for _ in range(2)]
    try:
        for start in range(0, chosen.size, BLOCK):
            part = slice(start, start + BLOCK)
            _choose(
                chosen[part],
                *(array[part] if np.ndim(array) else array for array in flat),
                *scratch,
            )
    finally:
        give_back(scratch)
    return result


def _one_by_one(condition: Any, x: Any, y: Any, out: Array | None) -> Any:
    found = np.where(condition, x, y)
    if out is None:
        return found
    np.copyto(out, found)
    return out


def _are_alike(condition: Array, x: Array, y: Array, out: Array | None) -> bool:
    """Whether the arrays lie side by side, or are numbers, and have one dtype."""
    if condition.dtype != np.bool_:
        return False
    shape = condition.shape
    arrays = [condition, x, y, *([] if out is None else [out])]
    if x.dtype != y.dtype or x.dtype.kind not in "biuf" or x.itemsize not in _BITS:
        return False
    return all(
        not array.ndim or (array.shape == shape and array.flags.c_contiguous)
        for array in arrays
    )


def _written_out(value: Any, shape: tuple[int, ...]) -> Array:
    """An array, copied where it has the shape by repeating fewer elements."""
    array = np.asarray(value)
    if array.shape != shape or 0 not in array.strides:
        return array
    # First along the last axis, so that the second copy is one of long runs.
    others = [axis for axis, step in enumerate(array.strides) if not step][:-1]
    once = [slice(1 if axis in others else None) for axis in range(array.ndim)]
    rows = np.ascontiguousarray(array[tuple(once)])
    return np.ascontiguousarray(np.broadcast_to(rows, shape))


def _flat(array: Array) -> Array:
    return array.reshape(-1) if array.ndim else array


def _choose(
    c: Array, x: Array, y: Array | None, out: Array, mask: Array, t: Array
) -> None:
    mask, t = mask[: c.size], t[: c.size]
    np.copyto(mask, c)
    if y is None:
        np.multiply(x, mask, out=out)
        return
    np.bitwise_xor(x, y, out=t)
    np.multiply(t, mask, out=t)
    np.bitwise_xor(t, y, out=out)
