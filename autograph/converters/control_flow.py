"""``if``, ``while`` and ``for`` as calls of operators on functions.

Runs after `exits`: no staged branch jumps out of the statements around it, except at the
very end of its function. The bodies become functions beside the statement, which write
the variables they share with it through ``nonlocal``:

    while n != 1:               def while_body():
        n = step(n)                 nonlocal n, steps
        steps += 1                  n = step(n)
                                    steps += 1

                                ag.while_loop(lambda: n != 1, while_body,
                                              state='n, steps')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from ..analysis import Facts
from ..lang import nodes
from ..lang.names import Namer
from ..lang.visitors import clone, walk, walk_scope
from .bindings import bound_names
from .expressions import Expressions
from .staging import LOOPS, Staging, blocks, leaves, with_blocks

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
_JUMPS = (gast.Return, gast.Break, gast.Continue)


@dataclass
class _Frame:
    """A function that is being written: the user's own, or a generated body.

    ``shared`` tells which of the names it binds belong to a function around it.
    ``in_loop``: it is (a part of) the body of a staged loop, which ``continue`` and
    ``break`` end. ``missing``: names that functions inside it write and it must own.
    """

    shared: frozenset[str] = frozenset()
    generated: bool = False
    in_loop: bool = False
    missing: set[str] = field(default_factory=set)


class ControlFlow:
    """The pass over one function; ``nested`` converts the functions inside it."""

    def __init__(
        self,
        facts: Facts,
        staging: Staging,
        namer: Namer,
        expressions: Expressions,
        nested: Callable[[gast.AST], gast.AST],
    ) -> None:
        self._facts = facts
        self._staging = staging
        self._namer = namer
        self._expressions = expressions
        self._nested = nested
        scope = facts.scope
        self._globals = frozenset(scope.globals)
        self._always_shared = frozenset(scope.captured) | frozenset(scope.nonlocals)
        self._flags = frozenset(staging.until.values())
        self.helpers: set[str] = set()

    def convert(self, body: list[gast.AST]) -> list[gast.AST]:
        """The rewritten body of the function; the same list if nothing changes."""
        frame = _Frame()
        new = self._block(body, frame)
        own = bound_names(new) | frozenset(self._facts.scope.params)
        missing = frame.missing - own - self._facts.scope.nonlocals - self._globals
        new = self._declare_scopes(body, new)
        return _declared(new, missing)

    def _declare_scopes(
        self, old: list[gast.AST], new: list[gast.AST]
    ) -> list[gast.AST]:
        """Move ``global`` and ``nonlocal`` out of blocks that became functions."""
        if new is old:
            return new
        kept = {id(n) for s in new for n in walk_scope(s) if isinstance(n, _SCOPING)}
        lost = [
            node
            for statement in old
            for node in walk_scope(statement)
            if isinstance(node, _SCOPING) and id(node) not in kept
        ]
        position = 1 if _is_docstring(new[0]) else 0
        return [*new[:position], *lost, *new[position:]]

    # Statements --------------------------------------------------------------------

    def _block(self, statements: list[gast.AST], frame: _Frame) -> list[gast.AST]:
        out: list[gast.AST] = []
        for statement in statements:
            out.extend(self._statement(statement, frame))
        same = len(out) == len(statements) and all(map(_is, out, statements))
        return statements if same else out

    def _statement(self, statement: Any, frame: _Frame) -> list[gast.AST]:
        if self._staging.is_staged(statement):
            if isinstance(statement, gast.If):
                return self._conditional(statement, frame)
            return self._loop(statement, frame)
        if isinstance(statement, _FUNCTIONS):
            return [self._nested(statement)]
        if isinstance(statement, gast.ClassDef):
            body = [
                self._nested(inner) if isinstance(inner, _FUNCTIONS) else inner
                for inner in statement.body
            ]
            same = all(map(_is, body, statement.body))
            return [statement if same else clone(statement, body=body)]
        if frame.in_loop and isinstance(statement, (gast.Break, gast.Continue)):
            return [nodes.return_(None, statement)]
        if frame.generated and isinstance(statement, _SCOPING):
            return []
        new = self._expressions.statement(statement, frame.generated)
        if frame.generated and isinstance(new, gast.AnnAssign):
            new = self._without_annotation(new, frame)
        return [] if new is None else [self._with_children(new, statement, frame)]

    def _with_children(self, new: Any, old: Any, frame: _Frame) -> Any:
        old_blocks = blocks(old)
        if not old_blocks:
            return new
        if isinstance(old, (*LOOPS, gast.AsyncFor)):
            # What leaves a loop that stays is its own business.
            inner = _Frame(frame.shared, frame.generated, False, frame.missing)
            new_blocks = [
                self._block(old.body, inner),
                self._block(old.orelse, frame),
            ]
        else:
            new_blocks = [self._block(block, frame) for block in old_blocks]
        if all(map(_is, new_blocks, old_blocks)):
            return new
        return with_blocks(new, new_blocks)

    def _without_annotation(self, statement: Any, frame: _Frame) -> Any:
        """An annotated name cannot be nonlocal; its annotation is never evaluated."""
        target = statement.target
        if not isinstance(target, gast.Name) or target.id not in frame.shared:
            return statement
        if statement.value is None:
            return nodes.located(gast.Pass(), statement)
        return nodes.located(
            gast.Assign([target], statement.value, None), statement
        )

    # Conditionals ------------------------------------------------------------------

    def _conditional(self, statement: gast.If, frame: _Frame) -> list[gast.AST]:
        chain, default = self._chain(statement)
        if len(chain) == 1:
            value = self._value_form(statement, frame)
            if value is not None:
                return [value]
        tests = [self._expressions.expression(test, frame.generated) for test, _ in chain]
        bodies = [*(body for _, body in chain), default]
        names = self._branch_names(len(chain), default)
        observed = self._observed(statement)
        functions: list[gast.AST] = []
        branches: list[gast.AST] = []
        for name, body in zip(names, bodies, strict=True):
            function = self._function(name, body, observed, frame, statement)
            branches.append(function if function is not None else _none(statement))
            if isinstance(function, gast.FunctionDef):
                functions.append(function)
                branches[-1] = nodes.name(name, statement)
        state = self._state(statement, observed)
        if len(chain) == 1:
            call = self._cond(tests[0], branches, state, statement)
        else:
            call = self._case(tests, branches, state, statement)
        return [*functions, self._finish(call, statement)]

    def _chain(
        self, statement: gast.If
    ) -> tuple[list[tuple[gast.AST, list[gast.AST]]], list[gast.AST]]:
        """The tests and bodies of ``if … elif …``, and the last ``else``."""
        chain = [(statement.test, statement.body)]
        orelse = statement.orelse
        while len(orelse) == 1 and isinstance(orelse[0], gast.If):
            (inner,) = orelse
            if self._expressions.is_fixed(inner.test):
                break
            chain.append((inner.test, inner.body))
            orelse = inner.orelse
        return chain, orelse

    def _branch_names(self, count: int, default: list[gast.AST]) -> list[str]:
        if count == 1:
            bases = ["if_true", "if_false"]
        else:
            bases = [*(f"if_{number}" for number in range(1, count + 1)), "otherwise"]
        return [self._fresh(base) for base in bases]

    def _fresh(self, base: str) -> str:
        name = self._namer.fresh(base)
        self.helpers.add(name)
        return name

    def _value_form(self, statement: gast.If, frame: _Frame) -> gast.AST | None:
        """``y = ag.cond(test, lambda: a, lambda: b)``, or the same with ``return``."""
        if len(statement.body) != 1 or len(statement.orelse) > 1:
            return None
        first = statement.body[0]
        second = statement.orelse[0] if statement.orelse else None
        if isinstance(first, gast.Return) and isinstance(second, gast.Return):
            if frame.in_loop:
                return None
            values = [s.value or nodes.constant(None, s) for s in (first, second)]
            wrap = None
        else:
            wrap = _assigned_name(first)
            if wrap is None:
                return None
            if second is None:
                if wrap not in self._facts.assigned_in(statement):
                    return None
                values = [first.value, nodes.name(wrap, statement)]
            elif _assigned_name(second) == wrap:
                values = [first.value, second.value]
            else:
                return None
        if any(self._expressions.is_fixed(value) for value in values):
            return None
        generated = frame.generated
        test = self._expressions.expression(statement.test, generated)
        lambdas = [
            nodes.lambda_(self._expressions.expression(value, generated), value)
            for value in values
        ]
        call = self._operator("cond", [test, *lambdas], statement)
        if wrap is None:
            return nodes.return_(call, statement)
        return nodes.assign(wrap, call, statement)

    def _cond(
        self,
        test: gast.AST,
        branches: list[gast.AST],
        state: gast.AST | None,
        at: gast.AST,
    ) -> gast.AST:
        args = [test, *branches]
        if _is_none(args[-1]) and len(args) == 3:
            args.pop()
        return self._operator("cond", args, at, state=state)

    def _case(
        self,
        tests: list[gast.AST],
        branches: list[gast.AST],
        state: gast.AST | None,
        at: gast.AST,
    ) -> gast.AST:
        *bodies, default = branches
        pairs = [
            nodes.located(
                gast.Tuple(
                    [nodes.lambda_(test, test), _or_nothing(body)], gast.Load()
                ),
                test,
            )
            for test, body in zip(tests, bodies, strict=True)
        ]
        otherwise = None if _is_none(default) else default
        return self._operator("case", pairs, at, default=otherwise, state=state)

    def _finish(self, call: gast.AST, statement: gast.AST) -> gast.AST:
        if "return" in leaves(statement):
            return nodes.return_(call, statement)
        return nodes.expression(call, statement)

    # Loops -------------------------------------------------------------------------

    def _loop(self, loop: Any, frame: _Frame) -> list[gast.AST]:
        observed = self._observed(loop) | frozenset(self._facts.live_head(loop))
        is_for = isinstance(loop, gast.For)
        functions: list[gast.AST] = []
        if is_for:
            subject = self._expressions.expression(loop.iter, frame.generated)
            parameter, unpack = self._item(loop.target, observed)
            operator = "for_loop"
        else:
            walrus = self._facts.writes(loop.test)
            observed |= frozenset(walrus)
            subject = self._test(loop.test, frame, functions)
            parameter, unpack = None, []
            operator = "while_loop"
        name = self._fresh("for_body" if is_for else "while_body")
        body = self._function(
            name, loop.body, observed, frame, loop, parameter, unpack, in_loop=True
        )
        if isinstance(body, gast.FunctionDef):
            functions.append(body)
            body = nodes.name(name, loop)
        elif body is None:
            parameters = () if parameter is None else (parameter,)
            body = nodes.lambda_(_none(loop), loop, *parameters)
        flag = self._staging.until.get(id(loop))
        until = None if flag is None else nodes.lambda_(nodes.name(flag, loop), loop)
        state = self._state(loop, observed)
        call = self._operator(operator, [subject, body], loop, until=until, state=state)
        return [*functions, nodes.expression(call, loop)]

    def _item(
        self, target: gast.AST, observed: frozenset[str]
    ) -> tuple[str, list[gast.AST]]:
        """The parameter of a loop body, and what unpacks it into the loop's target."""
        if isinstance(target, gast.Name) and target.id not in observed:
            return target.id, []
        parameter = self._namer.fresh("item")
        value = nodes.name(parameter, target)
        return parameter, [nodes.located(gast.Assign([target], value, None), target)]

    def _test(
        self, test: gast.AST, frame: _Frame, functions: list[gast.AST]
    ) -> gast.AST:
        new = self._expressions.expression(test, frame.generated)
        written = frozenset(self._facts.writes(test))
        if not written:
            return nodes.lambda_(new, test)
        name = self._fresh("while_test")
        body = [*self._scoping(written, written, test), nodes.return_(new, test)]
        functions.append(nodes.function(name, body, test))
        frame.missing.update(written)
        return nodes.name(name, test)

    # Functions ---------------------------------------------------------------------

    def _function(
        self,
        name: str,
        statements: list[gast.AST],
        observed: frozenset[str],
        outer: _Frame,
        at: gast.AST,
        parameter: str | None = None,
        unpack: Sequence[gast.AST] = (),
        in_loop: bool = False,
    ) -> gast.AST | None:
        """A body as a function or lambda; None if it does nothing."""
        shared = observed
        if statements:
            read = frozenset(self._facts.live_in(statements[0]))
            shared |= read - bound_names(unpack)
        if parameter is not None and not unpack:
            shared -= {parameter}
        frame = _Frame(shared, True, in_loop or outer.in_loop)
        body = [*unpack, *self._block(statements, frame)]
        while body and _is_empty(body[-1]):
            body.pop()
        if not body:
            return None
        parameters = () if parameter is None else (parameter,)
        bound = bound_names(body)
        frame.missing.difference_update(bound - shared)
        outside = frame.missing & shared
        scoping = self._scoping(bound & (shared | self._globals), shared, at)
        outer.missing.update(bound & shared, outside)
        declared = _declared(body, frame.missing - shared - self._globals)
        if len(body) == 1 and not scoping and isinstance(body[0], gast.Return):
            value = body[0].value or _none(at)
            if not self._expressions.is_fixed(value):
                return nodes.lambda_(value, value, *parameters)
        return nodes.function(name, [*scoping, *declared], statements[0], *parameters)

    def _scoping(
        self, names: Iterable[str], shared: frozenset[str], at: gast.AST
    ) -> list[gast.AST]:
        globals_ = [n for n in self._in_order(names) if n in self._globals]
        nonlocals = [n for n in self._in_order(names) if n not in self._globals]
        out: list[gast.AST] = []
        if globals_:
            out.append(nodes.global_(globals_, at))
        if nonlocals:
            out.append(nodes.nonlocal_(nonlocals, at))
        return out

    # Variables ---------------------------------------------------------------------

    def _observed(self, statement: gast.AST) -> frozenset[str]:
        """The variables whose values after the statement may be read."""
        facts = self._facts
        observed = set(facts.live_out(statement)) | facts.live_at_handlers(statement)
        observed |= self._always_shared | self._flags | self._globals
        for node in walk_scope(statement):
            if isinstance(node, _JUMPS):
                observed |= facts.live_out(node)
        return frozenset(observed)

    def _state(self, statement: gast.AST, observed: frozenset[str]) -> gast.AST | None:
        written = [n for n in self._facts.writes(statement) if n in observed]
        names = [*self._in_order(written)]
        all_written = frozenset(self._facts.writes(statement))
        for place in self._facts.places(statement):
            if not place.opaque and not all_written & frozenset(place.names):
                names.append(place.text)
        if not names:
            return None
        return nodes.constant(", ".join(dict.fromkeys(names)), statement)

    def _in_order(self, names: Iterable[str]) -> list[str]:
        """Names in the order in which the function mentions them first."""
        wanted = frozenset(names)
        if len(wanted) < 2:
            return list(wanted)
        return [name for name in self._mentions() if name in wanted]

    def _mentions(self) -> list[str]:
        if not hasattr(self, "_order"):
            scope = self._facts.scope
            self._order = list(dict.fromkeys([*scope.params, *scope.bound, *scope.free]))
        return self._order

    def _operator(
        self, name: str, args: list[gast.AST], at: gast.AST, **keywords: Any
    ) -> gast.Call:
        return self._expressions.operator(name, args, at, **keywords)


