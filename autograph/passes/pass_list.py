"""The pass list: one function through all passes, in order."""

from __future__ import annotations

from typing import Any

import gast

from ..analysis import Facts, analyze
from ..trees.names import Namer
from ..trees.visitors import clone
from .bindings import local_functions
from .context import Context, ConvertedFunction
from .control_flow import ControlFlow
from .exits import Exits
from .expressions import Expressions
from .patterns import Matching
from .selection import Selection, Stays, frame_reading
from .verify import verify

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)


def convert_function(fn: Any, context: Context, namer: Namer | None = None) -> Any:
    """The converted form of a function definition or lambda.

    Its decorators, defaults and annotations stay as they are. The same node is returned
    if there is nothing to convert; otherwise ``context.converted`` tells what it was.
    """
    facts = analyze(fn, enclosing=context.enclosing, shadowed=context.shadowed)
    new = _converted(fn, context, facts, namer or Namer(fn))
    facts.forget()
    return new


def staying_in(fn: Any) -> list[Stays]:
    """What a tensor could decide in a function, and that is left unconverted."""
    facts = analyze(fn)
    if isinstance(fn, gast.Lambda):
        return frame_reading(facts)
    return Selection(fn.body, facts).staying


def _converted(fn: Any, context: Context, facts: Facts, namer: Namer) -> Any:
    if isinstance(fn, gast.Lambda):
        context.staying += frame_reading(facts)
        expressions = Expressions(facts, context, namer)
        body = expressions.expression(fn.body, generated=False)
        if body is fn.body:
            return fn
        new = clone(fn, body=body)
        verify("expressions", new, fn, context.ag)
        context.add(ConvertedFunction(fn, new, context.converted))
        return new
    written = facts
    selection = Selection(fn.body, facts)
    context.staying += selection.staying
    matching = Matching(facts, selection, namer, context.shadowed)
    arranged = Exits(selection, namer, matching).convert(fn.body)
    if arranged is not fn.body:
        fn = clone(fn, body=arranged)
        verify("exits", fn, written.node, context.ag, is_analysed=True)
        enclosing = facts.scope.enclosing
        facts = analyze(fn, enclosing=enclosing, shadowed=context.shadowed)
    scope = facts.scope
    declared = {*scope.params, *scope.globals, *scope.nonlocals}
    own = local_functions(fn.body, declared)
    around = context.functions  # which may be those of a large module
    if not around.isdisjoint(scope.bound):
        around = around - frozenset(scope.bound)
    outer, context = context, context.around(own | around if own else around)

    def nested(inner: gast.AST) -> gast.AST:
        return _converted(inner, context, facts.inner(inner), Namer(inner))

    control_flow = ControlFlow(facts, written, selection, context, namer, nested)
    body = control_flow.convert(fn.body)
    if facts is not written:
        facts.forget()
    original = written.node
    if body is original.body:
        return original
    new = clone(fn, body=body)
    verify("control_flow", new, original, context.ag)
    suspends = written.has_yield(original.body)
    outer.add(ConvertedFunction(original, new, context.converted, suspends))
    return new
