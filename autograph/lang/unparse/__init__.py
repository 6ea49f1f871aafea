"""From trees to source: what nobody changed as it was written, the rest through astor."""

from __future__ import annotations

import gast

from .pristine import Pristine

__all__ = ["Pristine", "unparse"]


def unparse(node: gast.AST, pristine: Pristine | None = None, width: int = 88) -> str:
    """The source text of a tree.

    >>> unparse(gast.parse("a=1"))
    'a = 1'
    """
    return str(gast.unparse(node))
