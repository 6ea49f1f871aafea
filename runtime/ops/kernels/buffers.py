"""Memory that is used again: scratch of kernels, and results that nobody holds.

A new array of some megabytes is slow to fill, because the operating system has to find
and clear each of its pages at the first touch: this takes longer than to compute a few
operations. So large results are remembered, and given out again once nobody else knows
them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from runtime.core.locks import new_lock
from runtime.ops.kernels.threads import is_plain

Array = np.ndarray[Any, Any]

#: Smaller results come from memory that the allocator has at hand.
LARGE = 1 << 18

#: How many bytes of results are remembered at most.
LIMIT = 1 << 26

#: The bytes of a line of the cache. Vectors that do not lie across two lines are loaded
#: faster.
LINE = 64

#: The bytes of scratch that are kept at most, in one array.
SCRATCH = 1 << 21

#: How many arrays of scratch of one kind are kept.
SPARE = 8

_lock = new_lock()
_results: list[Array] = []
_spare: dict[tuple[int, Any], list[Array]] = {}


def _count(items: list[Array], index: int) -> int:
    """The references to an item, counted in the same way each time."""
    return sys.getrefcount(items[index])


#: What `_count` gives where the list has the only reference.
_ALONE = _count([np.empty(0)], 0)


def _can_count() -> bool:
    """Whether the number of references tells who knows an object."""
    if sys.implementation.name != "cpython":
        return False
    has_gil: Any = getattr(sys, "_is_gil_enabled", None)
    return has_gil is None or bool(has_gil())


_COUNTS = _can_count()


def new_result(shape: Sequence[int], dtype: Any) -> Array:
    """An array for a result, with anything in it.

    The memory of a large one may be that of an earlier result, if nothing refers to it
    any more: neither a variable, a view nor an exported buffer.
    """
    wanted, kind = tuple(shape), np.dtype(dtype)
    size = kind.itemsize * math.prod(wanted)
    if not LARGE <= size <= LIMIT // 2 or not _COUNTS or kind.hasobject or is_plain():
        return np.empty(wanted, kind)
    with _lock:
        for index in range(len(_results)):
            fits = _results[index].size == size + LINE
            if fits and _count(_results, index) == _ALONE:
                # The latest last, so that what is not asked for gets old.
                _results.append(_results.pop(index))
                return _aligned(_results[-1], wanted, kind)
        memory = np.empty(size + LINE, np.uint8)
        _results.append(memory)
        _forget(LIMIT)
        return _aligned(memory, wanted, kind)


def _aligned(memory: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """An array in this memory that begins with a line of the cache.

    It is a new view each time; those that were there before are gone.
    """
    start = -memory.__array_interface__["data"][0] % LINE
    inside = memory[start : memory.size - LINE + start]
    result: Array = inside.view(dtype).reshape(shape)
    return result


def _forget(limit: int) -> None:
    """Drop the oldest results until the others take no more bytes than `limit`."""
    total = sum(memory.nbytes for memory in _results)
    while total > limit:
        total -= _results.pop(0).nbytes


def borrow(size: int, dtype: Any) -> Array:
    """A vector for intermediate values, with anything in it; see `give_back`."""
    if is_plain():
        return np.empty(size, dtype)
    # Powers of two: few kinds of scratch, which many uses share.
    key = 1 << (size - 1).bit_length() if size > 1 else 1, dtype
    try:
        return _spare[key].pop()[:size]
    except (KeyError, IndexError):
        return np.empty(key[0], dtype)[:size]


def give_back(vectors: Iterable[Array]) -> None:
    """Let others have what was borrowed; nobody may use it any more."""
    for vector in () if is_plain() else vectors:
        whole: Any = vector.base
        spare = _spare.setdefault((whole.size, whole.dtype), [])
        if len(spare) < SPARE and whole.nbytes <= SCRATCH:
            spare.append(whole)


#: Arrays of one number, by dtype and number.
_constants: dict[tuple[Any, Any], Array] = {}

#: How many of these are kept.
CONSTANTS = 8


def filled(number: float, like: Array) -> Array:
    """A number as an array of the shape and dtype of another one, to read only.

    NumPy takes the maximum of two arrays three times as fast as that of an array and a
    number.

    >>> filled(0, np.array([[1.5, 2.5]]))
    array([[0., 0.]])
    """
    # By its bits: -0.0 is another number than 0.0.
    key = like.dtype, np.asarray(number, like.dtype).tobytes()
    known = _constants.get(key)
    if known is None or known.size < like.size:
        if len(_constants) >= CONSTANTS:
            _constants.clear()
        known = np.full(like.size, number, like.dtype)
        if known.nbytes <= SCRATCH:
            _constants[key] = known
    return known[: like.size].reshape(like.shape)


_IS_RECENT = np.lib.NumpyVersion(np.__version__) >= "2.4.0"

#: Rows of so many elements are joined with columns and rows as they are. NumPy copies
#: operands that repeat, as many elements as fit its buffer; a buffer that is shorter
#: than a row is not used, which saves half of the time. Shorter rows would have to be
#: computed one by one, and longer ones do not fit the buffer anyway. Before 2.4 sums of
#: rows, too, went through the buffer: its size would change their last bits.
_UNBUFFERED = range(1 << 9, 1 << 13 if _IS_RECENT else 0)


class Unbuffered:
    """``with Unbuffered(length)``: columns are joined to a matrix without copies.

    And rows; `length` is that of all rows. Nothing that casts while it reduces belongs
    in it: what NumPy adds in one go is what fits its buffer.
    """

    def __init__(self, length: int) -> None:
        self._helps = length in _UNBUFFERED
        self._before = 0

    def __enter__(self) -> None:
        if self._helps:
            self._before = np.setbufsize(_UNBUFFERED.start)

    def __exit__(self, *error: object) -> None:
        if self._helps:
            np.setbufsize(self._before)
