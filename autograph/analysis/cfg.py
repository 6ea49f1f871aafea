"""The control-flow graph of one function.

A node is a step that happens as a whole: a simple statement, a test, the taking of the
next item, a pattern. `succ` is where control goes when the step completes, `exc` where
it goes when the step raises (None: out of the function).

    def f(xs, n):            0 entry -> 1
        for x in xs:         1 L2 iter xs -> 2
            n += x           2 L2 next -> 3, 5
        return n             3 L2 target x -> 4
                             4 L3 n += x -> 2
                             5 L4 return n -> 6
                             6 exit

`finally` blocks are copied for each kind of way out (end of the block, exception,
return, break, continue), as Python's own compiler does: paths that cannot happen do not
meet. A statement can therefore have several nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import gast


class Node:
    """One step. ``parts`` are the syntax nodes it evaluates, ``stmt`` its statement.

    ``kind`` is 'entry', 'exit', 'do' (a simple statement), 'test', 'loop', 'head',
    'iter', 'next', 'target', 'enter', 'bind', 'leave', 'except', 'unbind', 'subject',
    'match' or 'guard'. ``left`` are the heads of the loops that a ``break`` or
    ``return`` stands in.
    """

    __slots__ = ("exc", "index", "kind", "left", "parts", "stmt", "succ")

    def __init__(
        self,
        kind: str,
        stmt: Any,
        parts: tuple[Any, ...],
        succ: Sequence[Node],
        exc: Node | None,
    ) -> None:
        self.kind = kind
        self.stmt = stmt
        self.parts = parts
        self.succ = succ
        self.exc = exc
        self.index = -1
        self.left: tuple[Node, ...] = ()


class Point:
    """One occurrence of a statement in the graph: its first node, the node after it,
    and the node where an exception in it goes (None: out of the function).
    """

    def __init__(self, before: Node, after: Node, exc: Node | None) -> None:
        self.before = before
        self.after = after
        self.exc = exc


class Graph:
    """Nodes in about the order of the source."""

    def __init__(
        self,
        nodes: tuple[Node, ...],
        entry: Node,
        exit: Node,
        points: Mapping[Any, tuple[Point, ...]],
        heads: Mapping[Any, tuple[Node, ...]],
    ) -> None:
        self.nodes = nodes
        self.entry = entry
        self.exit = exit
        #: The occurrences of each statement; none for one of a nested function.
        self.points = points
        #: The nodes at which a loop decides whether to go on.
        self.heads = heads

    def break_circles(self) -> None:
        """Cut the cycles at the heads of loops; the graph is unusable after this."""
        for heads in self.heads.values():
            for head in heads:
                head.succ = ()


def build(fn: Any, *, split: bool = True) -> Graph:
    """The graph of a function definition or lambda; of a generator expression, an empty
    one.

    ``split``: the operands of ``and``, ``or`` and ``not`` in a test are steps of their
    own. That matters only where ``:=`` may bind a name in them.
    """
    return _Builder(split).graph(fn)


_Jump = Callable[[], Node]


class _Ways(NamedTuple):
    """The targets of a block's exits, and the ``heads`` of the loops around it."""

    heads: tuple[Node, ...]
    exc: Node | None
    ret: _Jump
    brk: _Jump
    cont: _Jump


def _nowhere() -> Node:
    raise SyntaxError("'break' or 'continue' outside a loop")


