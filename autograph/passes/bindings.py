"""Which names code binds and reads in its own scope.

Facts know this of the user's code; these questions are about generated code, too.

From 3.12 on Python runs list, set and dict comprehensions as parts of the function
around them. It then mistakes ``x`` of the comprehension for ``x`` of an outer function
where one function mentions both, and it is conversion that makes outer functions: in
``if c: y = [x for x in z] + [x]``, ``x`` belongs to the function around the branch. The
comprehension's own variable, which nobody else can see, gets another name there: see
`unhidden`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import gast

from ..trees import nodes
from ..trees.names import Namer
from ..trees.visitors import (
    Transformer,
    child_nodes,
    clone,
    outer_parts,
    statements_in,
    walk,
    walk_scope,
)

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
_FUNCTIONS_AND_LAMBDAS = frozenset({*_FUNCTIONS, gast.Lambda})
_SCOPES = frozenset({*_FUNCTIONS_AND_LAMBDAS, gast.ClassDef})
_COMPREHENSIONS = frozenset(
    {gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp}
)
_SUSPENDING = (gast.Yield, gast.YieldFrom, gast.Await)
_WRITES = frozenset({gast.Store, gast.Del})
#: What binds a name without a `Name`.
_NAMING = frozenset({gast.alias, gast.MatchAs, gast.MatchStar, gast.MatchMapping})


def bound_names(statements: Iterable[gast.AST]) -> frozenset[str]:
    """The names that the statements bind or delete, those of inner scopes left out."""
    return frozenset(bindings_in(statements))


def bound_by(operands: Iterable[gast.AST], at: gast.AST) -> gast.Constant | None:
    """The argument ``state='a, b'`` of the names that some operands bind, if any."""
    names = bindings_in(operands)
    return nodes.constant(", ".join(dict.fromkeys(names)), at) if names else None


def suspends(expression: gast.AST) -> bool:
    """Whether an expression contains ``yield``, ``await`` or ``async for``."""
    return _contains(expression, _SUSPENDING)


def suspends_or_binds(expression: gast.AST) -> bool:
    """Whether an expression contains one of these, or ``:=``."""
    return _contains(expression, (*_SUSPENDING, gast.NamedExpr))


def _contains(expression: gast.AST, kinds: tuple[type, ...]) -> bool:
    return any(
        isinstance(inner, kinds) or getattr(inner, "is_async", False)
        for inner in walk(expression)
    )


def bindings_in(nodes: Iterable[gast.AST]) -> list[str]:
    """The names that the nodes bind or delete, in order, with repetitions."""
    found: list[str] = []
    stack: list[Any] = list(nodes)
    stack.reverse()
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is gast.Name:
            if node.ctx.__class__ in _WRITES:
                found.append(node.id)
            continue
        if kind in _SCOPES:
            if kind is not gast.Lambda:
                found.append(node.name)
            children = list(outer_parts(node))
        elif kind is gast.comprehension:  # whose target is a variable of its own
            children = [node.iter, *node.ifs]
        else:
            if kind in _NAMING:
                found += _name_of(node)
            children = child_nodes(node)
        children.reverse()
        stack += children
    return found


def _name_of(node: Any) -> list[str]:
    """The name that an import or a pattern binds by itself, if any."""
    if isinstance(node, gast.alias):
        return [node.asname or node.name.partition(".")[0]]
    name = node.rest if isinstance(node, gast.MatchMapping) else node.name
    return [] if name is None else [name]


def local_functions(
    body: Iterable[gast.AST], others: Iterable[str] = ()
) -> frozenset[str]:
    """The names that ``body`` binds to its own undecorated functions and nothing else.

    Functions that may call themselves, through others too, are left out: a tensor
    library has to know of their calls. ``others``: names that are bound elsewhere too
    (parameters, declared names).
    """
    statements = list(body)
    functions = {
        node.name: node
        for node in statements_in(statements)
        if isinstance(node, _FUNCTIONS) and not node.decorator_list
    }
    if not functions:
        return frozenset()
    bound = Counter(bindings_in(statements))
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


# --- comprehensions -----------------------------------------------------------------


def comprehension_targets(nodes: Iterable[gast.AST]) -> frozenset[str]:
    """The names that the comprehensions among some nodes bind."""
    found = (_targets(node) for node in nodes if node.__class__ in _COMPREHENSIONS)
    return frozenset().union(*found)


def _targets(comprehension: Any) -> frozenset[str]:
    return frozenset(
        node.id
        for generator in comprehension.generators
        for node in walk(generator.target)
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)
    )


def names_read(nodes: Iterable[gast.AST], names: frozenset[str]) -> frozenset[str]:
    """Which of the names are read as variables of the function that the nodes are in,
    by it or by inner functions, or are declared nonlocal by these.
    """
    found: set[str] = set()
    stack: list[Any] = list(nodes) if names else []
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is gast.Name:
            if node.id in names and node.ctx.__class__ is gast.Load:
                found.add(node.id)
        elif kind is gast.Nonlocal:
            found.update(names.intersection(node.names))
        elif kind in _FUNCTIONS_AND_LAMBDAS:
            found |= _read_inside(node, names)
            stack += [node.args, *getattr(node, "decorator_list", ())]
        elif kind in _COMPREHENSIONS:
            found |= names_read(child_nodes(node), names - _targets(node))
            stack.append(node.generators[0].iter)
        else:
            stack += child_nodes(node)
    return frozenset(found)


def _read_inside(function: Any, names: frozenset[str]) -> frozenset[str]:
    """Which of the names around a function its body reads."""
    if isinstance(function, gast.Lambda):
        return names_read([function.body], names - _parameters(function))
    nonlocals: set[str] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, gast.Nonlocal):
            nonlocals.update(statement.names)
    own = bound_names(function.body) - nonlocals
    return names_read(function.body, names - _parameters(function) - own)


def _parameters(function: Any) -> frozenset[str]:
    return frozenset(
        node.id
        for node in walk(function.args)
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Param)
    )


def unhidden(
    nodes: list[gast.AST], names: frozenset[str], namer: Namer
) -> list[gast.AST]:
    """The nodes with other names for comprehension variables that hide some names, as
    far as both are mentioned; the same nodes if there are none.
    """
    if not names:
        return nodes
    inside = (inner for node in nodes for inner in walk_scope(node))
    hidden = names_read(nodes, names & comprehension_targets(inside))
    if not hidden:
        return nodes
    renamer = _Renamer({name: namer.fresh(name) for name in sorted(hidden)})
    return [renamer.visit(node) for node in nodes]


class _Renamer(Transformer):
    """Renames the variables of comprehensions, by the names of those they hide."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._inside: dict[str, str] = {}

    def visit_Name(self, node: Any) -> Any:
        name = self._inside.get(node.id)
        return node if name is None else clone(node, id=name)

    def visit_ListComp(self, node: Any) -> Any:
        first, *rest = node.generators
        iterated = self.visit(first.iter)
        outside, own = self._inside, _targets(node)
        self._inside = {k: v for k, v in outside.items() if k not in own}
        self._inside.update((k, v) for k, v in self._names.items() if k in own)
        new = self.generic_visit(clone(node, generators=[_without_iter(first), *rest]))
        self._inside = outside
        first, *rest = new.generators
        return clone(new, generators=[clone(first, iter=iterated), *rest])

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_Lambda(self, node: Any) -> Any:
        args = self.visit(node.args)
        outside = self._inside
        hidden = _parameters(node)
        self._inside = {k: v for k, v in outside.items() if k not in hidden}
        body = self.visit(node.body)
        self._inside = outside
        return clone(node, args=args, body=body)

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef


def _without_iter(generator: Any) -> Any:
    return clone(generator, iter=gast.Constant(None, None))
