"""Run small functions in every way they could go, and note what happens to names.

The functions are made of the names a to d, a call `F` that may answer yes or no or
raise, and all statements that direct control. What the calls do is decided from
outside, so that one program can be driven along each of its paths; what is seen on the
way must be what the analysis predicts. Reading an unbound name does not raise here:
every path that the syntax allows can be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast
from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d")


class _Raised(Exception):
    """An exception of the program."""


class _Jump(BaseException):
    """`break`, `continue` or `return`."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


class _Stop(BaseException):
    """No more decisions."""


@dataclass
class Observed:
    """What was seen on all runs so far, in the terms of `Facts`."""

    live: dict[tuple[str, Any], set[str]] = field(default_factory=dict)
    assigned: dict[Any, set[str]] = field(default_factory=dict)
    maybe_assigned: dict[Any, set[str]] = field(default_factory=dict)
    reaching: dict[Any, set[Any]] = field(default_factory=dict)

    def add(self, events: list[tuple[Any, ...]]) -> None:
        """Take in the events of one run."""
        bound: dict[str, Any] = {}
        for kind, *rest in events:
            if kind == "read":
                name, node = rest
                self.reaching.setdefault(node, set()).add(bound.get(name))
            elif kind == "write":
                bound[rest[0]] = rest[1]
            elif kind == "unbind":
                bound.pop(rest[0], None)
            elif kind == "in":
                stmt = rest[0]
                self.assigned.setdefault(stmt, set(bound)).intersection_update(bound)
                self.maybe_assigned.setdefault(stmt, set()).update(bound)
        live: set[str] = set()
        for kind, subject, *_ in reversed(events):
            if kind == "read":
                live.add(subject)
            elif kind in ("write", "unbind"):
                live.discard(subject)
            else:
                self.live.setdefault((kind, subject), set()).update(live)


