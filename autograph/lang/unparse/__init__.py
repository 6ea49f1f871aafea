"""From trees to source: what is unchanged as it was written, the rest through astor."""

from __future__ import annotations

import gast

from ._blocks import Blocks
from ._statements import tokens_of
from ._wrap import wrap
from .pristine import Pristine

__all__ = ["Pristine", "unparse"]


def unparse(node: gast.AST, pristine: Pristine | None = None, width: int = 88) -> str:
    """The source text of a tree.

    >>> unparse(gast.parse("a=1"))
    'a = 1'
    """
    b = Blocks(pristine, width)
    if isinstance(node, gast.Module):
        return "\n".join(b.block(node.body, 0)) + "\n"
    if isinstance(node, gast.stmt):
        return "\n".join(b.statement(node, 0)) + "\n"
    return "\n".join(wrap(tokens_of(node, pristine), 0, width))
