"""Positions in the user's code: of nodes, of errors, and of entries of tracebacks.

All floors above `errors` use it: a node notes the `Location` that made it, and messages
quote a `SourcePosition`. The module only reads frames and sources, but for
`show_position`, which extends the message of an error.
"""

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

from runtime.core.errors import (
    ConversionError,
    ImmutableTensorError,
    OpError,
    StagedStateError,
    UnhashableTensorError,
)
from runtime.core.location.frames import (
    current_trace,
    frames_in_trace,
    is_library,
    is_tracing,
    is_user_file,
    user_frame,
)


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


# --- the user's line that an error is about, with carets under the expression


class SourcePosition(NamedTuple):
    """A position in a source file; columns count bytes from 0, None if unknown."""

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
        prefix, marked = line[: len(line) - len(stripped)], stripped
        if self.col is not None and self.end_col is not None:
            encoded = line.encode()
            prefix = encoded[: self.col].decode(errors="ignore")
            marked = encoded[self.col : self.end_col].decode(errors="ignore")
        pad = "".join(char if char == "\t" else " " for char in prefix)
        number = f"{self.lineno:>4}"
        blank = " " * len(number)
        carets = "^" * max(1, len(marked))
        return f"\n{number} | {line}\n{blank} | {pad}{carets}"


def position_in(code: CodeType, lineno: int, lasti: int) -> SourcePosition:
    """The position of an instruction of a function."""
    position = SourcePosition(code.co_filename, lineno)
    positions = getattr(code, "co_positions", None)
    if positions is None or lasti < 0:
        return position
    for index, (line, end_line, col, end_col) in enumerate(positions()):
        if index == lasti // 2:
            if line == lineno == end_line:
                return position._replace(col=col, end_col=end_col)
            break
    return position


def position_of(traceback: TracebackType) -> SourcePosition:
    """The position of an entry of a traceback."""
    code = traceback.tb_frame.f_code
    return position_in(code, traceback.tb_lineno, traceback.tb_lasti)


class Location(tuple[str, int]):
    """A line of the user's, ``(filename, lineno)``, and the calls that led there.

    ``function`` is the name of the function around the line, empty if unknown, and
    ``caller`` the line that called it, within the same trace.
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
    """The running line of the user's code: the line of the nearest user frame."""
    locations = current_trace.locations
    frames = frames_in_trace() if locations is not None else []
    if locations is None or not frames:
        return None
    # Every node asks. Frames are not stored: that would keep their variables alive.
    key = tuple([part for f in frames for part in (id(f.f_code), f.f_lasti)])
    if key not in locations:
        location = _chain([(f.f_code, _line(f)) for f in reversed(frames)])
        assert location is not None
        if not is_tracing():
            return location
        locations[key] = location, [f.f_code for f in frames]
    return cast(Location, locations[key][0])


def _chain(entries: Iterable[tuple[CodeType, int]]) -> Location | None:
    """The location of the last entry of a stack of running functions."""
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
    """Whether the compiler generated a function inside of another one: it has the same
    name, or is a lambda on a line of the user's without one.
    """
    if not any(constant is code for constant in outer.co_consts):
        return False
    if code.co_name == "<lambda>":
        return "lambda" not in linecache.getline(code.co_filename, code.co_firstlineno)
    return code.co_name == outer.co_name


#: Line tables beyond this size are looked up by bisection.
_LONG = 2048
#: The last long code that ran, the offsets of its lines, and the lines.
_table: tuple[CodeType | None, list[int], list[int | None]] = None, [], []


def _line(frame: FrameType) -> int:
    """The line that a frame is at.

    ``f_lineno`` scans the line table of the code from its start at each access: in a
    function of thousands of lines that would take most of the time of a trace.
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


def user_position() -> SourcePosition | None:
    """The running position of the user's code, with the columns of the expression."""
    frame = user_frame()
    return (
        None
        if frame is None
        else position_in(frame.f_code, frame.f_lineno, frame.f_lasti)
    )


def expression_at(frame: FrameType | None) -> ast.expr | None:
    """The expression that a frame is at; None if Python has no columns for it."""
    if frame is None:
        return None
    position = position_in(frame.f_code, frame.f_lineno, frame.f_lasti)
    if position.col is None:
        return None
    line = linecache.getline(position.filename, position.lineno).encode()
    try:
        text = line[position.col : position.end_col].decode(errors="ignore")
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def raise_location(error: BaseException) -> Location | None:
    """The line of the user's code where `error` was raised."""
    stack = frames_in_trace() if is_tracing() else []
    entries = [(f.f_code, _line(f)) for f in reversed(stack)]
    has_user_frame = False
    ours = False
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        filename = frame.f_code.co_filename
        # Libraries that this package calls do not count as the user's code.
        ours = not is_user_file(filename) or (ours and is_library(filename))
        if not ours:
            if frame not in stack:
                entries.append((frame.f_code, traceback.tb_lineno))
            has_user_frame = True
        traceback = traceback.tb_next
    return _chain(entries) if has_user_frame else None


def raise_position(error: BaseException) -> SourcePosition | None:
    """The position in the user's code where `error` was raised, with columns.

    Frames of the standard library that the user's code calls are passed over.
    """
    position = None
    traceback = error.__traceback__
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if is_user_file(filename) and not is_library(filename):
            position = position_of(traceback)
        traceback = traceback.tb_next
    return position


#: Errors that are raised without the user's line.
_WITHOUT_POSITION = (
    OpError,
    ConversionError,
    ImmutableTensorError,
    UnhashableTensorError,
)


def show_position(error: BaseException) -> None:
    """Add the user's line to the message of an error that was raised without it."""
    is_ours = isinstance(error, _WITHOUT_POSITION)
    position = raise_position(error)
    if not is_ours or position is None or error.args != (str(error.args[0]),):
        return
    code = getattr(error, "code", "")
    if f"\n  {code} at " in error.args[0]:
        return
    where = f"{position.filename}:{position.lineno}"
    error.args = (f"{error.args[0]}\n  {code} at {where}{position.excerpt()}",)


def user_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The entries of a traceback outside of this package and the compiler.

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

    `function` names the function of the line where the location does not.
    """
    traceback = _without_ours(inner)
    line: Location | None = location
    while line is not None:
        frame, last = _frame_at(*line, line.function or function)
        traceback = TracebackType(traceback, frame, last, line[1])
        line = line.caller
    return traceback


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


def calling_line() -> tuple[str, int] | None:
    """The file and line of the user's code that is running."""
    frame = user_frame()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def of_user(kind: str, name: str, what: str) -> str:
    """``the list 'x', whose …,``, or ``a list whose …`` if the user has no such name.

    Containers without a variable have names that staging made up.
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
    position = user_position()
    text = f"{code}: {message}; {fix}"
    if position is not None:
        text = f"{position.filename}:{position.lineno}: {text}{position.excerpt()}"
    return StagedStateError(text, code)
