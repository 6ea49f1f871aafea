"""Which names the text of a function uses, and how.

>>> tree = gast.parse("lambda x: x * model.rate(scale)").body[0].value
>>> for use in uses_in(tree):
...     print(*use[:3])
name x read
attribute rate called
name model .rate
name scale read
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..trees.visitors import child_nodes

#: A function within a function: its first line and its name.
Scope = tuple[int, str]
#: One way in which a name is used: plain tuples, which the disk cache can hold.
#:
#: - what it is a name of: ``name`` (a variable), ``attribute``, ``super`` (an attribute
#:   of bases; without a name any), ``import`` (a module), ``text`` (a string that may
#:   be a name), or ``is`` (two objects are compared)
#: - the name
#: - how it is used: ``read``, ``called``, ``stored``, or ``.rate`` where of its value
#:   no more is asked than an attribute
#: - the functions in which it stands, within the one that is looked at
#: - the first line
Use = tuple[str, str, str, tuple[Scope, ...], int]

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
_IDENTITY = (gast.Is, gast.IsNot)


def uses_in(function: Any) -> tuple[Use, ...]:
    """The uses in the body of a definition or lambda, in the order of the text."""
    uses: dict[Any, int] = {}
    scopes: Counter[Scope] = Counter()
    body = function.body if isinstance(function.body, list) else [function.body]
    pending: list[Any] = [(node, "read", ()) for node in reversed(body)]
    while pending:
        node, how, inside = pending.pop()
        for kind, name, way in _uses_at(node, how):
            uses.setdefault((kind, name, way, inside), getattr(node, "lineno", 0))
        children = [(child, _how(node, child), inside) for child in child_nodes(node)]
        if isinstance(node, _FUNCTIONS):
            scope = node.lineno, getattr(node, "name", "<lambda>")
            scopes[scope] += 1
            inner = node.body if isinstance(node.body, list) else [node.body]
            own = set(map(id, inner))
            children = [
                (child, way, (*inside, scope) if id(child) in own else inside)
                for child, way, _ in children
            ]
        pending += reversed(children)
    # Of two functions that begin on one line nobody could tell which one it is.
    return tuple(
        (kind, name, how, tuple(s for s in inside if scopes[s] == 1), line)
        for (kind, name, how, inside), line in uses.items()
    )


def _how(node: Any, child: Any) -> str:
    """How the value of an expression is used by the node around it."""
    if isinstance(node, gast.Call) and child is node.func:
        return "called"
    if isinstance(node, gast.Attribute):
        return f".{node.attr}"
    # `total += 1` reads it, too.
    return "augmented" if isinstance(node, gast.AugAssign) else "read"


def _uses_at(node: Any, how: str) -> list[tuple[str, str, str]]:
    """What a node itself names."""
    if isinstance(node, (gast.Name, gast.Attribute)):
        is_name = isinstance(node, gast.Name)
        if isinstance(node.ctx, gast.Param):
            return []
        if not isinstance(node.ctx, gast.Load):
            how = "read" if how == "augmented" else "stored"
        elif how == "augmented":
            how = "read"
        return [("name", node.id, how) if is_name else ("attribute", node.attr, how)]
    if isinstance(node, gast.Constant):
        is_name = isinstance(node.value, str) and node.value.isidentifier()
        return [("text", node.value, how)] if is_name else []
    if isinstance(node, gast.Call):
        is_super = isinstance(node.func, gast.Name) and node.func.id == "super"
        return [("super", how.partition(".")[2], "read")] if is_super else []
    if isinstance(node, gast.Compare):
        pairs = zip(node.ops, node.comparators)
        asks = any(isinstance(op, _IDENTITY) and not _is_one(c) for op, c in pairs)
        return [("is", "", how)] if asks else []
    if isinstance(node, gast.Import):
        return [("import", alias.name, how) for alias in node.names]
    if isinstance(node, gast.ImportFrom):
        names = [("attribute", alias.name, how) for alias in node.names]
        return [("import", node.module or "", how), *names]
    if isinstance(node, gast.MatchClass):
        names = [("attribute", name, how) for name in node.kwd_attrs]
        return [("attribute", "__match_args__", how), *names]
    return []


def _is_one(node: Any) -> bool:
    """Whether it is None, True or False, of which there is one each."""
    return isinstance(node, gast.Constant) and node.value in (None, True, False)
