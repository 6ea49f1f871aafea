"""The line of the user's that an error is about, with carets under the expression."""

from __future__ import annotations

import linecache
from types import CodeType, TracebackType
from typing import NamedTuple

__all__ = ["Place", "place_in", "place_of"]


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
