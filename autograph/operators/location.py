"""Where the user's code is, seen from an operator that it called."""

from __future__ import annotations

import sys

from ..diagnostics import Location


def user_location() -> Location | None:
    """The line of the user's code that is running, outside of this package."""
    frame = sys._getframe(1)
    while frame is not None:
        name: str = frame.f_globals.get("__name__", "")
        if not name.startswith("autograph.operators"):
            return Location(frame.f_code.co_filename, frame.f_lineno)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return None
