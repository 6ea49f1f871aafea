"""One pass over a function and all that is nested in it, which fills its `Log`.

Each type of node has a handler that says what it does to names.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from typing import Any

import gast

from .events import (
    CAPTURED,
    CHANGE,
    DECIDED,
    DELETE,
    HANDLERS,
    LATER,
    MAYBE,
    MENTION,
    READ,
    TARGET,
    WALRUS,
    WRITE,
    YIELD,
    Log,
    function_log,
)

#: Builtins that take in one generator expression before they return.
_CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum"}
    | {"tuple"}
)
#: Methods that make a list longer or shorter.
_RESIZING = frozenset({"append", "clear", "extend", "insert", "pop", "remove"})
#: Methods that change a container, and functions that change their first argument.
_CHANGING_METHODS = _RESIZING | {
    *("add", "appendleft", "difference_update", "discard", "extendleft"),
    *("intersection_update", "popitem", "popleft", "reverse", "rotate", "setdefault"),
    *("sort", "symmetric_difference_update", "update"),
}
_CHANGING_FUNCTIONS = frozenset(
    {"heapify", "heappop", "heappush", "heappushpop", "heapreplace"}
    | {"insort", "insort_left", "insort_right", "shuffle"}
)
#: Those with a result. A call of another one whose result is used is of a class that
#: gives a new object, as ``y = x.add(1)`` of PyTorch does.
_GIVING = frozenset(
    {"heappop", "heappushpop", "heapreplace", "pop", "popitem", "popleft", "setdefault"}
)
#: Expressions that make no container and share none.
_NO_CONTAINERS = frozenset({gast.Attribute, gast.Compare, gast.Constant, gast.UnaryOp})
#: Builtins that see the caller's variables, unless called with this many arguments.
_FRAME_READERS = {"locals": 99, "vars": 1, "dir": 1, "eval": 2, "exec": 2}


def collect(fn: Any, shadowed: Container[str] = ()) -> Log:
    """The log of a function definition or lambda.

    ``shadowed`` names mean something else around the function than Python's builtins.
    """
    root = function_log(fn, None)
    for log in root.scopes.values():
        _defer_generators(log, shadowed)
    return root


def _defer_generators(log: Log, shadowed: Container[str]) -> None:
    """Mark the generator expressions whose consumer is not the builtin of its name:
    they may run at any time.
    """
    for consumer, start, end in log.eager:
        if consumer in shadowed or _is_bound_around(log, consumer):
            for index in range(start, end):
                flags, name, node = log.events[index]
                log.events[index] = (flags | CAPTURED | LATER, name, node)


def _is_bound_around(log: Log | None, name: str) -> bool:
    while log is not None:
        if name in log.bound or name in log.nonlocals:
            return True
        log = log.parent
    return False


# --- expressions ----------------------------------------------------------------------


def _name(log: Log, node: Any) -> None:
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
            log.frame_reads.append(node)
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
    if node.attr in _RESIZING:
        log.container_uses.append(node)
    if node.ctx.__class__ is not gast.Load:
        log.events.append((TARGET, "", node))


def _subscript(log: Log, node: Any) -> None:
    log.visit(node.value)
    log.visit(node.slice)
    if node.ctx.__class__ is not gast.Load:
        log.container_uses.append(node)
        log.events.append((TARGET, "", node))


def _fields(log: Log, node: Any) -> None:
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


def _value(log: Log, node: Any) -> None:
    """Nodes that evaluate `value`, if there is one: return, starred."""
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
    _share(log, node)
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
    log.container_uses.append(node)
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
    if _called_name(func) in _GIVING:
        _note_change(log, node)


def _called_name(func: Any) -> str | None:
    return getattr(func, "attr", None) or getattr(func, "id", None)


def _note_change(log: Log, call: Any) -> None:
    """Log the container that a call changes, if its name tells of one."""
    func = call.func
    name = _called_name(func)
    if func.__class__ is gast.Attribute and name in _CHANGING_METHODS:
        log.events.append((CHANGE, "", func.value))
    elif name in _CHANGING_FUNCTIONS and call.args:
        log.events.append((CHANGE, "", call.args[0]))


def _is_blind(call: Any) -> bool:
    """Whether this call of a frame reader gets the namespace as an argument."""
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
    _value(log, node)
    log.events.append((YIELD, "", node))


def _lambda(log: Log, node: Any) -> None:
    log.visit_all(node.args.defaults)
    log.visit_all(node.args.kw_defaults)
    log.absorb(function_log(node, log))


# --- statements -----------------------------------------------------------------------


def _expression(log: Log, node: Any) -> None:
    """An expression whose value nobody uses."""
    log.visit(node.value)
    if node.value.__class__ is gast.Call:
        _note_change(log, node.value)


def _assign(log: Log, node: Any) -> None:
    _share(log, node)
    log.visit(node.value)
    log.visit_all(node.targets)


def _share(log: Log, node: Any) -> None:
    """Note an assignment that may make a container, or give it another name."""
    if node.value.__class__ not in _NO_CONTAINERS:
        log.container_uses.append(node)


def _aug_assign(log: Log, node: Any) -> None:
    log.container_uses.append(node)
    target = node.target
    if target.__class__ is gast.Name:
        # Once before the value, as it is evaluated, and once more beside the write so
        # that the target's own slice holds both.
        log.events.append((READ, target.id, target))
        log.visit(node.value)
        start = len(log.events)
        log.events.append((READ, target.id, target))
        _name(log, target)
        log.spans[target] = (start, len(log.events))
    else:
        log.visit(target)
        log.visit(node.value)


def _ann_assign(log: Log, node: Any) -> None:
    _share(log, node)
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
    """A test whose operands are separate steps of the control-flow graph."""
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
    _fields(log, node)
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
        # Expressions.
        gast.Name: _name,
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
        gast.Starred: _value,
        gast.keyword: _value,
        # Statements.
        gast.Expr: _expression,
        gast.Return: _value,
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
    (getattr(gast, kind), _fields)
    for kind in (
        *("FormattedValue", "Interpolation", "JoinedStr", "Slice", "TemplateStr"),
        *("UnaryOp", "Assert", "Break", "Continue", "Delete", "Match", "MatchClass"),
        *("MatchOr", "MatchSequence", "MatchSingleton", "MatchValue", "Pass", "Raise"),
        *("Try", "TryStar"),
    )
)
