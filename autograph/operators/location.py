"""Where the user's code is, seen from an operator that it called."""

from __future__ import annotations

import itertools
import sys
from types import FrameType

from ..diagnostics import Location
from ..ownership import is_library_module


def user_location() -> Location | None:
    """The expression of the user's code that is running, outside of all libraries."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_library_module(frame.f_globals.get("__name__", "")):
            return _place(frame)
        frame = frame.f_back
    return None


def _place(frame: FrameType) -> Location:
    line = Location(frame.f_code.co_filename, frame.f_lineno)
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:  # Python 3.10 knows lines
        return line
    found = next(itertools.islice(positions(), frame.f_lasti // 2, None), None)
    if found is None or found[0] != line.lineno or found[2] is None:
        return line
    _, end_lineno, col, end_col = found
    return Location(line.filename, line.lineno, col, end_lineno, end_col)
