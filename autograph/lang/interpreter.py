"""Two arrangements with the interpreter: room for recursion, and a lock less."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property", "recursion_room"]

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


def _depth() -> int:
    frame: Any = sys._getframe()
    depth = 0
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth
