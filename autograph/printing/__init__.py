"""Printing: unchanged statements as the user wrote them, others through astor."""

from __future__ import annotations

import gast

from .blocks import Blocks
from .line_breaks import wrap
from .pristine import Pristine
from .statements import tokens_of

__all__ = ["Pristine", "unparse"]


def unparse(node: gast.AST, pristine: Pristine | None = None, width: int = 88) -> str:
    """The source text of a tree.

    Parts of the tree that are `pristine` are printed as they were written, with their
    comments; without it everything is printed anew. No line is longer than `width`
    unless the source's was, or a string is.

    Modules and statements end in a newline, expressions do not:

    >>> print(unparse(gast.parse("if a: b=(1)")), end="")
    if a:
        b = 1
    """
    if isinstance(node, (gast.Module, gast.Interactive, gast.Suite)):
        if pristine is not None and not node.body and node in pristine:
            return pristine.source.text
        return _text(Blocks(node, pristine, width).block(node.body, 0))
    if isinstance(node, gast.stmt):
        return _text(Blocks(node, pristine, width).block([node], 0))
    if isinstance(node, gast.Expression):
        node = node.body
    return "\n".join(wrap(tokens_of(node, pristine), 0, width))


def _text(lines: list[str]) -> str:
    return "\n".join([*lines, ""])
