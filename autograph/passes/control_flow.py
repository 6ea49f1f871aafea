"""``if``, ``while`` and ``for`` as calls of operators on functions.

Runs after `exits`: no staged branch jumps out of the statements around it, except at
the very end of its function. The bodies become functions beside the statement, which
write the variables that they share with it through ``nonlocal``:

    while n != 1:               def while_body():
        n = step(n)                 nonlocal n, steps
        steps += 1                  n = step(n)
                                    steps += 1

                                ag.while_loop(lambda: n != 1, while_body,
                                              state='n, steps')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import gast

from ..analysis import Facts
from ..trees import nodes
from ..trees.names import Namer
from ..trees.visitors import are_same, blocks, clone, with_blocks
from .bindings import bindings_in, bound_names, names_read, unhidden
from .conditionals import (
    Cases,
    Chain,
    Choice,
    branches_of,
    cases_of,
    chain_of,
    choice_of,
)
from .context import Context
from .expressions import Expressions
from .selection import LOOPS, Selection, leaves
from .variables import Variables, lost_scoping

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
#: Statements that see the exceptions of their bodies, if only as a context.
_WATCHING = (gast.Try, gast.TryStar, gast.With, gast.AsyncWith)
_SCOPING = (gast.Global, gast.Nonlocal)


class _Body:
    """A function that is being written: the user's own, or a generated body.

    ``shared`` tells which of the names it binds belong to a function around it.
    ``in_loop``: it is (a part of) the body of a staged loop, which ``continue`` and
    ``break`` end. ``missing``: names that functions inside it write and it must own.
    ``flags``: how the staged loops around it are left, which ``until=`` reads.
    """

    def __init__(
        self,
        shared: frozenset[str] = frozenset(),
        generated: bool = False,
        in_loop: bool = False,
        flags: frozenset[str] = frozenset(),
    ) -> None:
        self.shared, self.flags = shared, flags
        self.generated = generated
        self.in_loop = in_loop
        self.missing: set[str] = set()


class ControlFlow:
    """The pass over one function.

    Args:
        facts: those of the function as it is now.
        written: those of the function as the user wrote it, with its dead code.
        selection: which statements are rewritten.
        context: the surroundings of the function.
        namer: knows the names in use.
        nested: converts a function inside this one.
    """

    def __init__(
        self,
        facts: Facts,
        written: Facts,
        selection: Selection,
        context: Context,
        namer: Namer,
        nested: Callable[[gast.AST], gast.AST],
    ) -> None:
        self._facts = facts
        self._written = written
        self._selection = selection
        self._helpers = context.helpers
        self._namer = namer
        self._expressions = Expressions(facts, context, namer)
        self._nested = nested
        self._flags = frozenset(selection.until.values())
        self._variables = Variables(facts)
        self._cases = Cases(facts, selection, namer, self._expressions, self._variables)

    def convert(self, body: list[gast.AST]) -> list[gast.AST]:
        """The rewritten body of the function; the same list if nothing changes."""
        within = _Body()
        new = self._block(body, within)
        old = self._written.node.body
        if new is old:
            return body
        # What the user bound in dead code is a local variable all the same.
        own = frozenset(self._facts.scope.bound) | frozenset(self._written.scope.bound)
        lost = own - bound_names(new) - frozenset(self._facts.scope.params)
        missing = lost & within.missing
        missing |= names_read(new, lost - missing)
        scope = self._written.scope
        scoping = lost_scoping(old, new) if scope.globals or scope.nonlocals else []
        foreign = self._facts.scope.enclosing - own
        if foreign:
            new = unhidden(new, foreign & self._expressions.targets, self._namer)
        doc, rest = nodes.split_docstring(new)
        return [*doc, *scoping, *self._variables.declared(rest, missing)]

    # Statements --------------------------------------------------------------------

    def _block(self, statements: list[gast.AST], within: _Body) -> list[gast.AST]:
        out: list[gast.AST] = []
        for statement in statements:
            out.extend(self._statement(statement, within))
        return statements if are_same(out, statements) else out

    def _statement(self, statement: Any, within: _Body) -> list[gast.AST]:
        around, self._expressions.hoisted = self._expressions.hoisted, []
        out = self._converted(statement, within)
        for function in reversed(self._expressions.hoisted):
            written = bound_names(function.body)
            within.missing.update(written)
            scoping = self._variables.scoping(written, function)
            function.body = [*scoping, *function.body]
            out = [function, *out]
            self._helpers.add((function.name, function.lineno))
        self._expressions.hoisted = around
        return out

    def _converted(self, statement: Any, within: _Body) -> list[gast.AST]:
        # Dead code keeps its `match` statements; the others have become `if`.
        dead = isinstance(statement, gast.Match)
        if self._selection.is_rewritten(statement) and not dead:
            if isinstance(statement, gast.If):
                return self._conditional(statement, within)
            return self._loop(statement, within)
        if isinstance(statement, _FUNCTIONS):
            inner = self._nested(statement)
            return [self._expressions.with_defaults(inner, within.generated)]
        if isinstance(statement, gast.ClassDef):
            body = [
                self._nested(inner) if isinstance(inner, _FUNCTIONS) else inner
                for inner in statement.body
            ]
            same = are_same(body, statement.body)
            return [statement if same else clone(statement, body=body)]
        if within.in_loop and isinstance(statement, (gast.Break, gast.Continue)):
            return [nodes.return_(None, statement)]
        if within.generated and isinstance(statement, _SCOPING):
            return []
        if isinstance(statement, gast.Assert):
            return [self._assertion(statement, within)]
        new = self._expressions.statement(statement, within.generated)
        if within.generated and isinstance(new, gast.AnnAssign):
            new = self._without_annotation(new, within)
        return [] if new is None else [self._with_children(new, statement, within)]

    def _assertion(self, statement: gast.Assert, within: _Body) -> Any:
        """``assert ag.holds(test, lambda: message)``.

        It stays an ``assert``: ``python -O`` leaves out all of it, and Python itself
        raises the error about its own values.
        """
        facts, expressions, generated = self._facts, self._expressions, within.generated
        message = statement.msg
        python = facts.uses_frame or facts.is_python_bool(statement.test)
        if python or (message is not None and expressions.is_fixed(message)):
            return expressions.statement(statement, generated)
        args = [expressions.expression(statement.test, generated)]
        if message is not None:
            is_text = isinstance(message, gast.Constant)
            args.append(message if is_text else expressions.thunk(message))
        test = expressions.operator("holds", args, statement.test)
        return clone(statement, test=test, msg=None)

    def _with_children(self, new: Any, old: Any, within: _Body) -> Any:
        old_blocks = blocks(old)
        if not old_blocks:
            return new
        if isinstance(old, (*LOOPS, gast.AsyncFor)):
            # What leaves a loop that stays is its own business.
            inner = copy(within)
            inner.in_loop = False
            new_blocks = [
                self._block(old.body, inner),
                self._block(old.orelse, within),
            ]
        else:
            new_blocks = [self._block(block, within) for block in old_blocks]
            if within.generated and self._sees_unbound(old, within):
                guard = self._expressions.operator_name("unbound_locals", old)
                new_blocks[0] = [nodes.with_(guard, new_blocks[0], old.body[0])]
        if are_same(new_blocks, old_blocks):
            return new
        return with_blocks(new, new_blocks)

    def _sees_unbound(self, statement: gast.AST, within: _Body) -> bool:
        """Whether a statement could see that a variable of its body is unbound."""
        if not isinstance(statement, _WATCHING):
            return False
        return self._variables.may_be_unbound(statement.body, within.shared)

    def _without_annotation(self, statement: Any, within: _Body) -> Any:
        """An annotated name cannot be nonlocal; its annotation is never evaluated."""
        target = statement.target
        if not isinstance(target, gast.Name) or target.id not in within.shared:
            return statement
        if statement.value is None:
            return nodes.located(gast.Pass(), statement)
        return nodes.located(gast.Assign([target], statement.value, None), statement)

    # Conditionals ------------------------------------------------------------------

    def _conditional(self, statement: gast.If, within: _Body) -> list[gast.AST]:
        chain = chain_of(statement, self._cases.is_fixed)
        observed = self._variables.observed(statement) | within.flags
        functions: list[gast.AST] = []
        tests = [
            [self._reference(part, functions) for part in test]
            for test in self._cases.tests(chain, observed, within.missing)
        ]
        choice = self._choice(statement, chain, within)
        branches: list[gast.AST | None] = []
        if choice is not None:
            branches.extend(map(self._expressions.branch, choice.values))
            observed -= {choice.target}
        else:
            for base, body in zip(chain.names, chain.bodies, strict=True):
                name = self._namer.fresh(base)
                function = self._function(name, body, observed, within, statement)
                branches.append(self._reference(function, functions))
        if not any(branches) and self._is_flag(statement.test):
            return []
        default = None
        if tests:
            *bodies, default = branches
            operator, args = self._cases.operator(chain), cases_of(tests, bodies)
        else:
            test = self._expressions.expression(statement.test, within.generated)
            operator, args = "cond", branches_of(test, branches)
        observed |= self._cases.bound_by_failed_guards(chain)
        state = self._variables.state(statement, observed)
        call = self._expressions.operator(
            operator, args, statement, default=default, state=state
        )
        if choice is not None and choice.target is not None:
            return [*functions, nodes.assign(choice.target, call, statement)]
        wrap = nodes.return_ if "return" in leaves(statement) else nodes.expression
        return [*functions, wrap(call, statement)]

    def _choice(self, statement: gast.If, chain: Chain, within: _Body) -> Choice | None:
        """For ``y = ag.cond(test, lambda: a, lambda: b)``, or the same with ``return``:
        the values, if choosing one is all that the statement does.
        """
        # A value that nobody reads later need not be there to be kept either.
        bound = self._facts.assigned_in(statement) & self._facts.live_out(statement)
        choice = choice_of(statement, chain, bound.__contains__)
        if choice is None or any(map(self._expressions.is_fixed, choice.values)):
            return None
        if choice.target is None:
            return None if within.in_loop else choice
        return None if self._cases.binds(chain, choice.target) else choice

    def _is_flag(self, test: gast.AST) -> bool:
        return isinstance(test, gast.Name) and test.id in self._flags

    def _reference(self, function: Any, functions: list[gast.AST]) -> Any:
        """What stands for a body in a call: a lambda itself, or a function's name."""
        if not isinstance(function, gast.FunctionDef):
            return function
        functions.append(function)
        self._helpers.add((function.name, function.lineno))
        return nodes.name(function.name, function)

    # Loops -------------------------------------------------------------------------

    def _loop(self, loop: Any, within: _Body) -> list[gast.AST]:
        flag = self._selection.until.get(loop)
        flags = within.flags | ({flag} if flag is not None else frozenset())
        observed = self._variables.observed(loop) | flags
        observed |= frozenset(self._facts.live_head(loop))
        is_for = isinstance(loop, gast.For)
        functions: list[gast.AST] = []
        if is_for:
            subject = self._expressions.expression(loop.iter, within.generated)
            parameter, unpack = self._item(loop.target, observed)
            operator = "for_loop"
        else:
            walrus = self._facts.writes(loop.test)
            observed |= frozenset(walrus)
            subject = self._test(loop.test, within, functions)
            parameter, unpack = None, []
            operator = "while_loop"
        name = self._namer.fresh(_body_name(loop))
        body = self._function(
            name, loop.body, observed, within, loop, parameter, unpack, flags
        )
        called = self._reference(body, functions)
        if called is None:
            parameters = () if parameter is None else (parameter,)
            called = nodes.lambda_(_none(loop), loop, *parameters)
        until = None if flag is None else nodes.lambda_(nodes.name(flag, loop), loop)
        state = self._variables.state(loop, observed)
        call = self._expressions.operator(
            operator, [subject, called], loop, until=until, state=state
        )
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
        self, test: gast.AST, within: _Body, functions: list[gast.AST]
    ) -> gast.AST:
        thunk = self._expressions.thunk(test)
        written = bound_names([thunk.body])
        if not written:
            return thunk
        name = self._namer.fresh("while_test")
        value = nodes.return_(thunk.body, test)
        body = [*self._variables.scoping(written, test), value]
        within.missing.update(written)
        return self._reference(nodes.function(name, body, test), functions)

    # Functions ---------------------------------------------------------------------

    def _function(
        self,
        name: str,
        statements: list[gast.AST],
        observed: frozenset[str],
        outer: _Body,
        at: gast.AST,
        parameter: str | None = None,
        unpack: Sequence[gast.AST] = (),
        flags: frozenset[str] | None = None,
    ) -> gast.AST | None:
        """A body as a function or lambda; None if it does nothing.

        ``flags``: those of a loop, and of the loops around it.
        """
        shared = observed
        if statements:
            read = frozenset(self._facts.live_in(statements[0]))
            shared |= read - bound_names(unpack)
        if parameter is not None and not unpack:
            shared -= {parameter}
        in_loop = flags is not None or outer.in_loop
        within = _Body(shared, True, in_loop, outer.flags if flags is None else flags)
        body = [*unpack, *self._block(statements, within)]
        while body and _is_empty(body[-1]):
            body.pop()
        if not body:
            return None
        parameters = () if parameter is None else (parameter,)
        bound, globals_ = bound_names(body), self._variables.globals
        outer_names = (shared | self._facts.scope.enclosing) - bound
        body = unhidden(body, outer_names & self._expressions.targets, self._namer)
        within.missing.difference_update(bound - shared)
        outside = within.missing & shared
        scoping = self._variables.scoping(bound & (shared | globals_), at)
        outer.missing.update(bound & shared, outside)
        body = self._variables.declared(body, within.missing - shared - globals_)
        if len(body) == 1 and not scoping:
            value = self._value_of(body[0], statements[0], flags is not None)
            if isinstance(value, gast.Constant) and flags is None:
                return value
            if value is not None and not self._expressions.is_fixed(value):
                return self._expressions.lambda_(value, *parameters)
        return nodes.function(name, [*scoping, *body], at, *parameters)

    def _value_of(self, new: Any, old: Any, is_loop: bool) -> gast.AST | None:
        """What a function gives that has one statement, if a lambda may give that.

        Nobody asks what the body of a loop gives; that of a branch has to be None.
        """
        if isinstance(new, gast.Return):
            return new.value or _none(new)
        if not isinstance(new, gast.Expr) or not isinstance(old, gast.Expr):
            return None
        if not isinstance(old.value, gast.Call):
            return None
        is_plain = is_loop or self._expressions.gives_none(old.value)
        return new.value if is_plain else None


def _body_name(loop: Any) -> str:
    """``each_row`` for the body of ``for row in rows``."""
    if isinstance(loop, gast.While):
        return "while_body"
    names = [name.strip("_") for name in bindings_in([loop.target])]
    return (
        "_".join(["each", *names])
        if 1 <= len(names) <= 3 and all(names)
        else "for_body"
    )


def _none(at: gast.AST) -> gast.Constant:
    return nodes.constant(None, at)


def _is_empty(statement: gast.AST) -> bool:
    """Whether a statement at the end of a function does nothing."""
    if isinstance(statement, gast.Return):
        return statement.value is None
    return isinstance(statement, gast.Pass)
