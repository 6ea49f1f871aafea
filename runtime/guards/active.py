"""The watch of the trace that is made now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from runtime.guards.watch import Watch

__all__ = ["note", "watching"]

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(
    function: Any, arguments: Iterable[tuple[str, Any]], tells: bool
) -> Iterator[Watch]:
    """Within the block what a function, and what it calls, may read is noted.

    ``tells`` says whether calls are noted that the function makes.
    """
    watch = Watch()
    for name, value in arguments:
        watch.root(value, name)
    watch.start(function, tells)
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


def note(function: Any) -> None:
    """Note that a function is about to be called in the trace that is made now."""
    watch = _watch.get()
    if watch is not None:
        watch.note(function)