class Run:
    """One run of a function; ``decide(n)`` answers 0 to n-1, or raises IndexError.

    The run ends there, or when a loop has gone round ``rounds`` times.
    """

    def __init__(self, fn: Any, decide: Callable[[int], int], rounds: int) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.cut_short = False
        self._decide = decide
        self._rounds = rounds
        self._off = False
        for param in fn.args.args:
            self._note("write", param.id, param)
        try:
            self._block(fn.body)
        except (_Raised, _Jump, _Stop):
            pass

    def _note(self, *event: Any) -> None:
        if not self._off:
            self.events.append(event)

    def _choose(self, count: int) -> int:
        try:
            if not self._off:
                return self._decide(count)
        except IndexError:
            self._off = self.cut_short = True
        raise _Stop

    def _may_raise(self) -> None:
        if self._choose(2):
            raise _Raised

    def _block(self, block: list[Any]) -> None:
        for stmt in block:
            if self._off:
                raise _Stop
            self._note("in", stmt)
            try:
                getattr(self, f"_{type(stmt).__name__.lower()}")(stmt)
            except _Raised:
                self._note("raise", stmt)
                raise
            self._note("out", stmt)

    # --- expressions ---

    def _eval(self, node: Any) -> int:
        kind = type(node)
        if kind is gast.Constant:
            return int(node.value)
        if kind is gast.Name:
            self._note("read", node.id, node)
            return 1
        if kind is gast.NamedExpr:
            value = self._eval(node.value)
            self._note("write", node.target.id, node)
            self._may_raise()
            return value
        if kind is gast.BoolOp:
            for part in node.values:
                value = self._eval(part)
                if bool(value) is isinstance(node.op, gast.Or):
                    break
            return value
        if kind is gast.UnaryOp:
            return not self._eval(node.operand)
        for argument in node.args:
            self._eval(argument)
        outcome = self._choose(3)
        if outcome == 2:
            raise _Raised
        return outcome

    def _bind(self, target: Any, holder: Any) -> None:
        if isinstance(target, gast.Name):
            self._note("write", target.id, holder)
        else:
            for element in target.elts:
                self._may_raise()
                self._note("write", element.id, holder)

    # --- statements ---

    def _pass(self, stmt: Any) -> None:
        pass

    def _expr(self, stmt: Any) -> None:
        self._eval(stmt.value)

    def _annassign(self, stmt: Any) -> None:
        self._may_raise()

    def _assign(self, stmt: Any) -> None:
        self._eval(stmt.value)
        self._bind(stmt.targets[0], stmt)

    def _augassign(self, stmt: Any) -> None:
        self._note("read", stmt.target.id, stmt.target)
        self._eval(stmt.value)
        self._note("write", stmt.target.id, stmt)

    def _delete(self, stmt: Any) -> None:
        for target in stmt.targets:
            self._note("read", target.id, target)
            self._may_raise()
            self._note("unbind", target.id)

    def _return(self, stmt: Any) -> None:
        self._eval(stmt.value)
        raise _Jump(gast.Return)

    def _break(self, stmt: Any) -> None:
        raise _Jump(gast.Break)

    def _continue(self, stmt: Any) -> None:
        raise _Jump(gast.Continue)

    def _raise(self, stmt: Any) -> None:
        raise _Raised

    def _if(self, stmt: Any) -> None:
        self._block(stmt.body if self._eval(stmt.test) else stmt.orelse)

    def _rounds_of(self, stmt: Any) -> Iterator[None]:
        """Before each time that a loop decides whether to go on."""
        for _ in range(self._rounds + 1):
            self._note("head", stmt)
            yield
        self._off = True
        raise _Stop

    def _broken(self, block: list[Any]) -> bool:
        """Run a loop's body; whether it breaks."""
        try:
            self._block(block)
        except _Jump as jump:
            if jump.kind is gast.Return:
                raise
            return jump.kind is gast.Break
        return False

    def _while(self, stmt: Any) -> None:
        for _ in self._rounds_of(stmt):
            if not self._eval(stmt.test):
                break
            if self._broken(stmt.body):
                return
        self._block(stmt.orelse)

    def _for(self, stmt: Any) -> None:
        self._eval(stmt.iter)
        for _ in self._rounds_of(stmt):
            outcome = self._choose(3)
            if outcome == 2:
                raise _Raised
            if not outcome:
                break
            self._bind(stmt.target, stmt)
            if self._broken(stmt.body):
                return
        self._block(stmt.orelse)

    def _try(self, stmt: Any) -> None:
        try:
            try:
                self._block(stmt.body)
            except _Raised:
                for handler in stmt.handlers:
                    if handler.type is None or self._choose(2):
                        self._handler(handler)
                        break
                else:
                    raise
            else:
                self._block(stmt.orelse)
        finally:
            self._block(stmt.finalbody)

    def _handler(self, handler: Any) -> None:
        if handler.name is None:
            self._block(handler.body)
            return
        self._note("write", handler.name.id, handler)
        try:
            self._block(handler.body)
        finally:
            self._note("unbind", handler.name.id)

    def _with(self, stmt: Any) -> None:
        (item,) = stmt.items
        self._eval(item.context_expr)
        try:
            if item.optional_vars is not None:
                self._bind(item.optional_vars, stmt)
            self._block(stmt.body)
        except _Raised:
            self._may_raise()  # or swallow
        except _Jump:
            self._may_raise()
            raise
        else:
            self._may_raise()

    def _match(self, stmt: Any) -> None:
        self._eval(stmt.subject)
        for case in stmt.cases:
            if self._matches(case.pattern, stmt):
                if case.guard is None or self._eval(case.guard):
                    self._block(case.body)
                    return

    def _matches(self, pattern: Any, stmt: Any) -> bool:
        if isinstance(pattern, gast.MatchAs):
            if pattern.pattern and not self._matches(pattern.pattern, stmt):
                # When names are bound is left to the implementation.
                if self._choose(2):
                    self._note("write", pattern.name, stmt)
                return False
            if pattern.name is not None:
                self._note("write", pattern.name, stmt)
            return True
        outcome = self._choose(3)
        if outcome == 2:
            raise _Raised
        for part in getattr(pattern, "patterns", ()):
            # What was matched before a failure stays bound.
            if not outcome and self._choose(2):
                return False
            self._matches(part, stmt)
        return bool(outcome)


def all_runs(fn: Any, decisions: int, runs: int) -> tuple[Observed, bool]:
    """Every run in which loops go round twice at most; whether it was every one.

    Left out is what takes more than so many ``decisions`` or ``runs``.
    """
    observed, complete = Observed(), True
    path: list[tuple[int, int]] = []
    for _ in range(runs):
        position = 0

        def decide(count: int) -> int:
            nonlocal position
            if position == len(path):
                if position == decisions:
                    raise IndexError
                path.append((0, count))
            position += 1
            return path[position - 1][0]

        run = Run(fn, decide, rounds=2)
        observed.add(run.events)
        complete = complete and not run.cut_short
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        if not path:
            return observed, complete
        path[-1] = (path[-1][0] + 1, path[-1][1])
    return observed, False


