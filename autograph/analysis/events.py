"""One pass over a function: what each node does to names, in order of evaluation.

The pass writes a flat log of events (a read of `n`, a write of `steps`, a `yield`) and
keeps, for every node of the function's own scope, the slice of the log that the node
produced. Each question about names is then a scan of one slice:

    while n != 1:            log   read n · read n · read steps · write steps · write n
        steps += n; n -= 1   slice of the test: [0:1], of the loop: the whole log

A nested function, lambda, generator expression or class has a log of its own; what it
does to the enclosing function's names goes up as events marked CAPTURED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import gast

__all__ = [
    "CAPTURED",
    "DELETE",
    "GLOBAL",
    "LATER",
    "MAYBE",
    "MENTION",
    "PLACE",
    "READ",
    "WALRUS",
    "WRITE",
    "YIELD",
    "Event",
    "Log",
    "collect",
]

#: The name is read. ``del x`` reads too: it fails if ``x`` is unbound.
READ = 1
#: The name is bound.
WRITE = 2
#: The name is unbound: ``del x``, and the end of ``except E as x``.
DELETE = 4
#: The name stands where nothing is evaluated, as in a local annotation.
MENTION = 8
#: The event need not happen when its statement completes (``a and (x := 1)``).
MAYBE = 16
#: The event belongs to a nested scope, so the name is shared with it.
CAPTURED = 32
#: The nested scope runs at some later time, not where it stands.
LATER = 64
#: The nested scope declared the name ``global``.
GLOBAL = 128
#: ``yield``, ``await`` and what implies them.
YIELD = 256
#: An attribute or an item is assigned or deleted.
PLACE = 512
#: A write by ``:=``.
WALRUS = 1024

#: (flags, name, node that does it)
Event: TypeAlias = tuple[int, str, Any]

_ON_NAMES = READ | WRITE | DELETE | MENTION
#: Builtins that take in one generator expression before they return.
_CONSUMERS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum"}
    | {"tuple"}
)
#: Builtins that see the caller's variables, unless called with this many arguments.
_FRAME_READERS = {"locals": 99, "vars": 1, "dir": 1, "eval": 2, "exec": 2}
_NOTHING: dict[str, Any] = {}


class Log:
    """The events of one scope, filled by `collect` and only read afterwards."""

    __slots__ = (
        "bound",
        "comprehension_names",
        "eager",
        "events",
        "frame_reads",
        "globals",
        "hidden",
        "kind",
        "maybe",
        "node",
        "nonlocals",
        "params",
        "parent",
        "scopes",
        "spans",
        "unbinds",
    )

    def __init__(self, node: Any, kind: str, parent: Log | None) -> None:
        self.node = node
        #: 'function', 'class' or 'generator' (a generator expression, or what acts
        #: like one: a comprehension in a class body, a lazily evaluated type).
        self.kind = kind
        self.parent = parent
        #: Every scope that has a log, at any depth.
        self.scopes: dict[Any, Log] = {} if parent is None else parent.scopes
        self.events: list[Event] = []
        self.spans: dict[Any, tuple[int, int]] = {}
        self.params: tuple[str, ...] = ()
        self.bound: dict[str, None] = {}
        self.globals: dict[str, None] = {}
        self.nonlocals: dict[str, None] = {}
        #: Names of the comprehensions and type parameter lists around this point.
        self.hidden: dict[str, Any] = _NOTHING
        self.comprehension_names: dict[Any, Any] = {}
        self.frame_reads: list[str] = []
        #: For each named handler, the index of the event that unbinds its name.
        self.unbinds: dict[Any, int] = {}
        #: Generator expressions taken for consumed at once: (consumer, start, end).
        self.eager: list[tuple[str, int, int]] = []
        self.maybe = 0
        self.scopes[node] = self

    def bind(self, name: str) -> None:
        """Make the name local, unless it is declared otherwise."""
        if name not in self.globals and name not in self.nonlocals:
            self.bound[name] = None

    def visit(self, node: Any) -> None:
        """Log one node and what is below it."""
        start = len(self.events)
        _HANDLERS[node.__class__](self, node)
        self.spans[node] = (start, len(self.events))

    def visit_all(self, nodes: Iterable[Any]) -> None:
        """Log nodes that are evaluated one after the other; None stands for none."""
        events, spans = self.events, self.spans
        for node in nodes:
            if node is not None:
                start = len(events)
                _HANDLERS[node.__class__](self, node)
                spans[node] = (start, len(events))

    def visit_maybe(self, nodes: Iterable[Any]) -> None:
        """Log nodes that need not all be evaluated."""
        before, self.maybe = self.maybe, MAYBE
        self.visit_all(nodes)
        self.maybe = before

    def finish(self) -> None:
        """Turn generator expressions given to a shadowed builtin into captures."""
        for consumer, start, end in self.eager:
            if consumer in self.bound or consumer in self.nonlocals:
                for index in range(start, end):
                    flags, name, node = self.events[index]
                    self.events[index] = (flags | CAPTURED | LATER, name, node)

    def absorb(self, child: Log) -> None:
        """Take over what a finished nested scope does to names that are not its own."""
        is_class, outward = child.kind == "class", CAPTURED | MAYBE
        if not is_class:
            outward |= LATER
        seen: dict[tuple[int, str], Any] = {}
        for flags, name, node in child.events:
            if flags & PLACE:
                if is_class:
                    seen[PLACE | CAPTURED, str(id(node))] = (PLACE | CAPTURED, "", node)
                continue
            inner = flags & CAPTURED
            if not flags & _ON_NAMES or (is_class and inner and name in _CLASS_NAMES):
                continue
            if name in child.globals:
                flags |= GLOBAL
            # The functions in a class body do not see the names of the class.
            if not flags & GLOBAL:
                if name in child.bound and not (is_class and inner):
                    continue
                if name in self.hidden:
                    continue
            flags = flags & (_ON_NAMES | LATER | GLOBAL) | outward
            if child.kind == "generator" and flags & WRITE:
                self.bind(name)
            seen.setdefault((flags, name), (flags, name, node))
        self.events.extend(seen.values())


_CLASS_NAMES = frozenset({"super", "__class__"})


def collect(fn: Any) -> Log:
    """The log of a function definition or lambda.

    Its decorators, defaults and annotations belong to the scope around it.
    """
    return _function_scope(fn, None)


def _function_scope(node: Any, parent: Log | None) -> Log:
    log = Log(node, "function", parent)
    args = node.args
    params = [arg.id for arg in (*args.posonlyargs, *args.args)]
    if args.vararg:
        params.append(args.vararg.id)
    params += [arg.id for arg in args.kwonlyargs]
    if args.kwarg:
        params.append(args.kwarg.id)
    log.params = tuple(params)
    log.bound = dict.fromkeys(params)
    if node.__class__ is gast.Lambda:
        log.visit(node.body)
    else:
        log.visit_all(node.body)
    log.finish()
    return log


# --- expressions ------------------------------------------------------------------


def _name(log: Log, node: Any) -> None:
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


def _generic(log: Log, node: Any) -> None:
    """Fields in their order, which for these nodes is the order of evaluation."""
    for field in node._fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            log.visit_all(item for item in value if isinstance(item, gast.AST))
        elif isinstance(value, gast.AST) and value.__class__ in _HANDLERS:
            log.visit(value)


def _bin_op(log: Log, node: Any) -> None:
    log.visit(node.left)
    log.visit(node.right)


def _value(log: Log, node: Any) -> None:
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
    log.events.append((WRITE | WALRUS | log.maybe, target.id, node))
    log.spans[target] = (start, start + 1)


def _call(log: Log, node: Any) -> None:
    func, args, keywords = node.func, node.args, node.keywords
    log.visit(func)
    if func.__class__ is gast.Name:
        name = func.id
        if name in _CONSUMERS and len(args) == 1 and not keywords:
            argument = args[0]
            if argument.__class__ is gast.GeneratorExp and log.kind != "class":
                start = len(log.events)
                _comprehension(log, argument)
                log.spans[argument] = (start, len(log.events))
                if name not in log.hidden:
                    log.eager.append((name, start, len(log.events)))
                return
        if name in _FRAME_READERS and log.frame_reads and _is_blind(node):
            log.frame_reads.pop()
    log.visit_all(args)
    if keywords:
        log.visit_all(keywords)


def _is_blind(call: Any) -> bool:
    """Whether this call of a frame reader is told what to look at."""
    return len(call.args) >= _FRAME_READERS[call.func.id] and not any(
        arg.__class__ is gast.Starred for arg in call.args
    )


def _comprehension(log: Log, node: Any) -> None:
    """A comprehension, or a generator expression that is consumed where it stands."""
    if log.kind == "class":
        _generator(log, node)
        return
    generators, hidden, maybe = node.generators, log.hidden, log.maybe
    log.visit(generators[0].iter)
    log.hidden = {**hidden, **_targets(generators)}
    log.maybe = MAYBE
    _after_first_iter(log, node)
    log.hidden, log.maybe = hidden, maybe


def _generator(log: Log, node: Any) -> None:
    """A generator expression: its own scope, save the first iterable."""
    log.visit(node.generators[0].iter)
    child = Log(node, "generator", log)
    child.bound = dict.fromkeys(_targets(node.generators))
    child.maybe = MAYBE
    _after_first_iter(child, node)
    child.finish()
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
    log.absorb(_function_scope(node, log))


# --- statements -------------------------------------------------------------------


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
        _name(log, target)
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
        log.visit(node.annotation)
    else:
        # A function never evaluates the annotations of its variables.
        start = len(log.events)
        log.visit(node.annotation)
        for index in range(start, len(log.events)):
            flags, name, at = log.events[index]
            log.events[index] = (flags & CAPTURED | MENTION, name, at)


def _for(log: Log, node: Any) -> None:
    log.visit(node.iter)
    if node.__class__ is gast.AsyncFor:
        log.events.append((YIELD, "", node))
    log.visit(node.target)
    log.visit_all(node.body)
    log.visit_all(node.orelse)


def _test(log: Log, node: Any) -> None:
    """`if` and `while`."""
    log.visit(node.test)
    log.visit_all(node.body)
    log.visit_all(node.orelse)


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
    _generic(log, node)
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


def _lazy(log: Log, node: Any, names: Iterable[str]) -> None:
    child = Log(node, "generator", log)
    child.bound = dict.fromkeys(names)
    child.visit(node)
    child.finish()
    log.absorb(child)


def _function_def(log: Log, node: Any) -> None:
    args = node.args
    log.visit_all(node.decorator_list)
    log.visit_all(args.defaults)
    log.visit_all(args.kw_defaults)
    hidden = log.hidden
    log.hidden = {**hidden, **_type_params(log, node)}
    for arg in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs):
        if arg is not None and arg.annotation is not None:
            log.visit(arg.annotation)
    if args.kwarg is not None and args.kwarg.annotation is not None:
        log.visit(args.kwarg.annotation)
    if node.returns is not None:
        log.visit(node.returns)
    log.absorb(_function_scope(node, log))
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
    child.finish()
    log.absorb(child)
    log.hidden = hidden
    log.bind(node.name)
    log.events.append((WRITE, node.name, node))


def _type_alias(log: Log, node: Any) -> None:
    _lazy(log, node.value, _type_params(log, node))
    log.visit(node.name)


_HANDLERS: dict[type, Callable[[Log, Any], None]] = {
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
    gast.Expr: _value,
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
_HANDLERS.update(
    (getattr(gast, kind), _generic)
    for kind in (
        *("UnaryOp", "FormattedValue", "JoinedStr", "Slice", "TemplateStr"),
        *("Interpolation", "Delete", "Raise", "Assert", "Pass", "Break", "Continue"),
        *("Try", "TryStar", "Match", "match_case", "MatchValue", "MatchSingleton"),
        *("MatchSequence", "MatchClass", "MatchOr"),
    )
)
