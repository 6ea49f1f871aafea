"""Code that holds a value as a constant, where a name would have to be found.

Code that takes the place of other code (``function.__code__``) has the other's free
variables and globals and no more: what generated code needs besides is a part of it.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from . import nodes
from .visitors import Transformer

__all__ = ["filled", "placeheld"]

#: No text of the user's: a name of ours, after a character that nobody writes.
_PLACE = "\0autograph.operators"


class _Placeholders(Transformer):
    """Puts the placeholder where a name is read."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def visit_Name(self, node: Any) -> Any:
        return nodes.constant(_PLACE, node) if node.id == self._name else node


def placeheld(tree: Any, name: str) -> Any:
    """The tree with a placeholder in place of a name, for `filled`."""
    return _Placeholders(name).visit(tree)


def filled(code: CodeType, value: Any) -> CodeType:
    """The code, that inside it included, with ``value`` where the placeholder is."""
    constants = (
        filled(constant, value)
        if isinstance(constant, CodeType)
        else value
        if constant == _PLACE
        else constant
        for constant in code.co_consts
    )
    return code.replace(co_consts=tuple(constants))
