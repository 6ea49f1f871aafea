"""Which parts of a rewritten tree are still the user's own, and their text."""

from __future__ import annotations

import gast

from ..source import Source
from ..visitors import walk

__all__ = ["Pristine"]


class Pristine:
    r"""The nodes of a tree as it was parsed, and the source it was parsed from.

    Passes never change a node, so a node that is still the same object stands for the
    same text. Build this from the parsed tree, before or after rewriting:

    >>> source = Source("a = 0xFF\nb = a")
    >>> tree = gast.parse(source.text)
    >>> pristine = Pristine(tree, source)
    >>> tree.body[0] in pristine, gast.parse("a").body[0] in pristine
    (True, False)
    """

    def __init__(self, tree: gast.AST, source: Source) -> None:
        self.tree = tree
        self.source = source
        # The tree is held, so no other object can get the identity of its nodes.
        self._nodes = {id(node) for node in walk(tree)}

    def __contains__(self, node: gast.AST) -> bool:
        return id(node) in self._nodes
