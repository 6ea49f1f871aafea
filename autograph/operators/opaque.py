"""Objects whose parts are hidden in C: iterators, generators, arrays of numbers.

A graph cannot carry what they are; that they changed is found here.
"""

from __future__ import annotations

import contextlib
import gc
import operator
import warnings
import zlib
from array import array
from itertools import count, cycle
from types import GeneratorType
from typing import Any

#: Bytes of an array that are kept to be put back; a larger one is compared by a sum.
_LIMIT = 1 << 20
_NO_BUFFER = (TypeError, ValueError, BufferError, NotImplementedError)


def read_iterator(value: Any) -> list[Any]:
    """How far an iterator is: what it refers to, and how much is left."""
    if isinstance(value, count):
        return [repr(value)]
    if isinstance(value, cycle):
        return [_place_in_cycle(value)]
    inside = [part for part in gc.get_referents(value) if not isinstance(part, type)]
    return [operator.length_hint(value, -1), *inside]


def _place_in_cycle(value: Any) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is no other way to ask
        inner = value.__reduce__()[1][0]
    return operator.length_hint(inner, -1)


def read_generator(value: GeneratorType[Any, Any, Any]) -> list[Any]:
    """Where a generator is, and its variables."""
    frame = value.gi_frame
    if frame is None:
        return []
    return [frame.f_lasti, *frame.f_locals.values()]


def read_buffer(value: Any) -> list[Any]:
    """What is in an array of numbers; nothing for an object that is none."""
    try:
        with memoryview(value) as view:
            if view.nbytes <= _LIMIT and "O" not in view.format:
                return [view.tobytes()]
            return [zlib.adler32(view if view.c_contiguous else view.tobytes())]
    except _NO_BUFFER:
        return []


def undo_buffer(value: Any, parts: list[Any]) -> None:
    """Put back what was in an array, if it was kept."""
    if not isinstance(parts[0], bytes):
        return
    if isinstance(value, array):
        del value[:]
        value.frombytes(parts[0])
    elif isinstance(value, bytearray):
        value[:] = parts[0]
    else:
        with contextlib.suppress(*_NO_BUFFER), memoryview(value) as view:
            view.cast("B")[:] = parts[0]