_SCOPING = (gast.Global, gast.Nonlocal)


def _is(left: object, right: object) -> bool:
    return left is right


def _none(at: gast.AST) -> gast.Constant:
    return nodes.constant(None, at)


def _is_none(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def _or_nothing(body: gast.AST) -> gast.AST:
    return nodes.lambda_(body, body) if _is_none(body) else body


def _is_docstring(statement: gast.AST) -> bool:
    return isinstance(statement, gast.Expr) and isinstance(
        getattr(statement.value, "value", None), str
    )


def _is_empty(statement: gast.AST) -> bool:
    """Whether a statement at the end of a function does nothing."""
    if isinstance(statement, gast.Return):
        return statement.value is None
    return isinstance(statement, gast.Pass)


def _assigned_name(statement: gast.AST | None) -> str | None:
    """``x`` if the statement is ``x = value``."""
    if isinstance(statement, gast.Assign) and len(statement.targets) == 1:
        (target,) = statement.targets
        if isinstance(target, gast.Name):
            return str(target.id)
    return None


def _declared(body: list[gast.AST], names: Iterable[str]) -> list[gast.AST]:
    """Declare variables that only inner functions bind, before the first of these."""
    out = body
    for name in sorted(names):
        for position, statement in enumerate(out):
            if any(name in n.names for n in walk(statement) if isinstance(n, gast.Nonlocal)):
                out = [
                    *out[:position],
                    nodes.declaration(name, statement),
                    *out[position:],
                ]
                break
    return out
