"""The user's own text: statements and headers as written, at a new indentation."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import gast

from ..trees.visitors import all_blocks, child_nodes
from .pristine import BLOCKS, Pristine

#: A line, from 1, and a character column, from 0.
SourcePosition = tuple[int, int]


class UserText:
    """The texts and comments of a tree's statements; gives each comment once."""

    def __init__(self, root: gast.AST, pristine: Pristine | None, width: int) -> None:
        self._pristine = pristine
        self._width = width
        # The statements whose comments above, beside and after are already given; the
        # comments around the root are not part of it.
        self._above = {getattr(root, "lineno", 0)}
        self._beside: set[int] = set()
        self._after = set(self._above)
        # Comments of statements that are not printed, to print above and beside others.
        self._led: dict[int, list[str]] = {}
        self._adopted: dict[int, list[str]] = {}
        self.reserved: list[int] = []
        """The statements whose new functions are being printed: their comments wait."""
        if pristine is not None:
            self._lines = pristine.source.lines
            self._excerpts = Excerpts(pristine, width)
            if pristine.comments:
                printed = set(self._keys(root))
                self._led, self._adopted = pristine.comments.orphans(printed)

    # --- statements --------------------------------------------------------------

    def key(self, node: Any) -> int:
        """The line that identifies the comments of a statement or clause.

        0 for those that have none: new functions and declarations stand for a part of
        what another statement stands for.
        """
        if self.is_prelude(node):
            return 0
        if type(node).__name__ != "match_case":
            return int(getattr(node, "lineno", 0))
        line = int(getattr(node.pattern, "lineno", 0))
        return self._pristine.comments.start_of(line) if self._pristine else line

    def _keys(self, node: Any) -> Iterator[int]:
        """The lines of all statements and clauses that will be printed."""
        assert self._pristine is not None
        if isinstance(node, gast.stmt):
            yield self.key(node)
        for clause in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield self.key(clause)
        original = self._pristine.original(node)
        for field in ("orelse", "finalbody"):
            if getattr(node, field, None) and getattr(original, field, None):
                yield self._pristine.comments.clause(getattr(original, field))
        for block in all_blocks(node):
            for statement in block:
                yield from self._keys(statement)

    def is_original(self, node: Any) -> bool:
        """Whether the source has a statement of this kind at its position."""
        return self._pristine is not None and self._pristine.original(node) is not None

    def is_prelude(self, node: Any) -> bool:
        """Whether a statement is a new function or a new declaration of variables."""
        kind = type(node).__name__
        declares = kind in _PRELUDE and getattr(node, "value", None) is None
        return declares and self._pristine is not None and not self.is_original(node)

    def is_flag(self, node: Any, rest: Sequence[Any]) -> bool:
        """Whether a statement only prepares another one for the same source line.

        Such as ``did_break = False``: the comments are about the other.
        """
        if type(node).__name__ != "Assign" or self.is_original(node):
            return False
        key = self.key(node)
        constant = isinstance(node.value, gast.Constant)
        return constant and any(self.key(other) == key for other in rest)

    def is_nested_if(self, node: Any) -> bool:
        """Whether an ``if`` stood by itself below an ``else:``."""
        if self._pristine is None or not self.is_original(node):
            return False
        line, col = self._pristine.start(node)
        return not self._lines[line - 1].startswith("elif", col)

    # --- comments ----------------------------------------------------------------

    def above(self, node: Any, indent: int) -> list[str]:
        """The comments and blank lines above a statement or clause, the first time."""
        key = self.key(node)
        if (
            self._pristine is None
            or not key
            or key in self._above
            or key in self.reserved
        ):
            return []
        self._above.add(key)
        comments = self._led.get(key, []) + self._pristine.comments.before(key)
        return self._placed(comments, indent)

    def after(self, node: Any, indent: int) -> list[str]:
        """The comments at the end of a block whose last statement is `node`."""
        key = self.key(node)
        if self._pristine is None or key in self._after:
            return []
        self._after.add(key)
        return self._placed(self._pristine.comments.after(key), indent)

    def annotated(
        self, key: int, lines: list[str], indent: int, solid: bool = True
    ) -> list[str]:
        """Lines printed anew for the statement at `key`, with its comments.

        A single comment goes behind the first line if it fits and the line is `solid`.
        """
        if key in self.reserved:
            return lines
        comments = self._adopted.pop(key, [])
        if self._pristine is not None and key and key not in self._beside:
            self._beside.add(key)
            comments = self._pristine.comments.beside(key) + comments
        if len(comments) == 1 and solid and not lines[0].endswith("\\"):
            line = f"{lines[0]}  {comments[0]}"
            if len(line) <= self._width:
                return [line, *lines[1:]]
        return self._placed(comments, indent) + lines

    def clause(self, node: Any, field: str, line: str, indent: int) -> list[str]:
        """An ``else:`` or ``finally:`` with its comments."""
        original = self._pristine.original(node) if self._pristine else None
        block = getattr(original, field, None)
        if self._pristine is None or not block:
            return [line]
        key = self._pristine.comments.clause(block)
        if not self._pristine.comments or key in self._above:
            return [line]
        self._above.add(key)
        above = self._placed(self._pristine.comments.before(key), indent)
        return above + self.annotated(key, [line], indent)

    def _placed(self, comments: Sequence[str], indent: int) -> list[str]:
        """Comments, each on lines of its own; those that get too long are filled."""
        margin = " " * indent
        lines: list[str] = []
        for comment in comments:
            text = comment.strip()
            if indent + len(text) <= self._width or len(comment) > self._width:
                lines.append(margin + text if text else "")
                continue
            mark = "# " if text.startswith("# ") else "#"
            lines += textwrap.wrap(
                text[len(mark) :],
                self._width,
                initial_indent=margin + mark,
                subsequent_indent=margin + mark,
                break_long_words=False,
                break_on_hyphens=False,
            )
        return lines

    # --- text --------------------------------------------------------------------

    def verbatim(
        self, run: Sequence[Any], indent: int, keyword: str | None = None
    ) -> list[str] | None:
        """The text of adjacent statements, None if it is not the user's or too wide.

        `keyword` is ``elif`` where an ``if`` is to begin with that.
        """
        pristine = self._pristine
        if pristine is None or run[0] not in pristine:
            return None
        start, last = pristine.start(run[0]), run[-1]
        if len(run) > 1 and start[0] < last.lineno and self._is_inside(start):
            # Behind a `;` or a colon: the next line has another indentation.
            return None
        keyword = keyword or _keyword(run[0])
        end = pristine.end(last)
        reach = pristine.comments.reach.get(last.lineno, 0)
        if reach > end[0]:
            end = (reach, len(self._lines[reach - 1]))
        lines = self._excerpts.move(start, end, indent, keyword)
        key = pristine.comments.start_of(last.lineno)
        lines = self._with_comment(key, lines, end, indent, alone=len(run) == 1)
        if lines is not None:
            self._above.update(node.lineno for node in run)
        return lines

    def _is_inside(self, place: SourcePosition) -> bool:
        """Whether there is code before a position in its line."""
        line, col = place
        return bool(self._lines[line - 1][:col].strip())

    def header(self, node: Any, indent: int, keyword: str | None) -> list[str] | None:
        """The text of a header up to its colon, None if it is not the user's."""
        pristine = self._pristine
        original = pristine.original(node) if pristine is not None else None
        if pristine is None or original is None or not same_header(node, original):
            return None
        key = self.key(node)
        if type(node).__name__ == "match_case":
            line = self._lines[key - 1]
            start = (key, len(line) - len(line.lstrip()))
        else:
            start = pristine.start(original)
        end = self._excerpts.colon(original, start)
        lines = self._excerpts.move(start, end, indent, keyword or _keyword(node))
        lines = self._with_comment(key, lines, end, indent, alone=True)
        if lines is None:
            return None
        return self._placed(self._adopted.pop(key, []), indent) + lines

    def _with_comment(
        self,
        key: int,
        lines: list[str] | None,
        end: SourcePosition,
        indent: int,
        alone: bool,
    ) -> list[str] | None:
        """Lines that end at a position, with the comment behind that position."""
        source = self._lines[end[0] - 1]
        rest = _NOTHING_MORE.fullmatch(source, end[1])
        if lines is None or rest is None:
            return lines
        given = key in self._beside
        self._beside.add(key)
        if given:
            return lines
        wide = f"{lines[-1]}{rest[0].rstrip()}"
        if len(wide) <= max(self._width, len(source)) or not rest[1]:
            return [*lines[:-1], wide]
        if alone:
            return self._placed([rest[1]], indent) + lines
        self._beside.remove(key)
        return None


_PRELUDE = ("FunctionDef", "AsyncFunctionDef", "Nonlocal", "Global", "AnnAssign")
_NOTHING_MORE = re.compile(r"\s*;?\s*(#.*)?")


def _keyword(node: Any) -> str | None:
    """The keyword with which the text of a statement must begin, if it may change."""
    return "if" if type(node).__name__ == "If" else None


class Excerpts:
    """The text of statements and headers, wherever they are printed."""

    def __init__(self, pristine: Pristine, width: int) -> None:
        self._pristine = pristine
        self._lines = pristine.source.lines
        self._width = width

    def colon(self, node: Any, start: SourcePosition) -> SourcePosition:
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
        self,
        start: SourcePosition,
        end: SourcePosition,
        indent: int,
        keyword: str | None = None,
    ) -> list[str] | None:
        """The lines between two positions, moved so that the first begins at `indent`.

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
    """Whether the header of a statement is unchanged."""
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
    """The nodes of a header that have positions."""
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
