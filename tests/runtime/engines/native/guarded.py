"""Memory in which native code that reads or writes too far ends the process.

Before and after each array that native code gets or makes in its arena there are pages
that nobody may touch: the array ends where a page does, or begins there. It holds no
zeros before it is written, so that what reads too early gives wrong numbers.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from runtime.engines.native import executable, flow, memory, python_entry
from runtime.engines.native.types import size_of

__all__ = ["guarded", "in_guarded_memory", "is_possible"]

PAGE = mmap.PAGESIZE
#: What memory holds at first.
UNWRITTEN = 0xC1


def is_possible() -> bool:
    """Whether pages can be taken away from a program."""
    return hasattr(mmap, "MAP_PRIVATE") and hasattr(ctypes.CDLL(None), "mprotect")


def guarded(shape: Any, dtype: Any, at_end: bool) -> Any:
    """An array that ends, or begins, beside a page that nobody may touch."""
    size = prod(shape) * np.dtype(dtype).itemsize
    start, length = _placed(size, at_end)
    pages = _pages(length, [0, length - PAGE])
    # A slice without elements would begin where the pages do.
    return np.ndarray(shape, dtype, pages, start)


def _placed(size: int, at_end: bool) -> tuple[int, int]:
    """Where an array begins, and how long its pages and the two around them are."""
    length = max(-(-size // PAGE), 1) * PAGE
    return PAGE + (length - size if at_end else 0), length + 2 * PAGE


def _pages(length: int, guards: list[int]) -> Any:
    found = np.frombuffer(mmap.mmap(-1, length), np.uint8)
    found[:] = UNWRITTEN
    for guard in guards:
        address = ctypes.c_void_p(found.ctypes.data + guard)
        if ctypes.CDLL(None).mprotect(address, ctypes.c_size_t(PAGE), 0):
            raise OSError("a page cannot be protected")
    return found


class _Size(int):
    """The length of an arena, which knows the pages between its arrays."""

    guards: tuple[int, ...] = ()


@contextmanager
def in_guarded_memory(at_end: bool) -> Iterator[None]:
    """Native code that is written and called in the block has such memory."""

    def place(arena: Any, shape: Any, dtype: Any) -> int:
        before = arena.size
        start, length = _placed(prod(shape) * size_of(dtype), at_end)
        arena.size = _Size(before + length)
        guards = (before, before + length - PAGE)
        arena.size.guards = getattr(before, "guards", ()) + guards
        return int(before + start)

    def take(work: Any) -> Any:
        needed = work._arena + work._stack + memory.ALIGNMENT
        length = -(-needed // PAGE) * PAGE
        guards = [*getattr(work._arena, "guards", ()), length]
        return memory.Work.within(_pages(length + PAGE, guards)[:length], work._arena)

    def copied(array: Any, *_: Any) -> Any:
        found = guarded(np.shape(array), np.asarray(array).dtype, at_end)
        found[...] = array
        return found

    fitting = executable.Program._fitting

    def given(program: Any, arrays: Any) -> list[Any]:
        return list(map(copied, fitting(program, arrays)))

    def empty(shape: Any, dtype: Any) -> Any:
        return guarded(shape, dtype, at_end)

    with (
        mock.patch.object(memory.Arena, "place", place),
        mock.patch.object(memory.WorkMemory, "take", take),
        mock.patch.object(memory.WorkMemory, "give", return_value=None),
        mock.patch.object(executable.Program, "_fitting", given),
        mock.patch.object(executable, "np", _numpy(empty=empty)),
        mock.patch.object(flow, "np", _numpy(ascontiguousarray=copied)),
        mock.patch.object(python_entry, "is_available", return_value=False),
    ):
        yield


def _numpy(**functions: Any) -> Any:
    return SimpleNamespace(**{**vars(np), **functions})
