"""Cutting text out of the source and moving it to another indentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from ..visitors import child_nodes
from .pristine import BLOCKS, Pristine

__all__ = ["Excerpts", "Place", "same_header"]

#: A line, from 1, and a character column, from 0.
Place = tuple[int, int]


class Excerpts:
    """The text of statements and headers, wherever they are printed."""

    def __init__(self, pristine: Pristine, width: int) -> None:
        self._pristine = pristine
        self._lines = pristine.source.lines
        self._width = width

    def colon(self, node: Any, start: Place) -> Place:
        """The end of the colon that closes the header of a compound statement."""
        line, col = max(start, (getattr(node, "lineno", 0), 0))
        for part in _header_parts(node):
            line, col = max((line, col), self._pristine.end(part))
        while True:
            # From here on there are brackets, `as` with a name, and comments.
            code, _, _ = self._lines[line - 1][col:].partition("#")
            if ":" in code:
                return line, col + code.index(":") + 1
            line, col = line + 1, 0

    def move(
        self, start: Place, end: Place, indent: int, keyword: str | None = None
    ) -> list[str] | None:
        """The lines between two places, moved so that the first begins at `indent`.

        None if a line would become too wide that was not. With a `keyword`, ``if`` or
        ``elif``, the text begins with that in place of the other.
        """
        (first, col), (last, end_col) = start, end
        lines = [*self._lines[first - 1 : last - 1], self._lines[last - 1][:end_col]]
        margin, head = lines[0][:col], lines[0][col:]
        if keyword == "if" and head.startswith("elif"):
            head = head[2:]
        elif keyword == "elif" and not head.startswith("elif"):
            head = f"el{head}"
        lines[0] = " " * indent + head
        if self._is_wider(lines[0], first):
            return None
        if margin == " " * indent:
            return lines
        for index, number in enumerate(range(first + 1, last + 1), 1):
            lines[index] = self._moved(lines[index], number, margin, indent)
            if self._is_wider(lines[index], number):
                return None
        return lines

    def _moved(self, line: str, number: int, margin: str, indent: int) -> str:
        """A line after the first; lines inside a string stay as they are."""
        if number in self._pristine.comments.strings:
            return line
        text = line.lstrip()
        if not text:
            return ""
        if line.startswith(margin) and not margin.strip():
            return " " * indent + line[len(margin) :]
        # Less indented than the statement, or the statement began inside its line.
        shift = indent - len(margin)
        return " " * max(0, len(line) - len(text) + shift) + text

    def _is_wider(self, line: str, number: int) -> bool:
        return len(line) > self._width >= len(self._lines[number - 1])


def same_header(node: Any, original: Any) -> bool:
    """Whether a statement still has the header that it had."""
    for name in node._fields:
        if name in BLOCKS:
            continue
        new, old = getattr(node, name, None), getattr(original, name, None)
        if isinstance(new, list) and isinstance(old, list):
            if len(new) != len(old) or any(a is not b for a, b in zip(new, old)):
                return False
        elif new is not old and (isinstance(new, gast.AST) or new != old):
            return False
    return True


def _header_parts(node: Any) -> Iterator[Any]:
    """The nodes of a header that have places."""
    for name in node._fields:
        if name in BLOCKS or name == "decorator_list":
            continue
        value = getattr(node, name, None)
        stack = list(value) if isinstance(value, list) else [value]
        while stack:
            part = stack.pop()
            if getattr(part, "end_lineno", None) is not None:
                yield part
            elif isinstance(part, gast.AST):
                stack.extend(child_nodes(part))
