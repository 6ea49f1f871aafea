"""The output of the command line: code, comparisons and diagnostics, with colours.

`main` makes a `Reporter`, which writes to its two streams and nowhere else.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from ..diagnostics import Diagnostic, render
from ..loading.build import encode_module

_STYLES = {"-": "\x1b[31m", "+": "\x1b[32m", "@": "\x1b[36m", "|": "\x1b[33m"}
_RESET = "\x1b[0m"
_MAX_PAIRS = 40_000  # beyond that, lines of a changed block are not compared


class Reporter:
    """The two streams of a command: results on `out`, findings on `err`."""

    def __init__(self, out: TextIO, err: TextIO, color: str = "auto") -> None:
        self._out = out
        self._err = err
        self.color_out = wants_color(out, color)
        self.color_err = wants_color(err, color)

    def result(self, text: str) -> None:
        """Print a result; a line end is added if it has none."""
        _write(self._out, text)

    def module(self, text: str, line_end: str = "\n") -> None:
        """Print a whole module: into a file or a pipe as the bytes that it would have.

        Its own coding declaration and line ends decide, not those of the terminal.
        """
        binary = getattr(self._out, "buffer", None)
        if binary is None or self._out.isatty():
            self.result(text)
            return
        try:
            data = encode_module(text, line_end)
        except UnicodeError:
            self.result(text)
            return
        self._out.flush()
        binary.write(data)

    def diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Print findings, the first of a file first."""
        for diagnostic in diagnostics:
            _write(self._err, render(diagnostic, self.color_err))

    def findings(self, findings: Iterable[Diagnostic]) -> None:
        """Print findings where they are the result."""
        for finding in findings:
            _write(self._out, render(finding, self.color_out))

    def remarks(self, notes: Iterable[Diagnostic]) -> None:
        """Print findings that are no errors, a line each."""
        for note in notes:
            self.note(f"{note.location}: {note.code} {note.title}: {note.message}")

    def note(self, text: str) -> None:
        """Print a remark that is no result."""
        _write(self._err, text)

    def flush(self) -> None:
        """Flush both streams, so that a closed pipe is noticed now."""
        self._out.flush()
        self._err.flush()


