"""The statements as they were written, for when nothing can be staged.

A converted function asks first whether a tensor library may stage anything. While none
may, its own statements mean what Python says, at Python's speed; what conversion made
of them is a function of its own, so that they share no variables with others:

    def f(x):
        if ag.staging.idle or ag.staging.elsewhere():
            if x > 10:                   # as written
                x = x * 2
            return x

        def staged(x):
            x = ag.cond(x > 10, lambda: x * 2, lambda: x)
            return x

        return staged(x)

Functions within a function may be called when this has changed: those that the user's
statements define ask for themselves. Where staging begins in the middle of a call, what
was written goes on, and no tensor can decide there: a function that enters a graph by
hand has its converted form alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast

from ..lang import nodes
from ..lang.code_objects import Helper
from ..lang.names import Namer
from ..lang.visitors import Transformer, clone
from .bindings import with_own_names

__all__ = ["with_both_forms"]

#: Where a function stands in the source, which tells it from all others.
_Place = tuple[type, int, int, int | None, int | None]
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
_YIELDS = (gast.Yield, gast.YieldFrom)
_SCOPES = (*_FUNCTIONS, gast.ClassDef)
#: The method by which a program enters a graph of TensorFlow's kind.
_ENTERS_GRAPH = "as_default"


def with_both_forms(tree: gast.AST, ag: str, helpers: set[Helper]) -> Any:
    """A converted function or module, whose functions run as written while they can.

    ``ag`` is the name of the operators; ``helpers`` collects the functions that are
    made. The converted functions in the tree have the definition that they were made of
    as their attribute ``original``.
    """
    return _Outermost(_Forms(ag, Namer(tree).fresh("staged"), helpers)).visit(tree)


def _original(node: Any) -> Any:
    """What a function was converted from; None if it stands as it was written."""
    return getattr(node, "original", None) if isinstance(node, _FUNCTIONS) else None


class _Outermost(Transformer):
    """Gives converted functions their second form, but none within another."""

    def __init__(self, forms: _Forms) -> None:
        super().__init__()
        self._forms = forms

    def visit_FunctionDef(self, node: Any) -> Any:
        original = _original(node)
        if original is None:
            return node
        return self._forms.both(original, node, original)

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef


class _Written(Transformer):
    """What the user wrote, with both forms for the functions in it."""

    def __init__(self, converted: Mapping[_Place, Any], forms: _Forms) -> None:
        super().__init__()
        self._converted = converted
        self._forms = forms

    def of(self, body: Any) -> Any:
        """Statements or an expression with both forms."""
        if not self._converted:
            return body
        return self.visit_list(body) if isinstance(body, list) else self.visit(body)

    def visit_FunctionDef(self, node: Any) -> Any:
        decorators = self.visit_list(node.decorator_list)
        return self._function(clone(node, decorator_list=decorators), node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Any) -> Any:
        return self._function(node, node)

    def _function(self, head: Any, node: Any) -> Any:
        converted = self._converted.get(_place(node))
        if converted is None:
            return node
        head = clone(head, args=self.visit(node.args))
        return self._forms.both(node, with_own_names(converted), head)


class _Forms:
    """Writes the two forms of a function into one definition."""

    def __init__(self, ag: str, name: str, helpers: set[Helper]) -> None:
        self._ag = ag
        self._name = name
        self._helpers = helpers

    def both(self, original: Any, converted: Any, head: Any) -> Any:
        """The definition ``head`` with what was written and what was made of it."""
        own, has_functions = _own_nodes(original)
        inside = _functions_in(converted) if has_functions else {}
        written = _Written(inside, self).of(original.body)
        if isinstance(original, gast.Lambda):
            choice = gast.IfExp(self._is_idle(written), written, converted.body)
            return clone(head, body=nodes.located(choice, written))
        is_generator = any(isinstance(node, _YIELDS) for node in own)
        is_coroutine = isinstance(original, gast.AsyncFunctionDef)
        if any(map(_enters_graph, own)) or (is_coroutine and is_generator):
            return clone(head, body=converted.body)
        doc, plain = _apart(written)
        first = plain[0]
        if not isinstance(plain[-1], gast.Return):
            plain = [*plain, nodes.return_(None, plain[-1])]
        body = converted.body[len(doc) :]
        parameters = _parameters(original.args)
        staged: Any = nodes.function(self._name, body, first, *parameters)
        self._helpers.add((staged.name, staged.lineno))
        result = _call(nodes.name(self._name, first), parameters, first)
        if is_coroutine:
            staged = nodes.located(_as_coroutine(staged), first)
            result = nodes.located(gast.Await(result), first)
        elif is_generator:
            result = nodes.located(gast.YieldFrom(result), first)
        test = nodes.if_(self._is_idle(first), plain, [], first)
        return clone(head, body=[*doc, test, staged, nodes.return_(result, first)])

    def _is_idle(self, at: gast.AST) -> gast.AST:
        """``ag.staging.idle or ag.staging.elsewhere()``, where a node begins: on no
        line that may not run.
        """
        staging = nodes.attribute(nodes.name(self._ag, at), "staging", at)
        elsewhere = nodes.call(nodes.attribute(staging, "elsewhere", at), [], at)
        tests = [nodes.attribute(staging, "idle", at), elsewhere]
        either = nodes.located(gast.BoolOp(gast.Or(), tests), at)
        for node in gast.walk(either):
            if hasattr(node, "end_lineno"):
                node.end_lineno, node.end_col_offset = node.lineno, node.col_offset
        return either


def _own_nodes(function: Any) -> tuple[list[Any], bool]:
    """The nodes of a function as it was written, and whether others are defined in it,
    whose nodes are left out.
    """
    body = function.body
    nodes_found: list[Any] = list(body) if isinstance(body, list) else [body]
    has_scopes = False
    for node in nodes_found:
        if isinstance(node, _SCOPES):
            has_scopes = True
        else:
            nodes_found.extend(gast.iter_child_nodes(node))
    return nodes_found, has_scopes


def _enters_graph(node: Any) -> bool:
    """Whether a function begins to stage by itself, as far as its text tells."""
    return isinstance(node, gast.Attribute) and node.attr == _ENTERS_GRAPH


def _functions_in(converted: Any) -> dict[_Place, Any]:
    """The converted functions inside one, by where they stand in the source."""
    body = converted.body
    statements = body if isinstance(body, list) else [body]
    return {
        _place(node): node
        for statement in statements
        for node in gast.walk(statement)
        if _original(node) is not None
    }


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


def _parameters(args: Any) -> list[str]:
    """The names of all parameters of a function."""
    found = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [parameter.id for parameter in found if parameter is not None]


def _call(function: gast.AST, parameters: list[str], at: gast.AST) -> gast.Call:
    """The call with the variables that the parameters are, as they are."""
    return nodes.call(function, [nodes.name(p, at) for p in parameters], at)


def _as_coroutine(definition: gast.FunctionDef) -> gast.AsyncFunctionDef:
    fields = {field: getattr(definition, field) for field in definition._fields}
    return gast.AsyncFunctionDef(**fields)
