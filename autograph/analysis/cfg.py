"""The control-flow graph of one function.

A node is a step that happens as a whole: a simple statement, a test, the taking of the
next item, a pattern. `succ` is where control goes when the step completes, `exc` where
it goes when the step raises (None: out of the function).

    def f(xs, n):            0 entry -> 1
        for x in xs:         1 L2 iter xs -> 2
            n += x           2 L2 next -> 3, 5
        return n             3 L2 target x -> 4
                             4 L3 n += x -> 2
                             5 L4 return n -> 6
                             6 exit

`finally` blocks are copied for each kind of way out (end of the block, exception,
return, break, continue), as Python's own compiler does: paths that cannot happen do not
meet. A statement can therefore have several nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gast

__all__ = ["Graph", "Node", "Point"]


class Node:
    """One step. ``parts`` are the syntax nodes it evaluates, ``stmt`` its statement.

    ``kind`` is 'entry', 'exit', 'do' (a simple statement), 'test', 'loop', 'head',
    'iter', 'next', 'target', 'enter', 'bind', 'leave', 'except', 'unbind', 'subject',
    'match' or 'guard'.
    """

    __slots__ = ("exc", "index", "kind", "parts", "stmt", "succ")

    def __init__(
        self,
        kind: str,
        stmt: Any,
        parts: tuple[Any, ...],
        succ: Sequence[Node],
        exc: Node | None,
    ) -> None:
        self.kind = kind
        self.stmt = stmt
        self.parts = parts
        self.succ = succ
        self.exc = exc
        self.index = -1

    def __repr__(self) -> str:
        return f"<{self.index} {_label(self)}>"


class Point:
    """One place of a statement in the graph: where it starts, what follows, and where
    an exception in it goes (None: out of the function).
    """

    def __init__(self, before: Node, after: Node, exc: Node | None) -> None:
        self.before = before
        self.after = after
        self.exc = exc


class Graph:
    """Nodes in about the order of the source; ``str(graph)`` is stable."""

    def __init__(
        self,
        nodes: tuple[Node, ...],
        entry: Node,
        exit: Node,
        points: Mapping[Any, tuple[Point, ...]],
        heads: Mapping[Any, tuple[Node, ...]],
    ) -> None:
        self.nodes = nodes
        self.entry = entry
        self.exit = exit
        #: The places of each statement; none for a statement of a nested function.
        self.points = points
        #: The nodes at which a loop decides whether to go on.
        self.heads = heads

    def __str__(self) -> str:
        return "\n".join(_line(node) for node in self.nodes)


def _line(node: Node) -> str:
    text = f"{node.index} {_label(node)}"
    if node.succ:
        text += " -> " + ", ".join(str(successor.index) for successor in node.succ)
    if node.exc is not None:
        text += f" ! {node.exc.index}"
    return text


def _label(node: Node) -> str:
    if node.stmt is None:
        return node.kind
    words = {"do": "", "test": "if "}
    if node.stmt.__class__ is gast.While:
        words["test"] = "while "
    text = words.get(node.kind, node.kind + " ")
    if node.kind == "do" and node.stmt.__class__ in _DEFINITIONS:
        text += f"define {node.stmt.name}"
    elif node.kind == "unbind":
        text += str(node.stmt.name.id)
    else:
        text += ", ".join(gast.unparse(part).strip() for part in node.parts)
    line = getattr(node.parts[0] if node.parts else node.stmt, "lineno", None)
    return f"L{line or node.stmt.lineno} {text.strip()}"


_DEFINITIONS = frozenset({gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef})
