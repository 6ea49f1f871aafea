"""The statements as they were written, for when nothing can be staged.

A converted function asks first whether a tensor library may stage anything. While none
may, its own statements mean what Python says, at Python's speed:

    def f(x):
        if ag.staging.idle:
            if x > 10:                   # as written
                x = x * 2
            return x

        def if_true():                   # as converted
            nonlocal x
            x = x * 2
        ag.cond(x > 10, if_true, state='x')
        return x

Functions within a function may be called when this has changed: those that the user's
statements define ask for themselves. What may meet staged values in the middle has its
converted form alone: a function with a ``with`` statement of its own (it may begin to
stage), a generator that is sent values, and a coroutine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from ..lang import nodes
from ..lang.visitors import Transformer, clone
from .comprehensions import with_own_names

__all__ = ["with_plain_form"]

#: Where a function stands in the source, which tells it from all others.
_Place = tuple[type, int, int, int | None, int | None]
_FUNCTIONS = (gast.FunctionDef, gast.Lambda)
_WITH = (gast.With, gast.AsyncWith)
_YIELDS = (gast.Yield, gast.YieldFrom)
_DECLARATIONS = (gast.Global, gast.Nonlocal)
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)


def with_plain_form(tree: gast.AST, ag: str) -> Any:
    """A converted function or module, whose functions run as written while they can.

    ``ag`` is the name of the operators. The converted functions in the tree have the
    definition that they were made of as their attribute ``original``.
    """
    return _Outermost(ag).visit(tree)


def _original(node: Any) -> Any:
    """What a function was converted from; None if it stands as it was written."""
    return getattr(node, "original", None) if isinstance(node, _FUNCTIONS) else None


class _Outermost(Transformer):
    """Gives converted functions their second form, but none within another."""

    def __init__(self, ag: str) -> None:
        super().__init__()
        self._ag = ag

    def visit_FunctionDef(self, node: Any) -> Any:
        original = _original(node)
        if original is None:
            return node
        return _both(original, node, original, self._ag)

    visit_Lambda = visit_FunctionDef

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        return node


class _Written(Transformer):
    """What the user wrote, with both forms for the functions in it."""

    def __init__(self, converted: Mapping[_Place, Any], ag: str) -> None:
        super().__init__()
        self._converted = converted
        self._ag = ag

    def of(self, node: Any) -> Any:
        """A node with both forms; itself if there are no functions in it."""
        return self.visit(node) if self._converted else node

    def of_all(self, body: list[Any]) -> list[Any]:
        """Statements with both forms."""
        return self.visit_list(body) if self._converted else body

    def visit_FunctionDef(self, node: Any) -> Any:
        decorators = self.visit_list(node.decorator_list)
        return self._function(clone(node, decorator_list=decorators), node)

    def visit_Lambda(self, node: Any) -> Any:
        return self._function(node, node)

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        return self._converted.get(_place(node), node)

    def _function(self, head: Any, node: Any) -> Any:
        converted = self._converted.get(_place(node))
        if converted is None:
            return node
        head = clone(head, args=self.visit(node.args))
        return _both(node, with_own_names(converted), head, self._ag)


class _Undeclared(Transformer):
    """Statements without the declarations of names, which it collects."""

    def __init__(self) -> None:
        super().__init__()
        self.declared: dict[tuple[type, str], gast.AST] = {}

    def visit_list(self, items: list[Any]) -> list[Any]:
        new = super().visit_list(items)
        return new or [nodes.located(gast.Pass(), item) for item in items[:1]]

    def visit_Global(self, node: Any) -> None:
        for name in node.names:
            self.declared.setdefault((type(node), name), node)

    visit_Nonlocal = visit_Global

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef


def _both(original: Any, converted: Any, head: Any, ag: str) -> Any:
    """The definition ``head`` with what was written and what was made of it."""
    kinds = _kinds(original)
    written = _Written(
        {} if kinds.isdisjoint(_SCOPES) else _functions_in(converted), ag
    )
    if isinstance(original, gast.Lambda):
        value = written.of(original.body)
        choice = gast.IfExp(_is_idle(ag, value), value, converted.body)
        return clone(head, body=nodes.located(choice, value))
    if not kinds.isdisjoint(_WITH + _YIELDS) and _may_change(original.body):
        return clone(head, body=converted.body)
    doc, body = _apart(original.body)
    plain, other = written.of_all(body), converted.body[len(doc) :]
    declared: list[Any] = []
    if not kinds.isdisjoint(_DECLARATIONS):
        undeclared = _Undeclared()
        plain, other = map(undeclared.visit_list, (plain, other))
        declared = [kind([name]) for kind, name in undeclared.declared]
    first = body[0]
    if not isinstance(plain[-1], gast.Return):
        plain = [*plain, nodes.return_(None, plain[-1])]
    return clone(
        head,
        body=[
            *doc,
            *(nodes.located(declaration, first) for declaration in declared),
            nodes.if_(_is_idle(ag, first), plain, [], first),
            *other,
        ],
    )


def _kinds(node: Any) -> set[type]:
    """The types of the nodes of a function as it was written, itself left out."""
    pending = [node]
    for node in pending:
        for child in vars(node).values():
            if child.__class__ is list:
                pending += [part for part in child if isinstance(part, gast.AST)]
            elif isinstance(child, gast.AST):
                pending.append(child)
    return {node.__class__ for node in pending[1:]}


def _functions_in(converted: Any) -> dict[_Place, Any]:
    """The converted functions inside one, and coroutines, by where they stand in the
    source.
    """
    body = converted.body
    statements = body if isinstance(body, list) else [body]
    return {
        _place(node): node
        for statement in statements
        for node in gast.walk(statement)
        if _original(node) is not None or isinstance(node, gast.AsyncFunctionDef)
    }


def _may_change(body: list[Any]) -> bool:
    """Whether staging may begin, or staged values come, while statements run: there is
    a ``with`` or a ``yield`` whose value is used, not in functions inside.
    """
    pending: list[Any] = list(body)
    for node in pending:
        if isinstance(node, (*_WITH, *_YIELDS)):
            return True
        if isinstance(node, gast.Expr) and isinstance(node.value, _YIELDS):
            node = node.value
        if not isinstance(node, _SCOPES):
            pending.extend(gast.iter_child_nodes(node))
    return False


def _place(node: Any) -> _Place:
    ends = node.end_lineno, node.end_col_offset
    return (type(node), node.lineno, node.col_offset, *ends)


def _apart(body: list[Any]) -> tuple[list[Any], list[Any]]:
    """The docstring of a function, and what follows."""
    first = body[0]
    value = first.value if isinstance(first, gast.Expr) else None
    is_text = isinstance(value, gast.Constant) and isinstance(value.value, str)
    position = int(is_text and len(body) > 1)
    return body[:position], body[position:]


def _is_idle(ag: str, at: gast.AST) -> gast.AST:
    """``ag.staging.idle``, where a node begins: on no line that may not run."""
    staging = nodes.attribute(nodes.name(ag, at), "staging", at)
    idle = nodes.attribute(staging, "idle", at)
    for node in (staging, idle):
        node.end_lineno, node.end_col_offset = node.lineno, node.col_offset
    return idle
