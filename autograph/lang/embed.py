"""Code that holds a value as a constant, where a name would have to be found.

Code that takes the place of other code (``function.__code__``) has the other's free
variables and globals and no more: what generated code needs besides is a part of it.
"""

from __future__ import annotations

from typing import Any

from . import nodes
from .bound import PLACE
from .visitors import Transformer

__all__ = ["placeheld"]


class _Placeholders(Transformer):
    """Puts the placeholder where a name is read."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def visit_Name(self, node: Any) -> Any:
        return nodes.constant(PLACE, node) if node.id == self._name else node


def placeheld(tree: Any, name: str) -> Any:
    """The tree with a placeholder in place of a name, for `bound.filled`."""
    return _Placeholders(name).visit(tree)
