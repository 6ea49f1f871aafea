"""Statements and blocks: the user's own text where unchanged, else printed anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from ..trees.visitors import clone
from .line_breaks import wrap
from .pristine import BLOCKS, Pristine
from .statements import tokens_of
from .user_text import UserText

_DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")


class Blocks:
    """Prints the statements of one tree, each comment once."""

    def __init__(self, root: gast.AST, pristine: Pristine | None, width: int) -> None:
        self.pristine = pristine
        self.width = width
        self.text = UserText(root, pristine, width)

    # --- blocks ------------------------------------------------------------------

    def block(
        self, statements: list[Any], indent: int, tight: bool = True
    ) -> list[str]:
        """The lines of the statements of a block.

        A `tight` block begins without blank lines.
        """
        lines: list[str] = []
        previous: Any = None
        index = 0
        while index < len(statements):
            node = statements[index]
            gap = self._gap(previous, statements, index, indent)
            if previous is None and tight:
                gap = _without_blank(gap)
            count = self._run(statements, index)
            printed = self.text.verbatim(statements[index : index + count], indent)
            if printed is None and count > 1:
                count = 1
                printed = self.text.verbatim([node], indent)
            if printed is None:
                printed = self._anew(statements, index, indent)
            lines += gap
            lines += printed
            previous = statements[index + count - 1]
            index += count
            following = statements[index] if index < len(statements) else None
            if getattr(following, "lineno", None) != getattr(previous, "lineno", 0):
                lines += self.text.after(previous, indent)
        return lines

    def _run(self, statements: list[Any], index: int) -> int:
        """The number of statements from `index` on that are the user's, in order."""
        if self.pristine is None or statements[index] not in self.pristine:
            return 1
        end = index + 1
        while end < len(statements) and self.pristine.adjacent(
            *statements[end - 1 : end + 1]
        ):
            end += 1
        return end - index

    def _owner(self, statements: list[Any], index: int) -> Any:
        """The statement that a new function or declaration belongs to, or itself."""
        rest = (s for s in statements[index:] if not self.text.is_prelude(s))
        return next(rest, statements[index])

    def _anew(self, statements: list[Any], index: int, indent: int) -> list[str]:
        """The lines of a statement without text, or with text that does not fit."""
        node = statements[index]
        if not self.text.is_prelude(node):
            mute = self.text.is_flag(node, statements[index + 1 :])
            return self.statement(node, indent, mute=mute)
        self.text.reserved.append(self.text.key(self._owner(statements, index)))
        lines = self.statement(node, indent)
        self.text.reserved.pop()
        return lines

    def _gap(
        self, previous: Any, statements: list[Any], index: int, indent: int
    ) -> list[str]:
        """The comments and blank lines before a statement."""
        node = statements[index]
        # New functions come below the comments of the statement that they belong to.
        scoping = isinstance(node, (gast.Nonlocal, gast.Global))
        owner = node if scoping else self._owner(statements, index)
        gap = self.text.above(owner, indent)
        if previous is None:
            return gap
        definition = any(type(n).__name__ in _DEFINITIONS for n in (previous, node))
        new = not (self.text.is_original(previous) and self.text.is_original(node))
        wanted = (1 if indent else 2) if definition and new else 0
        present = next((i for i, line in enumerate(gap) if line), len(gap))
        return [""] * (wanted - present) + gap

    # --- statements --------------------------------------------------------------

    def statement(
        self, node: Any, indent: int, keyword: str | None = None, mute: bool = False
    ) -> list[str]:
        """The lines of one statement that is not (wholly) the user's.

        A `mute` statement leaves the comments to another one.
        """
        kind = type(node).__name__
        if not any(name in node._fields for name in BLOCKS):
            tokens = tokens_of(node, self.pristine)
            lines = wrap(tokens, indent, self.width)
            return lines if mute else self._annotated(node, tokens, lines, indent)
        if kind in ("Try", "TryStar"):
            lines = self._annotated(node, (), [" " * indent + "try:"], indent)
        else:
            lines = self.header(node, indent, keyword)
        tight = not self.text.is_original(node)
        lines += self.block(getattr(node, "body", []), indent + 4, tight)
        for handler in getattr(node, "handlers", ()):
            word = "except*" if kind == "TryStar" else "except"
            lines += self.text.above(handler, indent)
            lines += self.header(handler, indent, word)
            lines += self.block(handler.body, indent + 4)
        for case in getattr(node, "cases", ()):
            lines += self.text.above(case, indent + 4)
            lines += self.header(case, indent + 4)
            lines += self.block(case.body, indent + 8)
        lines += self._rest(node, "orelse", "else:", indent)
        lines += self._rest(node, "finalbody", "finally:", indent)
        return lines

    def _rest(self, node: Any, field: str, keyword: str, indent: int) -> list[str]:
        """The ``else`` or ``finally`` of a statement."""
        block = getattr(node, field, None)
        if not block:
            return []
        first = block[0]
        if type(node).__name__ == type(first).__name__ == "If" and len(block) == 1:
            if not self.text.is_nested_if(first):
                lines = self.text.above(first, indent)
                own = self.text.verbatim([first], indent, "elif")
                lines += own or self.statement(first, indent, "elif")
                return lines + self.text.after(first, indent)
        lines = self.text.clause(node, field, " " * indent + keyword, indent)
        return lines + self.block(block, indent + 4)

    def header(self, node: Any, indent: int, keyword: str | None = None) -> list[str]:
        """The lines of a compound statement up to its colon."""
        own = self.text.header(node, indent, keyword)
        if own is not None:
            return own
        lines: list[str] = []
        for decorator in getattr(node, "decorator_list", ()):
            lines += wrap(
                ["@", *tokens_of(decorator, self.pristine)], indent, self.width
            )
        bare: dict[str, list[Any]] = {n: [] for n in (*BLOCKS, "decorator_list")}
        bare = {name: [] for name in bare if name in node._fields}
        tokens = tokens_of(clone(node, **bare), self.pristine, keyword)
        lines += wrap(tokens, indent, self.width, hang=8)
        return self._annotated(node, tokens, lines, indent)

    def _annotated(
        self, node: Any, tokens: Iterable[str], lines: list[str], indent: int
    ) -> list[str]:
        """Lines that were printed anew, with the comments of the original statement."""
        # A comment cannot follow a line that ends inside a string.
        solid = not any("\n" in token for token in tokens)
        return self.text.annotated(self.text.key(node), lines, indent, solid)


def _without_blank(lines: list[str]) -> list[str]:
    start = next((i for i, line in enumerate(lines) if line), len(lines))
    return lines[start:]
