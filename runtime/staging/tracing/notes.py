"""Notes that are taken during a trace and become warnings at its end.

The body of a loop may be traced several times; each line is warned of once. `impure`
notes calls; `effects.observing` collects the notes of a trace.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from runtime.core.errors import TracingWarning
from runtime.core.location.frames import user_frame


class Notes:
    """The notes of one trace, by the lines that they are about."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str, int], tuple[str, dict[str, Any]]] = {}

    def add(self, code: str, text: str) -> None:
        """Note a fact about the user's line that is running."""
        frame = user_frame()
        if frame is not None:
            key = code, frame.f_code.co_filename, frame.f_lineno
            self._texts.setdefault(key, (text, frame.f_globals))

    def warn(self, name: str) -> None:
        """Warn of each line once."""
        for (code, filename, lineno), (text, variables) in self._texts.items():
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
    """Add a note about the running line to the trace in progress, if any."""
    notes = _notes.get()
    if notes is not None:
        notes.add(code, text)
