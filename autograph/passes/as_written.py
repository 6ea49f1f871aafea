"""The statements as they were written, for when nothing can be staged.

A converted function asks first whether a tensor library may stage anything. While none
may, its own statements mean what Python says, at Python's speed; what conversion made
of them is a function of its own, so that they share no variables with others:

    def f(x):
        if ag.staging.idle or ag.staging.thread.elsewhere:
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

from typing import Any

import gast

from ..trees import nodes
from ..trees.nodes import split_docstring
from ..trees.translate import is_untouched
from ..trees.visitors import Transformer, child_nodes, clone
from .context import Context, ConvertedFunction, ConvertedFunctions, position

_YIELDS = (gast.Yield, gast.YieldFrom)
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
#: The method by which a program enters a graph of TensorFlow's kind. The name decides
#: the speed alone: a function with a method of its own by that name runs its converted
#: form at all times, and one that enters a graph by another name is refused (AG301)
#: where a tensor decides in the statements as written.
_ENTERS_GRAPH = "as_default"


def with_both_forms(tree: gast.AST, context: Context, text: str) -> Any:
    """A converted function or module, whose functions run as written while they can.

    ``context`` tells of its functions; ``text`` is the source that they are from.
    """
    if not context.converted:
        return tree
    forms = _Forms(context, _ENTERS_GRAPH in text)
    return _Outermost(context.converted, forms).visit(tree)


class _Outermost(Transformer):
    """Gives converted functions their second form, but none within another."""

    def __init__(self, converted: ConvertedFunctions, forms: _Forms) -> None:
        self._converted = converted
        self._forms = forms

    def visit(self, node: Any) -> Any:
        return node if is_untouched(node) else super().visit(node)

    def visit_FunctionDef(self, node: Any) -> Any:
        function = self._converted.get(position(node))
        if function is None:
            return node
        head = clone(
            function.original,
            args=self.visit(node.args),
            decorator_list=self.visit_list(node.decorator_list),
        )
        return self._forms.both(function, head)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Any) -> Any:
        function = self._converted.get(position(node))
        return node if function is None else self._forms.both(function, node)


class _Written(Transformer):
    """What the user wrote, with both forms for the functions in it."""

    def __init__(self, converted: ConvertedFunctions, forms: _Forms) -> None:
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
        function = self._converted.get(position(node))
        if function is None:
            return node
        return self._forms.both(function, clone(head, args=self.visit(node.args)))


class _Forms:
    """Writes the two forms of a function into one definition."""

    def __init__(self, context: Context, may_enter_graph: bool) -> None:
        self._ag = context.ag
        self._name = context.staged
        self._helpers = context.helpers
        self._may_enter_graph = may_enter_graph

    def both(self, function: ConvertedFunction, head: Any) -> Any:
        """The definition ``head`` with what was written and what was made of it."""
        original, converted = function.original, function.converted
        written = _Written(function.inner, self).of(original.body)
        if isinstance(original, gast.Lambda):
            choice = gast.IfExp(self._is_idle(written), written, converted.body)
            return clone(head, body=nodes.located(choice, written))
        is_generator = function.suspends and _is_generator(original)
        is_coroutine = isinstance(original, gast.AsyncFunctionDef)
        enters_graph = self._may_enter_graph and _enters_graph(original)
        if enters_graph or (is_coroutine and is_generator):
            return clone(head, body=converted.body)
        doc, plain = split_docstring(written)
        first = plain[0]
        if not isinstance(plain[-1], gast.Return):
            plain = [*plain, nodes.return_(None, plain[-1])]
        body = converted.body[len(doc) :]
        parameters = _parameters(original.args)
        staged: Any = nodes.function(self._name, body, first, *parameters)
        self._helpers.add((staged.name, staged.lineno))
        passed = [nodes.name(parameter, first) for parameter in parameters]
        result = nodes.call(nodes.name(self._name, first), passed, first)
        if is_coroutine:
            staged = nodes.located(_as_coroutine(staged), first)
            result = nodes.located(gast.Await(result), first)
        elif is_generator:
            result = nodes.located(gast.YieldFrom(result), first)
        test = nodes.if_(self._is_idle(first), plain, [], first)
        return clone(head, body=[*doc, test, staged, nodes.return_(result, first)])

    def _is_idle(self, at: gast.AST) -> gast.AST:
        """``ag.staging.idle or ag.staging.thread.elsewhere``, where a node begins.

        Coverage would miss a line of its own, which may not run.
        """
        at = nodes.located(gast.Pass(), at)
        at.end_lineno, at.end_col_offset = at.lineno, at.col_offset
        staging = nodes.attribute(nodes.name(self._ag, at), "staging", at)
        thread = nodes.attribute(staging, "thread", at)
        elsewhere = nodes.attribute(thread, "elsewhere", at)
        tests = [nodes.attribute(staging, "idle", at), elsewhere]
        return nodes.located(gast.BoolOp(gast.Or(), tests), at)


def _own_nodes(function: Any) -> list[Any]:
    """The nodes of a function as it was written, without those of others in it."""
    found = list(function.body)
    for node in found:
        if not isinstance(node, _SCOPES):
            found.extend(child_nodes(node))
    return found


def _is_generator(function: Any) -> bool:
    return any(isinstance(node, _YIELDS) for node in _own_nodes(function))


def _enters_graph(function: Any) -> bool:
    """Whether a function begins to stage by itself, as far as its text tells."""
    return any(
        isinstance(node, gast.Attribute) and node.attr == _ENTERS_GRAPH
        for node in _own_nodes(function)
    )


def _parameters(args: Any) -> list[str]:
    """The names of all parameters of a function."""
    found = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [parameter.id for parameter in found if parameter is not None]


def _as_coroutine(definition: gast.FunctionDef) -> gast.AsyncFunctionDef:
    fields = {field: getattr(definition, field) for field in definition._fields}
    return gast.AsyncFunctionDef(**fields)