class _Builder:
    def __init__(self, split: bool) -> None:
        self.split = split
        self.nodes: list[Node] = []
        self.points: dict[Any, list[Point]] = {}
        self.heads: dict[Any, list[Node]] = {}
        self.exit = self.node("exit", None, (), (), None)

    def graph(self, fn: Any) -> Graph:
        exit_node = self.exit
        ways = _Ways((), None, lambda: exit_node, _nowhere, _nowhere)
        body = getattr(fn, "body", [])
        if body.__class__ is list:
            first = self.block(body, exit_node, ways)
        else:
            first = self.node("do", body, (body,), (exit_node,), None)
            self.points[body] = [Point(first, exit_node, None)]
        entry = self.node("entry", None, (), (first,), None)
        nodes = tuple(reversed(self.nodes))
        for index, node in enumerate(nodes):
            node.index = index
            node.succ = tuple(dict.fromkeys(node.succ))
        self.forget_unreachable_copies(entry)
        return Graph(
            nodes,
            entry,
            exit_node,
            MappingProxyType({stmt: tuple(at) for stmt, at in self.points.items()}),
            MappingProxyType({loop: tuple(at) for loop, at in self.heads.items()}),
        )

    def forget_unreachable_copies(self, entry: Node) -> None:
        """Drop the unreachable occurrences of a statement that has reachable ones."""
        copied = [points for points in self.points.values() if len(points) > 1]
        if copied:
            reached = _reachable(entry)
            for points in copied:
                live = [point for point in points if point.before in reached]
                points[:] = live or points

    def node(
        self,
        kind: str,
        stmt: Any,
        parts: tuple[Any, ...],
        succ: Sequence[Node],
        exc: Node | None,
    ) -> Node:
        node = Node(kind, stmt, parts, succ, exc)
        self.nodes.append(node)
        return node

    def block(self, stmts: Sequence[Any], after: Node, ways: _Ways) -> Node:
        """Build statements that lead to `after`; returns their first node."""
        for stmt in reversed(stmts):
            build_one = _COMPOUND.get(stmt.__class__)
            if build_one is not None:
                before, follow = build_one(self, stmt, after, ways), after
            else:
                before, follow = self.simple(stmt, after, ways)
            points = self.points.get(stmt)
            if points is None:
                self.points[stmt] = [Point(before, follow, ways.exc)]
            else:
                points.append(Point(before, follow, ways.exc))
            after = before
        return after

    def simple(self, stmt: Any, after: Node, ways: _Ways) -> tuple[Node, Node]:
        kind, exc = stmt.__class__, ways.exc
        if kind in _SILENT:
            exc = None
        if kind is gast.Return:
            after = ways.ret()
        elif kind is gast.Break:
            after = ways.brk()
        elif kind is gast.Continue:
            after = ways.cont()
        elif kind is gast.Raise:
            node = self.node("do", stmt, (stmt,), (), exc)
            return node, exc or self.exit
        node = self.node("do", stmt, (stmt,), (after,), exc)
        if kind is gast.Return or kind is gast.Break:
            node.left = ways.heads
        return node, after

    def if_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        orelse = self.block(stmt.orelse, after, ways)
        body = self.block(stmt.body, after, ways)
        return self.branch("test", stmt, stmt.test, body, orelse, ways)

    def branch(
        self, kind: str, stmt: Any, test: Any, yes: Node, no: Node, ways: _Ways
    ) -> Node:
        """Build a test that leads to `yes` or `no`; returns its first node."""
        if self.split and test.__class__ is gast.BoolOp:
            # From the last operand, which decides, to the first.
            start = self.branch(kind, stmt, test.values[-1], yes, no, ways)
            for value in reversed(test.values[:-1]):
                if test.op.__class__ is gast.And:
                    start = self.branch(kind, stmt, value, start, no, ways)
                else:
                    start = self.branch(kind, stmt, value, yes, start, ways)
            return start
        if self.split and test.__class__ is gast.UnaryOp:
            if test.op.__class__ is gast.Not:
                return self.branch(kind, stmt, test.operand, no, yes, ways)
        exc = None if test.__class__ is gast.Constant else ways.exc
        return self.node(kind, stmt, (test,), _taken(test, yes, no), exc)

    def while_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        head = Node("head", stmt, (), (), None)
        ways = ways._replace(heads=(*ways.heads, head))
        orelse = self.block(stmt.orelse, after, ways)
        inside = ways._replace(brk=lambda: after, cont=lambda: head)
        body = self.block(stmt.body, head, inside)
        head.succ = (self.branch("test", stmt, stmt.test, body, orelse, ways),)
        self.nodes.append(head)
        self.heads.setdefault(stmt, []).append(head)
        return self.node("loop", stmt, (), (head,), None)

    def for_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        head = Node("next", stmt, (), (), ways.exc)
        ways = ways._replace(heads=(*ways.heads, head))
        orelse = self.block(stmt.orelse, after, ways)
        inside = ways._replace(brk=lambda: after, cont=lambda: head)
        body = self.block(stmt.body, head, inside)
        bind = self.node(
            "target", stmt, (stmt.target,), (body,), _risk(stmt.target, ways.exc)
        )
        head.succ = (bind, orelse)
        self.nodes.append(head)
        self.heads.setdefault(stmt, []).append(head)
        return self.node("iter", stmt, (stmt.iter,), (head,), ways.exc)

    def with_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        def passage(then: Node) -> Node:
            return self.node("leave", stmt, (), (then,), ways.exc)

        # Any of the managers may swallow an exception, which leads to `after` too.
        leave = passage(after)
        inside = self.through(passage, ways, leave)
        start = self.block(stmt.body, leave, inside)
        for number, item in reversed(tuple(enumerate(stmt.items))):
            if item.optional_vars is not None:
                target = item.optional_vars
                start = self.node(
                    "bind", stmt, (target,), (start,), _risk(target, leave)
                )
            exc = leave if number else ways.exc
            start = self.node("enter", stmt, (item.context_expr,), (start,), exc)
        return start

    def match(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        miss = after
        for case in reversed(stmt.cases):
            start = self.block(case.body, after, ways)
            if case.guard is not None:
                start = self.branch("guard", stmt, case.guard, start, miss, ways)
            start = self.node("bind", stmt, (case.pattern,), (start,), None)
            taken = (start,) if _matches_all(case.pattern) else (start, miss)
            miss = self.node("match", stmt, (case.pattern,), taken, ways.exc)
        return self.node("subject", stmt, (stmt.subject,), (miss,), ways.exc)

    def try_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        inside = ways
        if stmt.finalbody:

            def final(then: Node) -> Node:
                return self.block(stmt.finalbody, then, ways)

            caught = final(ways.exc or self.exit)
            inside, after = self.through(final, ways, caught), final(after)
        orelse = self.block(stmt.orelse, after, inside)
        if stmt.handlers:
            handlers = self.handlers(stmt, after, inside)
            return self.block(stmt.body, orelse, inside._replace(exc=handlers))
        return self.block(stmt.body, orelse, inside)

    def handlers(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        if stmt.__class__ is gast.TryStar:
            # All handlers may run in turn; exceptions that none takes propagate.
            following = self.node("leave", stmt, (), (after,), ways.exc)
            for handler in reversed(stmt.handlers):
                inside = ways._replace(exc=following)
                following = self.handler(handler, following, following, inside)
            return following
        miss = ways.exc or self.exit
        for handler in reversed(stmt.handlers):
            miss = self.handler(handler, after, miss, ways)
        return miss

    def handler(self, handler: Any, after: Node, miss: Node, ways: _Ways) -> Node:
        inside = ways
        if handler.name is not None:

            def unbind(then: Node) -> Node:
                return self.node("unbind", handler, (), (then,), None)

            caught = unbind(ways.exc or self.exit)
            inside, after = self.through(unbind, ways, caught), unbind(after)
        start = self.block(handler.body, after, inside)
        if handler.name is not None:
            start = self.node("bind", handler, (handler.name,), (start,), None)
        if handler.type is None:
            return self.node("except", handler, (), (start,), ways.exc)
        taken = (start, miss)
        return self.node("except", handler, (handler.type,), taken, ways.exc)

    def through(self, passage: Callable[[Node], Node], ways: _Ways, exc: Node) -> _Ways:
        """The exits with exceptions going to `exc`, and each jump leading through a
        copy of a passage first.
        """

        def lazily(jump: _Jump) -> _Jump:
            entered: list[Node] = []

            def enter() -> Node:
                if not entered:
                    entered.append(passage(jump()))
                return entered[0]

            return enter

        return ways._replace(
            exc=exc,
            ret=lazily(ways.ret),
            brk=lazily(ways.brk),
            cont=lazily(ways.cont),
        )


def _reachable(entry: Node) -> set[Node]:
    reached, work = {entry}, [entry]
    while work:
        node = work.pop()
        for target in (*node.succ, node.exc):
            if target is not None and target not in reached:
                reached.add(target)
                work.append(target)
    return reached


def _risk(target: Any, exc: Node | None) -> Node | None:
    """The target of an exception in binding a target; None for a name."""
    return None if target.__class__ is gast.Name else exc


def _taken(test: Any, yes: Node, no: Node) -> tuple[Node, ...]:
    if test.__class__ is gast.Constant:
        return (yes,) if test.value else (no,)
    return (yes, no)


def _matches_all(pattern: Any) -> bool:
    if pattern.__class__ is gast.MatchOr:
        return any(_matches_all(part) for part in pattern.patterns)
    if pattern.__class__ is not gast.MatchAs:
        return False
    return pattern.pattern is None or _matches_all(pattern.pattern)


#: Statements that cannot raise.
_SILENT = frozenset({gast.Pass, gast.Break, gast.Continue, gast.Global, gast.Nonlocal})

_COMPOUND: dict[type, Callable[[_Builder, Any, Node, _Ways], Node]] = {
    gast.If: _Builder.if_,
    gast.While: _Builder.while_,
    gast.For: _Builder.for_,
    gast.AsyncFor: _Builder.for_,
    gast.With: _Builder.with_,
    gast.AsyncWith: _Builder.with_,
    gast.Match: _Builder.match,
    gast.Try: _Builder.try_,
    gast.TryStar: _Builder.try_,
}
