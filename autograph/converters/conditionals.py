"""The shapes of ``if``: a chain of branches, or the choice of a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..lang import nodes

#: Whether an expression cannot move to a function of its own.
Fixed = Callable[[gast.AST], bool]


class Chain:
    """``if tests[0]: bodies[0]  elif tests[1]: bodies[1] …  else: bodies[-1]``.

    ``orelses``: what is behind each test that fails.
    """

    def __init__(
        self,
        tests: list[gast.AST],
        bodies: list[list[gast.AST]],
        orelses: list[list[gast.AST]],
    ) -> None:
        self.tests = tests
        self.bodies = bodies
        self.orelses = orelses

    @property
    def names(self) -> list[str]:
        """Names for the functions that the bodies become."""
        count = len(self.tests)
        if count == 1:
            return ["if_true", "if_false"]
        return [*(f"if_{number}" for number in range(1, count + 1)), "otherwise"]


def chain_of(statement: gast.If, is_fixed: Fixed) -> Chain:
    """The branches of an ``if`` as far as they can be one operator."""
    tests, bodies = [statement.test], [statement.body]
    orelse = statement.orelse
    orelses = [orelse]
    movable = not is_fixed(statement.test)
    while movable and len(orelse) == 1 and isinstance(orelse[0], gast.If):
        (inner,) = orelse
        if is_fixed(inner.test):
            break
        tests.append(inner.test)
        bodies.append(inner.body)
        orelse = inner.orelse
        orelses.append(orelse)
    return Chain(tests, [*bodies, orelse], orelses)


class Choice:
    """An ``if`` that only chooses a value: for the variable `target`, or to return."""

    def __init__(self, target: str | None, values: list[gast.AST]) -> None:
        self.target = target
        self.values = values


def choice_of(
    statement: gast.If, chain: Chain, is_bound: Callable[[str], bool]
) -> Choice | None:
    """The values that a statement chooses from, if that is all it does.

    ``is_bound`` tells whether a variable surely has a value, before the statement,
    that is still wanted after it.
    """
    *bodies, otherwise = chain.bodies
    if len(otherwise) > 1 or any(len(body) != 1 for body in bodies):
        return None
    chosen: list[Any] = [body[0] for body in (*bodies, otherwise) if body]
    if all(isinstance(one, gast.Return) for one in chosen):
        values = [one.value or nodes.constant(None, statement) for one in chosen]
        return Choice(None, values) if otherwise else None
    target = _assigned_name(chosen[0])
    if target is None or any(_assigned_name(one) != target for one in chosen):
        return None
    values = [one.value for one in chosen]
    if not otherwise:
        if not is_bound(target):
            return None
        values.append(nodes.name(target, statement))
    return Choice(target, values)


def _assigned_name(statement: Any) -> str | None:
    """``x`` if the statement is ``x = value``."""
    if isinstance(statement, gast.Assign) and len(statement.targets) == 1:
        (target,) = statement.targets
        if isinstance(target, gast.Name):
            return str(target.id)
    return None


def branches_of(test: gast.AST, branches: list[gast.AST | None]) -> list[gast.AST]:
    """The arguments of ``cond`` for two branches; None is one that does nothing."""
    if branches[-1] is None:
        branches = branches[:-1]
    return [test, *(_or_none(branch, test) for branch in branches)]


def cases_of(
    tests: list[list[gast.AST]], bodies: list[gast.AST | None]
) -> list[gast.AST]:
    """The arguments ``(test, body)`` of ``case``, ``(test, guard, body)`` of ``match``:
    all functions.
    """
    cases: list[gast.AST] = []
    for (first, *guard), body in zip(tests, bodies, strict=True):
        parts = gast.Tuple([first, *guard, _or_none(body, first)], gast.Load())
        cases.append(nodes.located(parts, first))
    return cases


def _or_none(branch: gast.AST | None, at: gast.AST) -> gast.AST:
    return nodes.constant(None, at) if branch is None else branch
