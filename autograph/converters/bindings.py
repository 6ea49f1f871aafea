"""Which names a list of generated statements binds in its own scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import gast

from ..lang.visitors import child_nodes, walk_scope

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_WRITES = (gast.Store, gast.Del)


def bound_names(statements: Iterable[gast.AST]) -> frozenset[str]:
    """The names that the statements bind or delete, those of inner scopes left out."""
    return frozenset(name for node in statements for name in _bound(node))


def _bound(node: gast.AST, in_comprehension: bool = False) -> Iterator[str]:
    if isinstance(node, gast.Name):
        if isinstance(node.ctx, _WRITES) and not in_comprehension:
            yield node.id
    elif isinstance(node, (*_FUNCTIONS, gast.ClassDef)):
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

    ``others``: names that are bound elsewhere too (parameters, declared names).
    """
    statements = list(body)
    bound = Counter(name for statement in statements for name in _bound(statement))
    functions = Counter(
        node.name
        for statement in statements
        for node in walk_scope(statement)
        if isinstance(node, _FUNCTIONS) and not node.decorator_list
    )
    return frozenset(n for n in functions if functions[n] == bound[n]) - set(others)
