"""What statements do to names."""

from __future__ import annotations

import sys
from typing import Any

import gast

from autograph.analysis.events import (
    DECIDED,
    DELETE,
    HANDLERS,
    MENTION,
    READ,
    WRITE,
    YIELD,
    Log,
    function_log,
)
from autograph.analysis.expressions import visit_fields, visit_name, visit_value

__all__: list[str] = []


def _assign(log: Log, node: Any) -> None:
    log.visit(node.value)
    log.visit_all(node.targets)


def _aug_assign(log: Log, node: Any) -> None:
    target = node.target
    if target.__class__ is gast.Name:
        # Once before the value, as it is evaluated, and once more beside the write so
        # that the target's own slice holds both.
        log.events.append((READ, target.id, target))
        log.visit(node.value)
        start = len(log.events)
        log.events.append((READ, target.id, target))
        visit_name(log, target)
        log.spans[target] = (start, len(log.events))
    else:
        log.visit(target)
        log.visit(node.value)


def _ann_assign(log: Log, node: Any) -> None:
    if node.value is not None:
        log.visit(node.value)
    start, target = len(log.events), node.target
    if node.value is not None or target.__class__ is not gast.Name:
        log.visit(target)
    else:
        log.bind(target.id)
        log.events.append((MENTION, target.id, target))
        log.spans[target] = (start, start + 1)
    if log.kind == "class":
        _annotation(log, node.annotation)
    else:
        # A function never evaluates the annotations of its variables.
        start = len(log.events)
        for inner in gast.walk(node.annotation):
            log.spans[inner] = (start, start)


def _for(log: Log, node: Any) -> None:
    log.visit(node.iter)
    if node.__class__ is gast.AsyncFor:
        log.events.append((YIELD, "", node))
    log.visit(node.target)
    log.visit_all(node.body)
    log.visit_all(node.orelse)


def _test(log: Log, node: Any) -> None:
    """`if` and `while`."""
    _condition(log, node.test)
    log.visit_all(node.body)
    log.visit_all(node.orelse)


def _condition(log: Log, test: Any) -> None:
    """A test, the operands of which the control-flow graph can tell apart."""
    kind, start = test.__class__, len(log.events)
    if kind is gast.BoolOp:
        _condition(log, test.values[0])
        before, log.maybe = log.maybe, log.maybe | DECIDED
        for value in test.values[1:]:
            _condition(log, value)
        log.maybe = before
    elif kind is gast.UnaryOp and test.op.__class__ is gast.Not:
        _condition(log, test.operand)
    else:
        log.visit(test)
        return
    log.spans[test] = (start, len(log.events))


def _match_case(log: Log, node: Any) -> None:
    log.visit(node.pattern)
    if node.guard is not None:
        _condition(log, node.guard)
    log.visit_all(node.body)


def _with(log: Log, node: Any) -> None:
    for item in node.items:
        start = len(log.events)
        log.visit_all((item.context_expr, item.optional_vars))
        log.spans[item] = (start, len(log.events))
    if node.__class__ is gast.AsyncWith:
        log.events.append((YIELD, "", node))
    log.visit_all(node.body)


def _handler(log: Log, node: Any) -> None:
    if node.type is not None:
        log.visit(node.type)
    if node.name is not None:
        log.visit(node.name)
    log.visit_all(node.body)
    if node.name is not None:
        log.unbinds[node] = len(log.events)
        log.events.append((DELETE, node.name.id, node))


def _capture(log: Log, node: Any) -> None:
    """Patterns that bind a name: `as x`, `*rest`, `**rest`."""
    visit_fields(log, node)
    name = node.rest if node.__class__ is gast.MatchMapping else node.name
    if name is not None:
        log.bind(name)
        log.events.append((WRITE, name, node))


def _import(log: Log, node: Any) -> None:
    for alias in node.names:
        name = alias.asname or alias.name.split(".")[0]
        log.bind(name)
        log.events.append((WRITE, name, node))


def _global(log: Log, node: Any) -> None:
    for name in node.names:
        log.globals[name] = None
        log.events.append((MENTION, name, node))


def _nonlocal(log: Log, node: Any) -> None:
    for name in node.names:
        log.nonlocals[name] = None
        log.events.append((MENTION, name, node))


def _type_params(log: Log, node: Any) -> dict[str, Any]:
    """Log the lazily evaluated bounds; the names that the parameters add."""
    params = getattr(node, "type_params", None) or ()
    names = {param.name: param for param in params}
    for param in params:
        for field in ("bound", "default_value"):
            value = getattr(param, field, None)
            if value is not None:
                _lazy(log, value, names)
    return names


def _lazy(log: Log, node: Any, names: dict[str, Any]) -> None:
    child = Log(node, "generator", log)
    child.hidden = names
    child.visit(node)
    log.absorb(child)


def _annotation(log: Log, node: Any) -> None:
    """Log an annotation, which is evaluated when somebody asks from Python 3.14 on."""
    if sys.version_info >= (3, 14):
        _lazy(log, node, log.hidden)
    else:
        log.visit(node)


def _function_def(log: Log, node: Any) -> None:
    args = node.args
    log.visit_all(node.decorator_list)
    log.visit_all(args.defaults)
    log.visit_all(args.kw_defaults)
    hidden = log.hidden
    log.hidden = {**hidden, **_type_params(log, node)}
    for arg in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs):
        if arg is not None and arg.annotation is not None:
            _annotation(log, arg.annotation)
    if args.kwarg is not None and args.kwarg.annotation is not None:
        _annotation(log, args.kwarg.annotation)
    if node.returns is not None:
        _annotation(log, node.returns)
    log.absorb(function_log(node, log))
    log.hidden = hidden
    log.bind(node.name)
    log.events.append((WRITE, node.name, node))


def _class_def(log: Log, node: Any) -> None:
    log.visit_all(node.decorator_list)
    hidden = log.hidden
    log.hidden = {**hidden, **_type_params(log, node)}
    log.visit_all(node.bases)
    log.visit_all(node.keywords)
    child = Log(node, "class", log)
    child.visit_all(node.body)
    log.absorb(child)
    log.hidden = hidden
    log.bind(node.name)
    log.events.append((WRITE, node.name, node))


def _type_alias(log: Log, node: Any) -> None:
    _lazy(log, node.value, _type_params(log, node))
    log.visit(node.name)


HANDLERS.update(
    {
        gast.Expr: visit_value,
        gast.Return: visit_value,
        gast.Assign: _assign,
        gast.AugAssign: _aug_assign,
        gast.AnnAssign: _ann_assign,
        gast.For: _for,
        gast.AsyncFor: _for,
        gast.While: _test,
        gast.If: _test,
        gast.With: _with,
        gast.AsyncWith: _with,
        gast.ExceptHandler: _handler,
        gast.match_case: _match_case,
        gast.MatchAs: _capture,
        gast.MatchStar: _capture,
        gast.MatchMapping: _capture,
        gast.Import: _import,
        gast.ImportFrom: _import,
        gast.Global: _global,
        gast.Nonlocal: _nonlocal,
        gast.FunctionDef: _function_def,
        gast.AsyncFunctionDef: _function_def,
        gast.ClassDef: _class_def,
        gast.TypeAlias: _type_alias,
    }
)
HANDLERS.update(
    (getattr(gast, kind), visit_fields)
    for kind in (
        *("Assert", "Break", "Continue", "Delete", "Match", "MatchClass", "MatchOr"),
        *("MatchSequence", "MatchSingleton", "MatchValue", "Pass", "Raise", "Try"),
        "TryStar",
    )
)
