"""The control-flow graph of one function.

A node is a step that happens as a whole: a simple statement, a test, the taking of the
next item, a pattern. `succ` is where control goes when the step completes, `exc` where
it goes when the step raises (None: out of the function).

    while n != 1:            1 L1 while n != 1 -> 2, 3
        n = n // 2           2 L2 n = n // 2 -> 1
    return n                 3 L3 return n -> 4
                             4 exit

The graph is built from the end of the function to its start, so that each statement
knows where it goes. `finally` blocks are copied for each kind of way out (end of the
block, exception, return, break, continue), as Python's own compiler does: paths that
cannot happen do not meet. A statement can therefore have several nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

__all__ = ["Graph", "Node", "Point", "build"]


class Node:
    """One step. ``parts`` are the syntax nodes it evaluates, ``stmt`` its statement.

    ``kind`` is 'entry', 'exit', 'do' (a simple statement), 'test', 'iter', 'next',
    'target', 'enter', 'bind', 'leave', 'except', 'unbind', 'subject', 'match' or
    'guard'.
    """

    __slots__ = ("exc", "index", "kind", "parts", "stmt", "succ")

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

    def __repr__(self) -> str:
        return f"<{self.index} {_label(self)}>"


@dataclass(frozen=True)
class Point:
    """One place of a statement in the graph: where it starts, what follows, and where
    an exception in it goes (None: out of the function).
    """

    before: Node
    after: Node
    exc: Node | None


@dataclass(frozen=True)
class Graph:
    """Nodes in about the order of the source; ``str(graph)`` is stable."""

    nodes: tuple[Node, ...]
    entry: Node
    exit: Node
    #: The places of each statement; none for a statement of a nested function.
    points: dict[Any, list[Point]]
    #: The nodes at which a loop decides whether to go on.
    heads: dict[Any, list[Node]]

    def __str__(self) -> str:
        return "\n".join(_line(node) for node in self.nodes)


def _line(node: Node) -> str:
    text = f"{node.index} {_label(node)}"
    if node.succ:
        text += " -> " + ", ".join(str(successor.index) for successor in node.succ)
    if node.exc is not None:
        text += f" ! {node.exc.index}"
    return text


def _label(node: Node) -> str:
    if node.stmt is None:
        return node.kind
    words = {"do": "", "test": "if "}
    if node.stmt.__class__ is gast.While:
        words["test"] = "while "
    text = words.get(node.kind, node.kind + " ")
    if node.kind == "do" and node.stmt.__class__ in _DEFINITIONS:
        text += f"define {node.stmt.name}"
    elif node.kind == "unbind":
        text += str(node.stmt.name.id)
    else:
        text += ", ".join(gast.unparse(part).strip() for part in node.parts)
    line = getattr(node.parts[0] if node.parts else node.stmt, "lineno", None)
    return f"L{line or node.stmt.lineno} {text.strip()}"


_DEFINITIONS = frozenset({gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef})


def build(fn: Any) -> Graph:
    """The graph of a function definition or lambda; of a generator expression, an empty
    one.
    """
    return _Builder().graph(fn)


_Jump = Callable[[], Node]


@dataclass(frozen=True)
class _Ways:
    """Where the ways out of the current block lead."""

    exc: Node | None
    ret: _Jump
    brk: _Jump
    cont: _Jump
    #: Leaving runs a context manager, so even a bare jump can raise.
    guarded: bool = False


def _nowhere() -> Node:
    raise SyntaxError("'break' or 'continue' outside a loop")


class _Builder:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.points: dict[Any, list[Point]] = {}
        self.heads: dict[Any, list[Node]] = {}
        self.exit = self.node("exit", None, (), (), None)

    def graph(self, fn: Any) -> Graph:
        exit_node = self.exit
        ways = _Ways(None, lambda: exit_node, _nowhere, _nowhere)
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
        return Graph(nodes, entry, exit_node, self.points, self.heads)

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
        """Build statements that lead to `after`; where they start."""
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
        if kind in _SILENT and not ways.guarded:
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
        return self.node("do", stmt, (stmt,), (after,), exc), after

    def if_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        orelse = self.block(stmt.orelse, after, ways)
        body = self.block(stmt.body, after, ways)
        taken = _taken(stmt.test, body, orelse)
        return self.node("test", stmt, (stmt.test,), taken, ways.exc)

    def while_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        head = Node("test", stmt, (stmt.test,), (), ways.exc)
        orelse = self.block(stmt.orelse, after, ways)
        inside = replace(ways, brk=lambda: after, cont=lambda: head)
        head.succ = _taken(stmt.test, self.block(stmt.body, head, inside), orelse)
        self.nodes.append(head)
        self.heads.setdefault(stmt, []).append(head)
        return head

    def for_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        head = Node("next", stmt, (), (), ways.exc)
        orelse = self.block(stmt.orelse, after, ways)
        inside = replace(ways, brk=lambda: after, cont=lambda: head)
        body = self.block(stmt.body, head, inside)
        bind = self.node("target", stmt, (stmt.target,), (body,), ways.exc)
        head.succ = (bind, orelse)
        self.nodes.append(head)
        self.heads.setdefault(stmt, []).append(head)
        return self.node("iter", stmt, (stmt.iter,), (head,), ways.exc)

    def with_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        # Any of the managers may swallow an exception, which leads to `after` too.
        leave = self.node("leave", stmt, (), (after,), ways.exc)
        inside = replace(ways, exc=leave, guarded=True)
        start = self.block(stmt.body, leave, inside)
        for number, item in reversed(tuple(enumerate(stmt.items))):
            if item.optional_vars is not None:
                parts = (item.optional_vars,)
                start = self.node("bind", stmt, parts, (start,), leave)
            exc = leave if number else ways.exc
            start = self.node("enter", stmt, (item.context_expr,), (start,), exc)
        return start

    def match(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        miss = after
        for case in reversed(stmt.cases):
            start = self.block(case.body, after, ways)
            if case.guard is not None:
                taken = _taken(case.guard, start, miss)
                start = self.node("guard", stmt, (case.guard,), taken, ways.exc)
            start = self.node("bind", stmt, (case.pattern,), (start,), None)
            taken = (start,) if _matches_all(case.pattern) else (start, miss)
            miss = self.node("match", stmt, (case.pattern,), taken, ways.exc)
        return self.node("subject", stmt, (stmt.subject,), (miss,), ways.exc)

    def try_(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        inside = ways
        if stmt.finalbody:

            def final(then: Node) -> Node:
                return self.block(stmt.finalbody, then, ways)

            inside, after = self.through(final, ways), final(after)
        orelse = self.block(stmt.orelse, after, inside)
        if stmt.handlers:
            handlers = self.handlers(stmt, after, inside)
            return self.block(stmt.body, orelse, replace(inside, exc=handlers))
        return self.block(stmt.body, orelse, inside)

    def handlers(self, stmt: Any, after: Node, ways: _Ways) -> Node:
        if stmt.__class__ is gast.TryStar:
            # All handlers may run, one after the other; then what none took goes on.
            rest = self.node("leave", stmt, (), (after,), ways.exc)
            for handler in reversed(stmt.handlers):
                inside = replace(ways, exc=rest)
                rest = self.handler(handler, rest, rest, inside)
            return rest
        miss = ways.exc or self.exit
        for handler in reversed(stmt.handlers):
            miss = self.handler(handler, after, miss, ways)
        return miss

    def handler(self, handler: Any, after: Node, miss: Node, ways: _Ways) -> Node:
        inside = ways
        if handler.name is not None:

            def unbind(then: Node) -> Node:
                return self.node("unbind", handler, (), (then,), None)

            inside, after = self.through(unbind, ways), unbind(after)
        start = self.block(handler.body, after, inside)
        if handler.name is not None:
            start = self.node("bind", handler, (handler.name,), (start,), None)
        if handler.type is None:
            return self.node("except", handler, (), (start,), ways.exc)
        taken = (start, miss)
        return self.node("except", handler, (handler.type,), taken, ways.exc)

    def through(self, passage: Callable[[Node], Node], ways: _Ways) -> _Ways:
        """The same ways, each first through its own copy of a passage."""

        def lazily(jump: _Jump) -> _Jump:
            made: list[Node] = []

            def enter() -> Node:
                if not made:
                    made.append(passage(jump()))
                return made[0]

            return enter

        return replace(
            ways,
            exc=passage(ways.exc or self.exit),
            ret=lazily(ways.ret),
            brk=lazily(ways.brk),
            cont=lazily(ways.cont),
        )


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
