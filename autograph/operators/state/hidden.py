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

from ..classes import attributes_of, defines

#: Bytes of an array that are kept to be put back; a larger one is compared by a sum.
_BUFFER_LIMIT = 1 << 20
_NO_BUFFER = (TypeError, ValueError, BufferError, NotImplementedError)
#: Flags of classes, as Python's headers define them.
_HEAP_TYPE, _IMMUTABLE, _COLLECTED = 1 << 9, 1 << 8, 1 << 14
#: What objects refer to that is no part of them.
_NO_PARTS = (type, FrameType, ModuleType, TracebackType)


def is_written_in_c(cls: type) -> bool:
    """Whether no `class` statement made a class."""
    return cls.__flags__ & (_HEAP_TYPE | _IMMUTABLE) != _HEAP_TYPE


def hides_parts(cls: type) -> bool:
    """Whether objects of a class may refer to others by no attribute."""
    return any(
        is_written_in_c(base) and base.__flags__ & _COLLECTED for base in cls.__mro__
    )


def iterates(cls: type) -> bool:
    """Whether code in C gives the items of an iterator."""
    return any(
        is_written_in_c(base) and "__next__" in vars(base) for base in cls.__mro__
    )


def tells_its_place(cls: type) -> bool:
    """Whether an iterator says how far it is, or refers to others that do."""
    if _is_reduced(cls) or defines(cls, "__length_hint__"):
        return True
    return hides_parts(cls) and not issubclass(cls, cycle)


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
    """How far an iterator is: what it refers to, and how much is left or was taken."""
    if isinstance(value, count):
        return [repr(value)]
    if isinstance(value, cycle):
        return _places_in_cycle(value)
    left = -1
    with contextlib.suppress(OverflowError):  # a long range
        left = operator.length_hint(value, -1)
    places: list[Any] = [left] if left >= 0 else _numbers_in(_reduced(value))
    return [*places, *read_hidden(value)]


def _places_in_cycle(value: Any) -> list[int]:
    """How much is left of this round, and how much the first round has kept."""
    (inner,), (kept, _) = _reduced(value)
    return [operator.length_hint(inner, -1), len(kept)]


def _is_reduced(cls: Any) -> bool:
    """Whether a class has a way of its own to make its objects again."""
    return cls.__reduce__ is not object.__reduce__


def _reduced(value: Any) -> list[Any]:
    """The arguments and the state by which `copy` would make an iterator again."""
    if not _is_reduced(type(value)):
        return []
    with warnings.catch_warnings(), contextlib.suppress(TypeError):
        warnings.simplefilter("ignore")  # there is no other way to ask
        return list(value.__reduce__()[1:3])
    return []


def _numbers_in(parts: list[Any]) -> list[int]:
    """The numbers and ranges among some parts, and in the tuples among these."""
    found: list[Any] = []
    for part in parts:
        found += part if isinstance(part, tuple) else (part,)
    for part in found:
        if type(part) is range:
            found += (part.start, part.stop, part.step)
    return [part for part in found if type(part) is int]


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
