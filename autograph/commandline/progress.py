"""A line that says how far a long command has come, on terminals alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

#: Seconds: what is done sooner shows nothing, and the line changes no more often.
_PATIENCE = 0.5
_INTERVAL = 0.1
_WIDTH = 30


@contextmanager
def progress(what: str, total: int, stream: TextIO) -> Iterator[Callable[[], None]]:
    """A bar on ``stream``; what the block gets is called after each part of the work.

    The line is gone when the block is left.
    """
    if not stream.isatty():
        yield lambda: None
        return
    done, shown = 0, time.monotonic() + _PATIENCE - _INTERVAL
    is_shown = False

    def advance() -> None:
        nonlocal done, shown, is_shown
        done += 1
        now = time.monotonic()
        if now - shown >= _INTERVAL:
            shown, is_shown = now, True
            filled = "#" * (_WIDTH * done // total)
            stream.write(f"\r{what} [{filled:{_WIDTH}}] {done}/{total}")
            stream.flush()

    try:
        yield advance
    finally:
        if is_shown:
            stream.write("\r\x1b[K")
            stream.flush()
