"""What the nodes of a function do to names: a flat log in order of evaluation.

Every scope has a log of events (a read of `n`, a write of `steps`, a `yield`) and, for
each node of the scope, the slice of the log that the node produced. Each question about
names is then a scan of one slice:

    while n != 1:            log   read n · read steps · write steps · read n · write n
        steps += 1           slice of the test: [0:1], of the loop: the whole log
        n -= 1

A nested function, lambda, generator expression or class has a log of its own; what it
does to the enclosing function's names goes up as events marked CAPTURED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

#: The name is read. ``del x`` reads too: it fails if ``x`` is unbound.
READ = 1
#: The name is bound.
WRITE = 2
#: The name is unbound: ``del x``, and the end of ``except E as x``.
DELETE = 4
#: The name is declared: `global`, `nonlocal`, or an annotation without a value.
MENTION = 8
#: The event need not happen when its step completes (``f(a and (x := 1))``).
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
TARGET = 512
#: A write by ``:=``.
WALRUS = 1024
#: The event stands in a later operand of a test: a step of its own, which the operands
#: before it decide about (``if a and (x := 1)``).
DECIDED = 2048
#: A call changes a container, as its name tells: ``out.append(x)``.
CHANGE = 4096

#: (flags, name, node that does it)
Event: TypeAlias = tuple[int, str, Any]

_ON_NAMES = READ | WRITE | DELETE | MENTION
_CLASS_NAMES = frozenset({"super", "__class__"})
_NOTHING: dict[str, Any] = {}


class Log:
    """The events of one scope, filled by `collect` and only read afterwards."""

    __slots__ = (
        "bound",
        "comprehension_names",
        "container_uses",
        "container_uses_of_scope",
        "eager",
        "events",
        "frame_reads",
        "globals",
        "has_walrus",
        "hidden",
        "hidden_around",
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
        self.scopes[node] = self
        self.events: list[Event] = []
        #: The nodes of all scopes that may change a container or give it away.
        self.container_uses: list[Any] = [] if parent is None else parent.container_uses
        #: Where those of this scope and of the scopes in it stand.
        self.container_uses_of_scope = slice(len(self.container_uses), None)
        self.spans: dict[Any, tuple[int, int]] = {}
        #: The parameters' nodes: positional, `*args`, keyword-only, `**kwargs`.
        self.params: tuple[Any, ...] = ()
        self.bound: dict[str, None] = {}
        self.globals: dict[str, None] = {}
        self.nonlocals: dict[str, None] = {}
        #: Names of the comprehensions and type parameter lists around the present
        #: point, with the nodes that bind them.
        self.hidden: dict[str, Any] = _NOTHING
        #: The same around this scope, in the scope above it.
        self.hidden_around = _NOTHING if parent is None else parent.hidden
        #: Loads of such names, with the nodes that bind them.
        self.comprehension_names: dict[Any, Any] = {}
        #: Builtins that look at the variables of their caller.
        self.frame_reads: list[Any] = []
        #: For each named handler, the index of the event that unbinds its name.
        self.unbinds: dict[Any, int] = {}
        #: Generator expressions taken for consumed at once: (consumer, start, end).
        self.eager: list[tuple[str, int, int]] = []
        #: MAYBE or DECIDED while visiting what need not be evaluated.
        self.maybe = 0
        #: Whether there is any `:=` in this scope.
        self.has_walrus = False

    def bind(self, name: str) -> None:
        """Make the name local, unless it is declared otherwise."""
        if name not in self.globals and name not in self.nonlocals:
            self.bound[name] = None

    def visit(self, node: Any) -> None:
        """Log one node and what is below it."""
        start = len(self.events)
        HANDLERS[node.__class__](self, node)
        self.spans[node] = (start, len(self.events))

    def visit_all(self, nodes: Iterable[Any]) -> None:
        """Log nodes that are evaluated one after the other; None stands for none."""
        events, spans = self.events, self.spans
        for node in nodes:
            if node is not None:
                start = len(events)
                HANDLERS[node.__class__](self, node)
                spans[node] = (start, len(events))

    def visit_maybe(self, nodes: Iterable[Any], flag: int = MAYBE) -> None:
        """Log nodes that need not all be evaluated."""
        before, self.maybe = self.maybe, self.maybe | flag
        self.visit_all(nodes)
        self.maybe = before

    def absorb(self, child: Log) -> None:
        """Take over what a nested scope does to names that are not its own."""
        first = child.container_uses_of_scope.start
        child.container_uses_of_scope = slice(first, len(self.container_uses))
        in_class = child.kind == "class"
        seen: dict[tuple[int, str], Event] = {}
        for flags, name, node in child.events:
            if not name:
                if in_class and flags & TARGET:
                    self.events.append((TARGET | CAPTURED, "", node))
                continue
            nested = flags & CAPTURED
            flags &= _ON_NAMES | LATER | GLOBAL
            if name in child.globals:
                flags |= GLOBAL
            if not flags & GLOBAL:
                # The functions in a class body do not see the names of the class.
                if in_class and nested:
                    if name in _CLASS_NAMES:
                        continue
                elif name in child.bound:
                    continue
                if name in self.hidden:
                    continue
            flags |= CAPTURED | MAYBE if in_class else CAPTURED | MAYBE | LATER
            if flags & WRITE and child.kind == "generator" and not flags & GLOBAL:
                # `:=` binds in the function around generator expressions.
                if self.kind != "generator":
                    self.bind(name)
            seen.setdefault((flags, name), (flags, name, node))
        self.events.extend(seen.values())


#: What to do with each type of node, filled by `collect`.
HANDLERS: dict[type, Callable[[Log, Any], object]] = {}


def function_log(node: Any, parent: Log | None) -> Log:
    """The log of a function or lambda; its defaults and annotations are not in it."""
    log = Log(node, "function", parent)
    args = node.args
    params = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    log.params = tuple(param for param in params if param is not None)
    log.bound = dict.fromkeys(param.id for param in log.params)
    body = node.body
    log.visit_all(body if body.__class__ is list else (body,))
    return log
