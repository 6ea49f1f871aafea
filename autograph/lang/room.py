"""Room for recursion, the same however deep the caller is already."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["room"]

#: How many calls deep the compiler may be inside of whoever asked it.
_FRAMES = 2000
_lock = threading.Lock()
#: The threads that are inside, and the limits before and since the first came.
_inside, _before, _raised = 0, 0, 0


@contextmanager
def room() -> Iterator[None]:
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
