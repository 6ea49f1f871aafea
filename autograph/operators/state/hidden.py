"""Parts of objects that are no attributes: what Python and its libraries hide.

A reader gives the parts of one kind of object as a list, and a filler puts them back.
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
_BUFFER_LIMIT = 1 << 20
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
            if view.nbytes <= _BUFFER_LIMIT and "O" not in view.format:
                return [view.tobytes()]
            return [zlib.adler32(view if view.c_contiguous else view.tobytes())]
    except _NO_BUFFER:
        return []


def fill_buffer(value: Any, parts: list[Any]) -> None:
    """Put back what was in an array, if that was kept."""
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


def read_stream(value: Any) -> list[Any]:
    """What is in a stream in memory, and where it is read."""
    return [] if value.closed else [value.getvalue(), value.tell()]


def fill_stream(value: Any, parts: list[Any]) -> None:
    """Put back what was in a stream."""
    if parts and not value.closed:
        text, place = parts
        value.seek(0)
        value.truncate()
        value.write(text)
        value.seek(place)


def read_queue(value: Any) -> list[Any]:
    """What waits in a queue, after how much of it is not done."""
    return [value.unfinished_tasks, *value.queue]


def fill_queue(value: Any, parts: list[Any]) -> None:
    """Put back what waited in a queue."""
    value.unfinished_tasks, *items = parts
    value.queue.clear()
    value.queue.extend(items)


def read_weak_dict(value: Any) -> list[Any]:
    """The keys and values of a dict that refers weakly."""
    return [part for pair in value.data.items() for part in pair]


def fill_weak(value: Any, parts: list[Any]) -> None:
    """Put back what a weak dict or set referred to."""
    data = value.data
    data.clear()
    data.update(zip(parts[::2], parts[1::2]) if isinstance(data, dict) else parts)


def fill_local(value: Any, parts: dict[str, Any]) -> None:
    """Put back the attributes that a thread sees."""
    value.__dict__.clear()
    value.__dict__.update(parts)
