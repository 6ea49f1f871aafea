"""The user's lines: whose code is running, and what to quote of it under a message."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import re
from bisect import bisect_right
from collections.abc import Iterable
from types import CodeType, FrameType, FunctionType, MethodType, TracebackType
from typing import Any, NamedTuple, cast

from runtime.errors import (
    ConversionError,
    ImmutableTensorError,
    OpError,
    StagedStateError,
    UnhashableTensorError,
)
from runtime.location.frames import (
    current_trace,
    frames_in_trace,
    is_library,
    is_tracing,
    is_user_file,
    user_frame,
)

__all__ = [
    "Location",
    "Place",
    "calling_place",
    "expression_at",
    "function_behind",
    "is_part",
    "of_user",
    "place_in",
    "place_of",
    "raise_location",
    "raise_place",
    "show_place",
    "state_error",
    "traceback_at",
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


class Location(tuple[str, int]):
    """A line of the user's, ``(filename, lineno)``, and the calls that led there.

    ``function`` is the name of the function that the line is in, empty where that is
    not known, and ``caller`` the line that called it, within the same trace.
    """

    function: str
    caller: Location | None

    def __new__(
        cls,
        filename: str,
        lineno: int,
        function: str = "",
        caller: Location | None = None,
    ) -> Location:
        """A line of `function`, called by the line `caller`."""
        location = super().__new__(cls, (filename, lineno))
        location.function, location.caller = function, caller
        return location

    def called_from(self, caller: Location) -> Location:
        """The same line, reached through a call at another one."""
        inner = []
        location: Location | None = self
        while location is not None:
            inner.append(location)
            location = location.caller
        for location in reversed(inner):
            caller = Location(*location, location.function, caller)
        return caller


def user_location() -> Location | None:
    """The line of the user's code that is running: that of the nearest frame that is
    neither of this package nor of the compiler.
    """
    frames = frames_in_trace()
    if not frames:
        return None
    # Each node asks. Frames are not kept: Python would free their variables later.
    key = tuple([part for f in frames for part in (id(f.f_code), f.f_lasti)])
    locations = current_trace.locations
    if key not in locations:
        location = _chain([(f.f_code, _line(f)) for f in reversed(frames)])
        assert location is not None
        if not is_tracing():
            return location
        locations[key] = location, [f.f_code for f in frames]
    return cast(Location, locations[key][0])


def _chain(entries: Iterable[tuple[CodeType, int]]) -> Location | None:
    """The location of the last of some running functions, each called by the last."""
    location: Location | None = None
    outer: CodeType | None = None
    for code, lineno in entries:
        function, caller = code.co_name, location
        if outer is not None and location is not None and is_part(code, outer):
            function, caller = location.function, location.caller
        location = Location(code.co_filename, lineno, function, caller)
        outer = code
    return location


def is_part(code: CodeType, outer: CodeType) -> bool:
    """Whether a function inside of another one was generated: it has the other's name,
    or is a lambda where the user has written none.
    """
    if not any(constant is code for constant in outer.co_consts):
        return False
    if code.co_name == "<lambda>":
        return "lambda" not in linecache.getline(code.co_filename, code.co_firstlineno)
    return code.co_name == outer.co_name


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


def user_place() -> Place | None:
    """As `user_location`, with the columns of the expression."""
    frame = user_frame()
    return (
        None if frame is None else place_in(frame.f_code, frame.f_lineno, frame.f_lasti)
    )


def expression_at(frame: FrameType | None) -> ast.expr | None:
    """The expression that a frame is at; None where Python does not tell."""
    if frame is None:
        return None
    place = place_in(frame.f_code, frame.f_lineno, frame.f_lasti)
    if place.col is None:
        return None
    line = linecache.getline(place.filename, place.lineno).encode()
    try:
        text = line[place.col : place.end_col].decode(errors="ignore")
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def raise_location(error: BaseException) -> Location | None:
    """The line of the user's code where `error` was raised."""
    stack = frames_in_trace() if is_tracing() else []
    entries = [(f.f_code, _line(f)) for f in reversed(stack)]
    found = False
    ours = False
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        filename = frame.f_code.co_filename
        # What we call of other libraries is no more the user's than we are.
        ours = not is_user_file(filename) or (ours and is_library(filename))
        if not ours:
            if frame not in stack:
                entries.append((frame.f_code, traceback.tb_lineno))
            found = True
        traceback = traceback.tb_next
    return _chain(entries) if found else None


def raise_place(error: BaseException) -> Place | None:
    """As `raise_location`, with the columns of the expression.

    What the user's code calls of the standard library is not the user's to change.
    """
    found = None
    traceback = error.__traceback__
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if is_user_file(filename) and not is_library(filename):
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
    if os.environ.get("AUTOGRAPH_DEBUG"):
        return traceback
    return _without_ours(traceback)


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    entries = []
    while traceback is not None:
        if is_user_file(traceback.tb_frame.f_code.co_filename):
            entries.append(traceback)
        traceback = traceback.tb_next
    rest = None
    for entry in reversed(entries):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


def traceback_at(
    location: Location, function: str, inner: TracebackType | None
) -> TracebackType | None:
    """The traceback of an error of a line: its callers, the line, the user's `inner`.

    The line is one of `function` where it does not know its own.
    """
    found = _without_ours(inner)
    place: Location | None = location
    while place is not None:
        frame, last = _frame_at(*place, place.function or function)
        found = TracebackType(found, frame, last, place[1])
        place = place.caller
    return found


def _frame_at(filename: str, lineno: int, function: str) -> tuple[FrameType, int]:
    """A frame of `function` that is at a line, and its last instruction."""
    line = linecache.getline(filename, lineno).rstrip()
    tree = ast.parse("raise KeyError")
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno = node.end_lineno = lineno
            # The whole line: tracebacks then mark no part of it.
            node.col_offset = len(line) - len(line.lstrip())
            node.end_col_offset = len(line)
    code = compile(tree, filename, "exec").replace(co_name=function)
    try:
        exec(code, {})
    except KeyError as error:
        raised = cast(TracebackType, error.__traceback__).tb_next
    entry = cast(TracebackType, raised)
    return entry.tb_frame, entry.tb_lasti


def calling_place() -> tuple[str, int] | None:
    """The file and line of the user's code that is running."""
    frame = user_frame()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def of_user(kind: str, name: str, what: str) -> str:
    """``the list 'x', whose …,``; ``a list whose …`` where no function has such a name.

    Containers that the program has not named have names of ours.
    """
    root = re.split(r"[.\[]", name)[0]
    for frame in frames_in_trace():
        code = frame.f_code
        names = (code.co_varnames, code.co_cellvars, code.co_freevars, code.co_names)
        if any(root in group for group in names):
            return f"the {kind} {name!r}, {what},"
    return f"a {kind} {what}"


def state_error(code: str, message: str, fix: str) -> StagedStateError:
    """The error for state that a graph cannot carry, with the user's line."""
    place = user_place()
    text = f"{code}: {message}; {fix}"
    if place is not None:
        text = f"{place.filename}:{place.lineno}: {text}{place.excerpt()}"
    return StagedStateError(text, code)