def wants_color(stream: TextIO, choice: str) -> bool:
    """Whether to colour: on a terminal only, unless told; ``NO_COLOR`` is honoured."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def _write(stream: TextIO, text: str) -> None:
    if text and not text.endswith("\n"):
        text += "\n"
    try:
        stream.write(text)
    except UnicodeEncodeError:  # a terminal that is not UTF-8
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def unified_diff(before: str, after: str, filename: str, color: bool = False) -> str:
    """The changes of a conversion, as ``diff -u`` shows them."""
    lines = difflib.unified_diff(
        before.splitlines(),
        after.splitlines(),
        filename,
        f"{filename} (converted)",
        lineterm="",
    )
    if color:
        lines = (_paint(line, _STYLES.get(line[:1], "")) for line in lines)
    return "".join(f"{line}\n" for line in lines)


def _paint(text: str, style: str) -> str:
    return f"{style}{text}{_RESET}" if style else text


def side_by_side(
    before: str, after: str, width: int | None = None, color: bool = False
) -> str:
    r"""Both texts in columns: equal lines share a row, long lines are wrapped.

    The mark between the columns: ``|`` for a rewritten line, ``<`` for one only in the
    original, ``>`` for one only in the converted code.

    >>> print(side_by_side("a = 1\nb = f(a)\n", "a = 1\nb = g(a)\n", 25), end="")
    a = 1         a = 1
    b = f(a)    | b = g(a)
    """
    width = width or shutil.get_terminal_size().columns
    column = max((width - 3) // 2, 8)
    rows = _rows(_lines(before), _lines(after))
    return "".join(
        line + "\n"
        for left, mark, right in rows
        for line in _row(left, mark, right, column, color)
    )


def _lines(text: str) -> list[str]:
    return [line.expandtabs().rstrip() for line in text.splitlines()]


def _rows(left: list[str], right: list[str]) -> Iterator[tuple[str, str, str]]:
    """The rows of the two columns, each with the mark between them."""
    # Code that moved into a function is the same code, indented further.
    old, new = ([line.strip() for line in lines] for lines in (left, right))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(left[i:i_end], " " * (i_end - i), right[j:j_end])
            continue
        for a, b in _alike(old[i:i_end], new[j:j_end]):
            mark = ">" if a is None else "<" if b is None else "|"
            yield (
                "" if a is None else left[i + a],
                mark,
                "" if b is None else right[j + b],
            )


def _alike(left: list[str], right: list[str]) -> list[tuple[int | None, int | None]]:
    """The pairs of changed lines that share most of their words; None is no line."""
    words = [
        [set(re.findall(r"\w+", line)) for line in lines] for lines in (left, right)
    ]
    rows, columns = len(left), len(right)
    # best[i][j]: the best score of pairing the lines from i and from j on, in order.
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    likeness = [[0.0] * columns for _ in range(rows)]
    if rows * columns <= _MAX_PAIRS:
        for i in reversed(range(rows)):
            for j in reversed(range(columns)):
                old, new = words[0][i], words[1][j]
                share = 2 * len(old & new) / (len(old) + len(new) or 1)
                likeness[i][j] = share if share > 0.4 else 0.0
                paired = best[i + 1][j + 1] + likeness[i][j]
                best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < rows or j < columns:
        if i < rows and j < columns and likeness[i][j]:
            if best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
                pairs.append((i, j))
                i, j = i + 1, j + 1
                continue
        if j == columns or (i < rows and best[i][j] == best[i + 1][j]):
            pairs.append((i, None))
            i += 1
        else:
            pairs.append((None, j))
            j += 1
    return pairs


def _row(left: str, mark: str, right: str, column: int, color: bool) -> Iterator[str]:
    lefts, rights = _wrap(left, column), _wrap(right, column)
    for index in range(max(len(lefts), len(rights))):
        left_part = lefts[index] if index < len(lefts) else ""
        right_part = rights[index] if index < len(rights) else ""
        line = f"{left_part}{' ' * (column - _width(left_part))} {mark} {right_part}"
        style = {"<": _STYLES["-"], ">": _STYLES["+"]}.get(mark, _STYLES.get(mark, ""))
        yield _paint(line.rstrip(), style) if color else line.rstrip()


def _wrap(line: str, column: int) -> list[str]:
    """The pieces of a line that fit the column, the later ones indented further."""
    pieces, piece = [], ""
    indent = len(line) - len(line.lstrip()) + 4
    pad = " " * min(indent, column // 2)
    for char in line:
        if _width(piece) + _width(char) > column:
            head, space, tail = piece.rpartition(" ")
            if not space or not head.strip() or len(tail) > column // 4:
                head, tail = piece, ""  # no space near the end to break at
            pieces.append(head)
            piece = pad + tail
        piece += char
    return [*pieces, piece]


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(char)
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def as_record(
    target: str,
    filename: str,
    text: str | None,
    diagnostics: Sequence[Diagnostic],
    notes: Sequence[Diagnostic] = (),
) -> dict[str, Any]:
    """The result of `show` for programs; `text` is null if there is none."""
    return {
        "target": target,
        "filename": filename,
        "text": text,
        "diagnostics": [as_finding(diagnostic) for diagnostic in diagnostics],
        "notes": [as_finding(note) for note in notes],
    }


def as_finding(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic for programs: lines and columns count from 1, columns in bytes."""
    location = diagnostic.location
    return {
        "code": diagnostic.code,
        "title": diagnostic.title,
        "message": diagnostic.message,
        "fix": diagnostic.fix,
        "location": location
        and {
            "filename": location.filename,
            "line": location.lineno,
            "column": location.col + 1,
            "end_line": location.end_lineno,
            "end_column": None if location.end_col is None else location.end_col + 1,
        },
    }
