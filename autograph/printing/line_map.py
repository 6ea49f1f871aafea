"""Which line of the source each line of converted code comes from.

The statements of the printed text and those of the tree that was printed are the same
ones in the same order; those of the tree have their lines in the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def line_map(tree: Any, text: str) -> list[tuple[int, int]]:
    r"""Pairs of lines, of the printed text and of the source, for each statement.

    Args:
        tree: the converted module, a node of gast.
        text: what was printed of it.

    >>> import gast
    >>> line_map(gast.parse("a = (1 +\n2)\nb = 3\n"), "a = 1 + 2\nb = 3\n")
    [(1, 1), (2, 3)]
    """
    printed, written = _statements(ast.parse(text)), _statements(tree)
    return [(p.lineno, w.lineno) for p, w in zip(printed, written, strict=True)]


def _statements(node: Any) -> Iterator[Any]:
    """The statements and handlers in a node, in order, but none in a lambda."""
    for field in _BLOCKS:
        block = getattr(node, field, ())
        for statement in block if isinstance(block, list) else ():
            if hasattr(statement, "lineno"):
                yield statement
            yield from _statements(statement)
