"""What expressions do to names."""

from __future__ import annotations

from typing import Any

import gast

from autograph.analysis.events import (
    DELETE,
    HANDLERS,
    MAYBE,
    PLACE,
    READ,
    WALRUS,
    WRITE,
    YIELD,
    Log,
    function_log,
)

__all__ = ["visit_fields", "visit_name", "visit_value"]

#: Builtins that take in one generator expression before they return.
_CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum"}
    | {"tuple"}
)
#: Builtins that see the caller's variables, unless called with this many arguments.
_FRAME_READERS = {"locals": 99, "vars": 1, "dir": 1, "eval": 2, "exec": 2}


def visit_name(log: Log, node: Any) -> None:
    """A name that is read, bound or unbound."""
    name = node.id
    if name in log.hidden:
        if node.ctx.__class__ is gast.Load:
            log.comprehension_names[node] = log.hidden[name]
        return
    context = node.ctx.__class__
    if context is gast.Load:
        log.events.append((READ | log.maybe, name, node))
        if name in _FRAME_READERS:
            log.frame_reads.append(name)
        return
    log.bind(name)
    if context is gast.Del:
        log.events.append((READ, name, node))
        log.events.append((DELETE, name, node))
    else:
        log.events.append((WRITE | log.maybe, name, node))


def _constant(log: Log, node: Any) -> None:
    pass


def _attribute(log: Log, node: Any) -> None:
    log.visit(node.value)
    if node.ctx.__class__ is not gast.Load:
        log.events.append((PLACE, "", node))


def _subscript(log: Log, node: Any) -> None:
    log.visit(node.value)
    log.visit(node.slice)
    if node.ctx.__class__ is not gast.Load:
        log.events.append((PLACE, "", node))


def visit_fields(log: Log, node: Any) -> None:
    """Fields in their order, which for these nodes is the order of evaluation."""
    for field in node._fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            log.visit_all(item for item in value if isinstance(item, gast.AST))
        elif isinstance(value, gast.AST) and value.__class__ in HANDLERS:
            log.visit(value)


def _bin_op(log: Log, node: Any) -> None:
    log.visit(node.left)
    log.visit(node.right)


def visit_value(log: Log, node: Any) -> None:
    """Nodes that evaluate `value`, if there is one: return, expression, starred."""
    if node.value is not None:
        log.visit(node.value)


def _elements(log: Log, node: Any) -> None:
    log.visit_all(node.elts)


def _dict(log: Log, node: Any) -> None:
    for key, value in zip(node.keys, node.values):
        log.visit_all((key, value))


def _bool_op(log: Log, node: Any) -> None:
    log.visit(node.values[0])
    log.visit_maybe(node.values[1:])


def _compare(log: Log, node: Any) -> None:
    log.visit(node.left)
    log.visit(node.comparators[0])
    if len(node.comparators) > 1:
        log.visit_maybe(node.comparators[1:])


def _if_exp(log: Log, node: Any) -> None:
    log.visit(node.test)
    log.visit_maybe((node.body, node.orelse))


def _named_expr(log: Log, node: Any) -> None:
    log.visit(node.value)
    target = node.target
    if log.kind != "generator":
        log.bind(target.id)
    start = len(log.events)
    log.has_walrus = True
    log.events.append((WRITE | WALRUS | log.maybe, target.id, node))
    log.spans[target] = (start, start + 1)


def _call(log: Log, node: Any) -> None:
    func, args, keywords = node.func, node.args, node.keywords
    log.visit(func)
    if func.__class__ is gast.Name and func.id not in log.hidden:
        name = func.id
        if name in _CONSUMERS and len(args) == 1 and not keywords:
            argument = args[0]
            if argument.__class__ is gast.GeneratorExp and log.kind != "class":
                start = len(log.events)
                later = _comprehension(log, argument)
                log.spans[argument] = (start, len(log.events))
                log.eager.append((name, later, len(log.events)))
                return
        if name in _FRAME_READERS and _is_blind(node):
            log.frame_reads.pop()
    log.visit_all(args)
    if keywords:
        log.visit_all(keywords)


def _is_blind(call: Any) -> bool:
    """Whether this call of a frame reader is told what to look at."""
    return len(call.args) >= _FRAME_READERS[call.func.id] and not any(
        arg.__class__ is gast.Starred for arg in call.args
    )


def _comprehension(log: Log, node: Any) -> int:
    """A comprehension, or a generator expression that is consumed where it stands.

    Returns where the events begin that would come later if it were not.
    """
    if log.kind == "class":
        _generator(log, node)
        return len(log.events)
    generators, hidden, maybe = node.generators, log.hidden, log.maybe
    log.visit(generators[0].iter)
    later = len(log.events)
    log.hidden = {**hidden, **_targets(generators)}
    log.maybe |= MAYBE
    _after_first_iter(log, node)
    log.hidden, log.maybe = hidden, maybe
    return later


def _generator(log: Log, node: Any) -> None:
    """A generator expression: its own scope, save the first iterable."""
    log.visit(node.generators[0].iter)
    child = Log(node, "generator", log)
    child.hidden = _targets(node.generators)
    child.maybe = MAYBE
    _after_first_iter(child, node)
    log.absorb(child)


def _after_first_iter(log: Log, node: Any) -> None:
    for number, generator in enumerate(node.generators):
        start = len(log.events)
        if number:
            log.visit(generator.iter)
        if generator.is_async:
            log.events.append((YIELD, "", generator))
        log.visit(generator.target)
        log.visit_all(generator.ifs)
        log.spans[generator] = (start, len(log.events))
    if node.__class__ is gast.DictComp:
        log.visit_all((node.key, node.value))
    else:
        log.visit(node.elt)


def _targets(generators: Any) -> dict[str, Any]:
    return {
        name.id: generator
        for generator in generators
        for name in gast.walk(generator.target)
        if name.__class__ is gast.Name and name.ctx.__class__ is gast.Store
    }


def _yield(log: Log, node: Any) -> None:
    visit_value(log, node)
    log.events.append((YIELD, "", node))


def _lambda(log: Log, node: Any) -> None:
    log.visit_all(node.args.defaults)
    log.visit_all(node.args.kw_defaults)
    log.absorb(function_log(node, log))


HANDLERS.update(
    {
        gast.Name: visit_name,
        gast.Constant: _constant,
        gast.Attribute: _attribute,
        gast.Subscript: _subscript,
        gast.BinOp: _bin_op,
        gast.BoolOp: _bool_op,
        gast.Compare: _compare,
        gast.IfExp: _if_exp,
        gast.NamedExpr: _named_expr,
        gast.Call: _call,
        gast.ListComp: _comprehension,
        gast.SetComp: _comprehension,
        gast.DictComp: _comprehension,
        gast.GeneratorExp: _generator,
        gast.Lambda: _lambda,
        gast.Tuple: _elements,
        gast.List: _elements,
        gast.Set: _elements,
        gast.Dict: _dict,
        gast.Yield: _yield,
        gast.YieldFrom: _yield,
        gast.Await: _yield,
        gast.Starred: visit_value,
        gast.keyword: visit_value,
    }
)
HANDLERS.update(
    (getattr(gast, kind), visit_fields)
    for kind in (
        *("FormattedValue", "Interpolation", "JoinedStr", "Slice", "TemplateStr"),
        "UnaryOp",
    )
)
