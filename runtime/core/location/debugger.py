"""``breakpoint()`` in a function that is being traced: the debugger shows the program.

`trace` enters `debugging`. The debugger leaves out the frames of this package, and
shows the functions that the compiler made of one user function as a single frame, with
the variables of all of them.
"""

from __future__ import annotations

import os
import sys
import threading

from runtime.core.location.frames import frame_at, is_tracing


class debugging:  # noqa: N801
    """A context in which ``breakpoint()`` enters the debugger of traces.

    A hook that is not Python's own `pdb` stays.
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
#: The number of traces under way, in all threads.
_traces = 0


def _is_pdb() -> bool:
    setting = os.environ.get("PYTHONBREAKPOINT", "")
    is_usual = sys.breakpointhook is sys.__breakpointhook__
    return is_usual and setting in ("", "pdb.set_trace")


def _enter(*, header: str | None = None) -> None:
    """Enter `TracePdb` in a thread that traces, else Python's own `pdb`."""
    import pdb  # imported here: few programs need it

    from runtime.core.location.trace_pdb import TracePdb

    debugger = TracePdb() if is_tracing() else pdb.Pdb()
    if header is not None:
        debugger.message(header)
    debugger.set_trace(frame_at(1))
