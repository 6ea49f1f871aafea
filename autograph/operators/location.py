"""Where the user's code is, seen from an operator that it called."""

from __future__ import annotations

import sys
from types import FrameType

from ..diagnostics import Location
from ..library import is_library_module


def user_location() -> Location | None:
    """The line of the user's code that is running, outside of all libraries."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_library_module(frame.f_globals.get("__name__", "")):
            return Location(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None
