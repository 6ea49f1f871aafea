"""Which names a list of generated statements binds in its own scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import gast

from ..lang import nodes
from ..lang.visitors import child_nodes, walk, walk_scope

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_SUSPENDING = (gast.Yield, gast.YieldFrom, gast.Await)
_WRITES = (gast.Store, gast.Del)


def bound_names(statements: Iterable[gast.AST]) -> frozenset[str]:
    """The names that the statements bind or delete, those of inner scopes left out."""
    return frozenset(name for node in statements for name in _bound(node))


def bound_by(operands: Iterable[gast.AST], at: gast.AST) -> gast.Constant | None:
    """The argument ``state='a, b'`` of the names that some operands bind, if any."""
    names = [name for operand in operands for name in _bound(operand)]
    return nodes.constant(", ".join(dict.fromkeys(names)), at) if names else None


def suspends(expression: gast.AST) -> bool:
    """Whether an expression contains ``yield``, ``await`` or ``async for``."""
    return any(
        isinstance(inner, _SUSPENDING) or getattr(inner, "is_async", False)
        for inner in walk(expression)
    )


def _bound(node: gast.AST, in_comprehension: bool = False) -> Iterator[str]:
    if node.__class__ is gast.Name:
        if isinstance(node.ctx, _WRITES) and not in_comprehension:
            yield node.id
        return
    if node.__class__ is gast.Constant:
        return
    if isinstance(node, (*_FUNCTIONS, gast.ClassDef)):
        yield node.name
        for decorator in node.decorator_list:
            yield from _bound(decorator)
        return
    elif isinstance(node, gast.Lambda):
        return
    elif isinstance(node, gast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, (gast.MatchAs, gast.MatchStar)):
        if node.name is not None:
            yield node.name
    elif isinstance(node, gast.MatchMapping) and node.rest is not None:
        yield node.rest
    elif isinstance(node, gast.NamedExpr):
        # A walrus binds in the function, wherever it stands.
        yield node.target.id
        yield from _bound(node.value, in_comprehension)
        return
    inside = in_comprehension or isinstance(node, _COMPREHENSIONS)
    for child in child_nodes(node):
        yield from _bound(child, inside)


def local_functions(
    body: Iterable[gast.AST], others: Iterable[str] = ()
) -> frozenset[str]:
    """The names that ``body`` binds to its own undecorated functions and nothing else.

    Functions that may call themselves, through others too, are left out: a tensor
    library has to know of their calls. ``others``: names that are bound elsewhere too
    (parameters, declared names).
    """
    statements = list(body)
    bound = Counter(name for statement in statements for name in _bound(statement))
    functions = {
        node.name: node
        for statement in statements
        for node in walk_scope(statement)
        if isinstance(node, _FUNCTIONS) and not node.decorator_list
    }
    names = {name for name in functions if bound[name] == 1} - set(others)
    mentioned = {
        name: {n.id for n in walk(functions[name]) if isinstance(n, gast.Name)} & names
        for name in names
    }
    return frozenset(n for n in names if not _reaches(n, n, mentioned))


def _reaches(start: str, end: str, mentioned: dict[str, set[str]]) -> bool:
    """Whether a function mentions another, or one that does."""
    seen: set[str] = set()
    pending = set(mentioned[start])
    while pending:
        name = pending.pop()
        if name == end:
            return True
        if name not in seen:
            seen.add(name)
            pending |= mentioned[name]
    return False
