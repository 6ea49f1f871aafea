"""Arrangements with the interpreter: its recursion limit, its collector, its locks."""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .frames import frame_at, outwards

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (as Python's)
        """`functools.cached_property` without its lock, which all instances share.

        A process that is forked while another thread holds the lock would wait for it
        forever.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = self.func(instance)
            return vars(instance).setdefault(self.attrname, value)


#: How many calls deep the compiler may be inside of whoever asked it.
_FRAMES = 2000
_lock = threading.Lock()
#: The threads that are inside, and the limits before and since the first came.
_inside, _before, _raised = 0, 0, 0


@contextmanager
def recursion_room() -> Iterator[None]:
    """Let what is inside recurse as deep as it could at the bottom of the stack.

    Trees are walked by recursion, and a function may be converted by its first call,
    near the limit of a program that recurses itself. Also a decorator.
    """
    global _inside, _before, _raised
    needed = _depth() + _FRAMES
    with _lock:
        limit = sys.getrecursionlimit()
        if not _inside:
            _before = _raised = limit
        _inside += 1
        if needed > limit:
            sys.setrecursionlimit(needed)
            _raised = needed
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            # Somebody else may have set another limit meanwhile.
            if not _inside and sys.getrecursionlimit() == _raised != _before:
                sys.setrecursionlimit(_before)


@contextmanager
def deeper(frames: int) -> Iterator[None]:
    """Let what is inside recurse so many calls deeper than what is around it."""
    _raise_limit(frames)
    try:
        yield
    finally:
        _raise_limit(-frames)


def _raise_limit(frames: int) -> None:
    global _before, _raised
    with _lock:
        sys.setrecursionlimit(sys.getrecursionlimit() + frames)
        _before, _raised = _before + frames, _raised + frames


#: How many conversions put off the collector, and whether it was on before the first.
_waiting, _was_on = 0, False


@contextmanager
def no_collection() -> Iterator[None]:
    """Put off garbage collection, which would search among thousands of nodes.

    No node of a module is garbage before the end of its conversion, and the search
    takes a fifth of the time. Also a decorator.
    """
    global _waiting, _was_on
    with _lock:
        if not _waiting:
            _was_on = gc.isenabled()
            gc.disable()
        _waiting += 1
    try:
        yield
    finally:
        with _lock:
            _waiting -= 1
            if not _waiting and _was_on:
                gc.enable()


def _depth() -> int:
    return sum(1 for _ in outwards(frame_at(0)))
