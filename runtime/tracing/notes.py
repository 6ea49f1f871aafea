"""Notes that are taken while a function is traced, and become warnings when it is done.

A body of a loop is traced more than once: each line is warned of once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from runtime.errors import TracingWarning
from runtime.location.frames import user_frame

__all__ = ["Notes", "collecting", "note"]


class Notes:
    """What a trace is warned of, by the lines where it happens."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, int], tuple[str, dict[str, Any]]] = {}

    def add(self, code: str, text: str) -> None:
        """Note what happens, by the line of the user's that is running."""
        frame = user_frame()
        if frame is not None:
            place = code, frame.f_code.co_filename, frame.f_lineno
            self._found.setdefault(place, (text, frame.f_globals))

    def warn(self, name: str) -> None:
        """Warn of each line once."""
        for (code, filename, lineno), (text, variables) in self._found.items():
            warnings.warn_explicit(
                TracingWarning(f"{code}: tracing {name!r} {text}", code),
                None,  # the warning says its class
                filename,
                lineno,
                registry=variables.setdefault("__warningregistry__", {}),
            )


_notes: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def collecting() -> Iterator[Notes]:
    """Collects the notes that are made within the block."""
    notes = Notes()
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def note(code: str, text: str) -> None:
    """Have the trace that is made now, if any, warned of what the running line does."""
    notes = _notes.get()
    if notes is not None:
        notes.add(code, text)
