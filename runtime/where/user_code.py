"""The user's lines: whose code is running, and what to quote of it under a message."""

from __future__ import annotations

import functools
import linecache
import os
import sys
from bisect import bisect_right
from types import CodeType, FrameType, FunctionType, MethodType, TracebackType
from typing import Any, NamedTuple

import numpy as np

from runtime.errors import (
    ConversionError,
    ImmutableTensorError,
    OpError,
    StagedStateError,
    UnhashableTensorError,
)

__all__ = [
    "Location",
    "Place",
    "function_behind",
    "is_user_file",
    "place_in",
    "place_of",
    "raise_location",
    "raise_place",
    "show_place",
    "state_error",
    "user_frame",
    "user_frames",
    "user_location",
    "user_place",
]


def function_behind(value: Any) -> FunctionType | None:
    """The Python function that a callable calls: behind methods and partials.

    None if it calls something else.
    """
    while not isinstance(value, FunctionType):
        if isinstance(value, MethodType):
            value = value.__func__
        elif isinstance(value, functools.partial):
            value = value.func
        else:
            return None
    return value


# --- The line of the user's that an error is about, with carets under the expression


class Place(NamedTuple):
    """A place in a source file; columns count bytes from 0, None where not known."""

    filename: str
    lineno: int
    col: int | None = None
    end_col: int | None = None

    def excerpt(self) -> str:
        """The line with carets, to follow a message; empty if there is no source."""
        line = linecache.getline(self.filename, self.lineno).rstrip()
        if not line:
            return ""
        stripped = line.lstrip()
        before, marked = line[: len(line) - len(stripped)], stripped
        if self.col is not None and self.end_col is not None:
            encoded = line.encode()
            before = encoded[: self.col].decode(errors="ignore")
            marked = encoded[self.col : self.end_col].decode(errors="ignore")
        pad = "".join(char if char == "\t" else " " for char in before)
        number = f"{self.lineno:>4}"
        blank = " " * len(number)
        carets = "^" * max(1, len(marked))
        return f"\n{number} | {line}\n{blank} | {pad}{carets}"


def place_in(code: CodeType, lineno: int, lasti: int) -> Place:
    """The place of an instruction of a function."""
    place = Place(code.co_filename, lineno)
    positions = getattr(code, "co_positions", None)
    if positions is None or lasti < 0:
        return place
    for index, (line, end_line, col, end_col) in enumerate(positions()):
        if index == lasti // 2:
            if line == lineno == end_line:
                return place._replace(col=col, end_col=end_col)
            break
    return place


def place_of(traceback: TracebackType) -> Place:
    """The place of an entry of a traceback."""
    code = traceback.tb_frame.f_code
    return place_in(code, traceback.tb_lineno, traceback.tb_lasti)


Location = tuple[str, int]

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_OUR_FOLDERS = tuple(os.path.join(_ROOT, name, "") for name in ("runtime", "autograph"))
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
_NUMPY = os.path.join(os.path.dirname(np.__file__), "")
_is_ours: dict[str, bool] = {}


def user_location() -> Location | None:
    """The file and line of the user's code that is running: the nearest frame that is
    neither of this package nor of the compiler.
    """
    frame: FrameType | None = sys._getframe(1)
    ours = _is_ours  # each node asks, some thirty frames deep
    while frame is not None:
        filename = frame.f_code.co_filename
        if not (ours[filename] if filename in ours else _in_our_folders(filename)):
            return filename, _line(frame)
        frame = frame.f_back
    return None


#: Line tables beyond this size are looked up by bisection.
_LONG = 2048
#: The last long code that ran, where its lines start, and which they are.
_table: tuple[CodeType | None, list[int], list[int | None]] = None, [], []


def _line(frame: FrameType) -> int:
    """The line that a frame is at.

    Python finds it by going through the line table of the code from the start, for each
    question: in a function of thousands of lines that is most of the time of a trace.
    """
    global _table
    code = frame.f_code
    if len(code.co_linetable) < _LONG:
        return frame.f_lineno
    table = _table
    if table[0] is not code:
        spans = list(code.co_lines())
        table = code, [span[0] for span in spans], [span[2] for span in spans]
        _table = table
    line = table[2][bisect_right(table[1], frame.f_lasti) - 1]
    return frame.f_lineno if line is None else line


def user_frame() -> FrameType | None:
    """The nearest frame of the user's code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _in_our_folders(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def user_place() -> Place | None:
    """As `user_location`, with the columns of the expression."""
    frame = user_frame()
    return (
        None if frame is None else place_in(frame.f_code, frame.f_lineno, frame.f_lasti)
    )


def raise_location(error: BaseException) -> Location | None:
    """The file and line of the user's code where `error` was raised."""
    found = None
    ours = False
    traceback = error.__traceback__
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        # What we call of other libraries is no more the user's than we are.
        ours = _in_our_folders(filename) or (ours and _is_library(filename))
        if not ours:
            found = filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def raise_place(error: BaseException) -> Place | None:
    """As `raise_location`, with the columns of the expression."""
    found = None
    traceback = error.__traceback__
    while traceback is not None:
        if not _in_our_folders(traceback.tb_frame.f_code.co_filename):
            found = place_of(traceback)
        traceback = traceback.tb_next
    return found


#: Errors that are raised where nothing is known of the user's code.
_WITHOUT_PLACE = (
    OpError,
    ConversionError,
    ImmutableTensorError,
    UnhashableTensorError,
)


def show_place(error: BaseException) -> None:
    """Say in the message where an operation was written that cannot be staged."""
    is_ours = isinstance(error, _WITHOUT_PLACE)
    place = raise_place(error)
    if not is_ours or place is None or error.args != (str(error.args[0]),):
        return
    code = getattr(error, "code", "")
    if f"\n  {code} at " in error.args[0]:
        return
    where = f"{place.filename}:{place.lineno}"
    error.args = (f"{error.args[0]}\n  {code} at {where}{place.excerpt()}",)


def user_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The entries of a traceback that are neither of this package nor the compiler's.

    With ``AUTOGRAPH_DEBUG`` set in the environment, all of them.
    """
    if traceback is None or os.environ.get("AUTOGRAPH_DEBUG"):
        return traceback
    entries = []
    while traceback is not None:
        if not _in_our_folders(traceback.tb_frame.f_code.co_filename):
            entries.append(traceback)
        traceback = traceback.tb_next
    rest = None
    for entry in reversed(entries):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


def is_user_file(filename: str) -> bool:
    """Whether a file is neither of this package nor of the compiler."""
    return not _in_our_folders(filename)


def _is_standard(filename: str) -> bool:
    return filename.startswith(_STANDARD) and "site-packages" not in filename


def _is_library(filename: str) -> bool:
    return _is_standard(filename) or filename.startswith(_NUMPY)


def _in_our_folders(filename: str) -> bool:
    ours = _is_ours.get(filename)
    if ours is None:
        ours = _is_ours[filename] = filename.startswith(_OUR_FOLDERS)
    return ours


def state_error(code: str, message: str, fix: str) -> StagedStateError:
    """The error for state that a graph cannot carry, with the user's line."""
    place = user_place()
    text = f"{code}: {message}; {fix}"
    if place is not None:
        text = f"{place.filename}:{place.lineno}: {text}{place.excerpt()}"
    return StagedStateError(text, code)
