"""One function through all converters, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analysis import Facts, analyze
from ..lang.code_objects import Helper
from ..lang.names import Namer
from ..lang.visitors import clone
from .bindings import local_functions
from .control_flow import ControlFlow
from .exits import Exits
from .expressions import Expressions
from .patterns import Matching
from .selection import Selection

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)


class Context:
    """What the converters know about the surroundings of a function.

    Args:
        ag: the name by which generated code reaches the operators.
        known: whether an expression outside the function's own scopes surely names
            something that is called as it is.
        helpers: collects the functions that were generated.
        recursive: whether calls of other functions are converted.
        shadowed: names of builtins that the module defines anew.
        functions: names of functions around this one that are converted with it.
        enclosing: names of variables of functions around this one.
    """

    def __init__(
        self,
        ag: str,
        known: Callable[[gast.AST], bool],
        helpers: set[Helper],
        recursive: bool = True,
        shadowed: frozenset[str] = frozenset(),
        functions: frozenset[str] = frozenset(),
        enclosing: frozenset[str] = frozenset(),
    ) -> None:
        self.ag = ag
        self.known = known
        self.helpers = helpers
        self.recursive = recursive
        self.shadowed = shadowed
        self.functions = functions
        self.enclosing = enclosing

    def around(self, functions: frozenset[str]) -> Context:
        """The surroundings of a function inside, which has these functions around."""
        return Context(
            self.ag,
            self.known,
            self.helpers,
            self.recursive,
            self.shadowed,
            functions,
            self.enclosing,
        )


def convert_function(fn: Any, context: Context, facts: Facts | None = None) -> Any:
    """The converted form of a function definition or lambda.

    Its decorators, defaults and annotations stay as they are. The same node is returned
    if there is nothing to convert; otherwise its attribute ``original`` is the one that
    was written, as with the functions inside.
    """
    if facts is None:
        facts = analyze(fn, enclosing=context.enclosing, shadowed=context.shadowed)
    if isinstance(fn, gast.Lambda):
        expressions = _expressions(facts, context, Namer(fn))
        body = expressions.expression(fn.body, generated=False)
        return fn if body is fn.body else clone(fn, body=body, original=fn)
    written = facts
    selection = Selection(fn.body, facts)
    namer = Namer(fn)
    matching = Matching(facts, selection, namer, context.shadowed)
    arranged = Exits(selection, namer, matching).convert(fn.body)
    if arranged is not fn.body:
        fn = clone(fn, body=arranged)
        enclosing = facts.scope.enclosing
        facts = analyze(fn, enclosing=enclosing, shadowed=context.shadowed)
    scope = facts.scope
    declared = {*scope.params, *scope.globals, *scope.nonlocals}
    own = local_functions(fn.body, declared)
    around = context.functions - frozenset(scope.bound)
    context = context.around(own | around)

    def nested(inner: gast.AST) -> gast.AST:
        return convert_function(inner, context, facts.inner(inner))

    expressions = _expressions(facts, context, namer)
    # Who looks at its own frame finds its own variables there, and no others.
    expressions.stay = facts.uses_frame
    control_flow = ControlFlow(facts, written, selection, namer, expressions, nested)
    body = control_flow.convert(fn.body)
    context.helpers.update(control_flow.helpers)
    if body is written.node.body:
        return written.node
    return clone(fn, body=body, original=written.node)


def _expressions(facts: Facts, context: Context, namer: Namer) -> Expressions:
    bound = frozenset(facts.scope.bound) | frozenset(facts.scope.enclosing)

    def known(callee: gast.AST) -> bool:
        root = callee
        while isinstance(root, gast.Attribute):
            root = root.value
        if not isinstance(root, gast.Name):
            return False
        if root.id in context.functions and root is callee:
            return True
        return root.id not in bound and context.known(callee)

    return Expressions(facts, context.ag, namer, known, context.recursive)
