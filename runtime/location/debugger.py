"""``breakpoint()`` in a function that is being traced: the debugger shows the program.

What stands between the user's functions is left out, and the parts that a function was
taken apart into are one frame, which has the variables of all of them.
"""

from __future__ import annotations

import os
import sys
import threading

from runtime.location.frames import frame_at, is_tracing

__all__ = ["debugging"]


class debugging:  # noqa: N801
    """A context in which ``breakpoint()`` enters this debugger.

    Only where Python would enter `pdb`: a hook of the user's stays.
    """

    def __enter__(self) -> None:
        global _traces
        with _lock:
            self._counts = sys.breakpointhook is _enter or _is_pdb()
            if self._counts:
                _traces += 1
                sys.breakpointhook = _enter

    def __exit__(self, *_: object) -> None:
        global _traces
        if self._counts:
            with _lock:
                _traces -= 1
                if not _traces and sys.breakpointhook is _enter:
                    sys.breakpointhook = sys.__breakpointhook__


_lock = threading.Lock()
#: How many traces of all threads are under way.
_traces = 0


def _is_pdb() -> bool:
    chosen = os.environ.get("PYTHONBREAKPOINT", "")
    is_usual = sys.breakpointhook is sys.__breakpointhook__
    return is_usual and chosen in ("", "pdb.set_trace")


def _enter(*, header: str | None = None) -> None:
    """As `pdb.set_trace`; other threads than those that trace get Python's own."""
    import pdb  # not at once: few programs want it

    from runtime.location.trace_pdb import TracePdb

    debugger = TracePdb() if is_tracing() else pdb.Pdb()
    if header is not None:
        debugger.message(header)
    debugger.set_trace(frame_at(1))
