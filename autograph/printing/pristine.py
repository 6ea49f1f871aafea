"""`Pristine`: tells which parts of a rewritten tree are still the user's own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import gast

from ..interpreter import cached_property
from ..source.text import Source
from ..trees.translate import is_untouched
from ..trees.visitors import all_blocks
from .comments import Comments, first_line

#: The fields of compound statements that hold statements, or clauses with statements.
BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")


class Pristine:
    r"""The nodes of a tree as it was parsed, and the source it was parsed from.

    Passes never change a node, so an untouched node stands for the same text. Build
    this from the parsed tree, before or after rewriting:

    >>> from autograph.source.parse import parse_module
    >>> source = Source("a = 0xFF\nb = a")
    >>> tree = parse_module(source)
    >>> pristine = Pristine(tree, source)
    >>> tree.body[0] in pristine, gast.parse("a").body[0] in pristine
    (True, False)
    """

    def __init__(self, tree: gast.AST, source: Source) -> None:
        self.tree = tree
        self.source = source

    def __contains__(self, node: gast.AST) -> bool:
        return is_untouched(node)

    @cached_property
    def comments(self) -> Comments:
        """The comments around the statements."""
        return Comments(self.tree, self.source)

    @cached_property
    def _blocks(self) -> list[list[Any]]:
        found: list[list[Any]] = []
        stack: list[list[Any]] = [[self.tree]]
        while stack:
            block = stack.pop()
            found.append(block)
            for statement in block:
                stack.extend(all_blocks(statement))
        return found

    @cached_property
    def _places(self) -> dict[tuple[str, int, int], Any]:
        places = {}
        for block in self._blocks:
            for node in block:
                clauses = getattr(node, "handlers", ()) or getattr(node, "cases", ())
                for part in (node, *clauses):
                    places[_place(part)] = part
        return places

    @cached_property
    def _following(self) -> dict[int, int]:
        return {
            id(node): id(following)
            for block in self._blocks
            for node, following in pairwise(block)
        }

    def original(self, node: Any) -> Any:
        """The original of a statement or clause in the parsed source, or None.

        A statement of another kind at the same position is a new one.
        """
        found = self._places.get(_place(node))
        same = getattr(found, "name", None) == getattr(node, "name", None)
        return found if same or not isinstance(found, _DEFINITIONS) else None

    def adjacent(self, node: gast.AST, following: gast.AST) -> bool:
        """Whether a statement still comes right after another."""
        return self._following.get(id(node)) == id(following)

    def start(self, node: Any) -> tuple[int, int]:
        """Line and character column of a statement, decorators included, or clause."""
        line = first_line(node, self.source.lines)
        return line, self.source.column(node.lineno, node.col_offset)

    def end(self, node: Any) -> tuple[int, int]:
        """Line and character column of the end of a node."""
        line = int(node.end_lineno)
        return line, self.source.column(line, node.end_col_offset)


_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


def _place(node: Any) -> tuple[str, int, int]:
    # A `case` has no position of its own.
    at = getattr(node, "pattern", node)
    place = (getattr(at, "lineno", 0), getattr(at, "col_offset", 0))
    return (type(node).__name__, *place)
