r"""Located findings: what is wrong, where, why, and what to do about it.

>>> place = Location("f.py", 2, 7, 2, 12)
>>> print(
...     Diagnostic(
...         code="AG301",
...         title="a tensor was used as a Python bool",
...         message="`x > 0` is a tensor, and this function is not converted",
...         location=place,
...         fix="convert the function",
...         source="def f(x):\n    if x > 0:\n        return x\n",
...     )
... )
f.py:2:8: AG301 a tensor was used as a Python bool
   2 |     if x > 0:
     |        ^^^^^
  why: `x > 0` is a tensor, and this function is not converted
  fix: convert the function
"""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

_BOLD = "\x1b[1m"
_RED = "\x1b[1;31m"
_CYAN = "\x1b[36m"
_RESET = "\x1b[0m"


# Named tuples rather than dataclasses: those load `inspect` and `ast`, and every built
# module loads this one.


class Location(NamedTuple):
    """A place in a source file, with the positions that syntax trees carry.

    Lines count from 1. Columns count UTF-8 bytes from 0, as `ast` does; they are shown
    to people as characters from 1.
    """

    filename: str
    lineno: int
    col: int = 0
    end_lineno: int | None = None
    end_col: int | None = None

    @classmethod
    def of(cls, node: Any, filename: str) -> Location:
        """The place of a syntax tree node (`ast` or `gast`) in `filename`."""
        return cls(
            filename,
            node.lineno,
            node.col_offset,
            getattr(node, "end_lineno", None),
            getattr(node, "end_col_offset", None),
        )

    def __str__(self) -> str:
        return f"{self.filename}:{self.lineno}:{self.col + 1}"


class Diagnostic(NamedTuple):
    """One finding: a stable code, a short title, the cause, the place and a way out.

    `source` is the text of the file, for text that no file holds (standard input, a
    string); without it the line is looked up through `linecache`.
    """

    code: str
    title: str
    message: str = ""
    location: Location | None = None
    fix: str = ""
    source: str | None = None

    def __repr__(self) -> str:
        return f"<Diagnostic {self.code} {self.title!r} at {self.location}>"

    def __str__(self) -> str:
        return render(self)


def render(diagnostic: Diagnostic, color: bool = False) -> str:
    """The text of a diagnostic, as people read it.

    The head is ``file:line:column: code title``; the source line with carets under the
    expression, the cause (``why``) and the way out (``fix``) follow where known.
    """
    location = diagnostic.location
    line = source_line(diagnostic)
    head = f"{_paint(diagnostic.code, _RED, color)} {diagnostic.title}"
    if location is not None:
        place = _place(location, line)
        head = f"{_paint(place, _BOLD, color)}: {head}"
    parts = [head]
    if location is not None and line is not None:
        parts += _excerpt(location, line, color)
    for label, text in (("why", diagnostic.message), ("fix", diagnostic.fix)):
        if text:
            body = text.replace("\n", "\n       ")
            parts.append(f"  {_paint(f'{label}:', _CYAN, color)} {body}")
    return "\n".join(parts)


def _paint(text: str, style: str, color: bool) -> str:
    return f"{style}{text}{_RESET}" if color else text


def source_line(diagnostic: Diagnostic) -> str | None:
    """The line that a diagnostic is about, without its end, or None if it is empty or
    cannot be had.
    """
    location = diagnostic.location
    if location is None:
        return None
    if diagnostic.source is None:
        import linecache  # not at once: it needs `tokenize` and `re`

        line = linecache.getline(location.filename, location.lineno)
    else:
        # Not splitlines(): Python's lines do not end at form feeds or U+2028.
        lines = diagnostic.source.split("\n")
        inside = 0 < location.lineno <= len(lines)
        line = lines[location.lineno - 1] if inside else ""
    line = line.rstrip()
    return line or None


def _place(location: Location, line: str | None) -> str:
    column = location.col if line is None else len(_head_of(line, location.col))
    return f"{location.filename}:{location.lineno}:{column + 1}"


def _head_of(line: str, col: int) -> str:
    """The part of `line` before the byte offset `col`."""
    return line.encode()[:col].decode(errors="ignore")


def _excerpt(location: Location, line: str, color: bool) -> list[str]:
    before = _head_of(line, location.col)
    if location.end_col is None:
        marked = line[len(before) : len(before) + 1]
    elif location.end_lineno in (None, location.lineno):
        marked = _head_of(line, location.end_col)[len(before) :]
    else:
        marked = line[len(before) :].partition(" #")[0].rstrip()
    # A tab before the expression has to be a tab in the caret line too.
    pad = "".join(c if c == "\t" else " " * _width(c) for c in before)
    carets = "^" * max(1, sum(map(_width, marked)))
    number = str(location.lineno)
    gutter = max(4, len(number) + 1)
    return [
        f"{number:>{gutter}} | {line}",
        f"{'':>{gutter}} | {pad}{_paint(carets, _RED, color)}",
    ]


def _width(char: str) -> int:
    """How many terminal columns a character takes."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
