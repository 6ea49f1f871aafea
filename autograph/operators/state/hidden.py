"""Parts of objects that are no attributes: what Python and its libraries hide.

`kinds` has a reader for each kind of such objects, and a filler for some. A reader
gives the parts as a list and changes nothing; a filler puts them back.
"""

from __future__ import annotations

import contextlib
import gc
import operator
import warnings
import zlib
from array import array
from itertools import count, cycle
from types import FrameType, GeneratorType, ModuleType, TracebackType
from typing import Any

from ..classes import attributes_of

#: Bytes of an array that are kept to be put back; a larger one is compared by a sum.
_BUFFER_LIMIT = 1 << 20
_NO_BUFFER = (TypeError, ValueError, BufferError, NotImplementedError)


#: What objects refer to that is no part of them.
_NO_PARTS = (type, FrameType, ModuleType, TracebackType)


def read_hidden(value: Any) -> list[Any]:
    """What an object refers to besides its attributes."""
    attributes = attributes_of(value) or {}
    known = {id(attributes), *map(id, attributes.values())}
    return [
        part
        for part in gc.get_referents(value)
        if id(part) not in known and not isinstance(part, _NO_PARTS)
    ]


def read_cached(value: Any) -> list[Any]:
    """The function behind a ``functools.lru_cache``, and the results in there.

    What is in the cache may be forgotten at any time: only the results can change.
    """
    found = [value.__wrapped__]
    for part in gc.get_referents(value):
        found += part.values() if type(part) is dict else (part,)
    return found


def read_proxy(value: Any) -> list[Any]:
    """The object that a ``weakref.proxy`` passes everything on to."""
    with contextlib.suppress(ReferenceError):
        return [value.__reduce_ex__.__self__]
    return []


def read_iterator(value: Any) -> list[Any]:
    """How far an iterator is: what it refers to, and how much is left."""
    if isinstance(value, count):
        return [repr(value)]
    if isinstance(value, cycle):
        return [_place_in_cycle(value)]
    return [operator.length_hint(value, -1), *read_hidden(value)]


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