def random_runs(fn: Any, random: Any, runs: int) -> Observed:
    """Some runs of up to 60 decisions."""
    observed = Observed()
    for _ in range(runs):
        left = iter(range(60))

        def decide(count: int, left: Iterator[int] = left) -> int:
            if next(left, None) is None:
                raise IndexError
            return int(random.randrange(count))

        observed.add(Run(fn, decide, rounds=60).events)
    return observed


# --- programs ---------------------------------------------------------------------

_name = st.sampled_from(NAMES)
_call = st.one_of(
    st.just("F()"),
    _name.map("F({})".format),
    st.tuples(_name, _name).map(lambda two: "F({}, {})".format(*two)),
    st.tuples(_name, _name).map(lambda two: "F(({} := F({})))".format(*two)),
    st.tuples(_name, _name).map(lambda two: "({} := F({}))".format(*two)),
)
_test = st.one_of(
    _call,
    st.tuples(_call, _call).map("{0[0]} and {0[1]}".format),
    st.tuples(_call, _call, _call).map("{0[0]} or not ({0[1]} and {0[2]})".format),
)
_target = st.one_of(_name, st.permutations(NAMES).map(lambda p: f"{p[0]}, {p[1]}"))
_simple = st.one_of(
    st.tuples(_target, _call).map("{0[0]} = {0[1]}".format),
    st.tuples(_name, _call).map("{0[0]} += {0[1]}".format),
    _call,
    _name.map("del {}".format),
    st.just("pass"),
)


@st.composite
def _block(draw: st.DrawFn, depth: int, in_loop: bool, most: int) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, most))):
        lines += draw(_statement(depth, in_loop, most))
    return lines


@st.composite
def _statement(draw: st.DrawFn, depth: int, in_loop: bool, most: int) -> list[str]:
    jumps = ["return", "raise", *(["break", "continue"] if in_loop else [])]
    kind = draw(st.sampled_from(["simple", "simple", "jump", *_COMPOUND]))
    if kind == "jump":
        jump = draw(st.sampled_from(jumps))
        return [f"return {draw(_call)}" if jump == "return" else jump]
    if kind == "simple" or not depth:
        return [draw(_simple)]

    def block(header: str, loop: bool = in_loop) -> list[str]:
        inside = draw(_block(depth - 1, loop, most))
        return [header, *(f"    {line}" for line in inside)]

    return _COMPOUND[kind](draw, block)


def _if(draw: st.DrawFn, block: Any) -> list[str]:
    lines = block(f"if {draw(_test)}:")
    return lines + (block("else:") if draw(st.booleans()) else [])


def _loop(draw: st.DrawFn, block: Any) -> list[str]:
    test = draw(st.one_of(_test.map("while {}:".format), st.just("while True:")))
    header = draw(st.sampled_from([f"for {draw(_target)} in {draw(_call)}:", test]))
    lines = block(header, True)
    return lines + (block("else:") if draw(st.booleans()) else [])


def _try(draw: st.DrawFn, block: Any) -> list[str]:
    lines = block("try:")
    handlers = draw(st.lists(st.sampled_from(["", " as a", " as b"]), max_size=2))
    for handler in handlers:
        lines += block(f"except E{handler}:")
    if draw(st.booleans()):
        handlers.append("bare")
        lines += block("except:")
    if handlers and draw(st.booleans()):
        lines += block("else:")
    if not handlers or draw(st.booleans()):
        lines += block("finally:")
    return lines


def _with(draw: st.DrawFn, block: Any) -> list[str]:
    target = draw(st.one_of(st.just(""), _name.map(" as {}".format)))
    return block(f"with {draw(_call)}{target}:")


def _match(draw: st.DrawFn, block: Any) -> list[str]:
    pattern = st.sampled_from(["0", "[a, b]", "[1, c]", "[d, _] as a", "_", "b"])
    guard = st.one_of(st.just(""), _test.map(" if {}".format))
    lines = [f"match {draw(_call)}:"]
    for _ in range(draw(st.integers(1, 2))):
        case = draw(pattern)
        test = draw(guard) or (" if F()" if case in ("_", "b") else "")
        lines += [f"    {line}" for line in block(f"case {case}{test}:")]
    return lines


_COMPOUND = {"if": _if, "loop": _loop, "try": _try, "with": _with, "match": _match}


@st.composite
def programs(draw: st.DrawFn, depth: int = 3, most: int = 3) -> str:
    """The source of a function."""
    # The annotations make c and d local, and bind nothing.
    lines = ["c: int", "d: int", *draw(_block(depth, False, most))]
    return "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)
