"""The shapes of ``if``: a chain of branches, or the choice of a value.

The tests of a chain become functions, conditions and patterns:

    case [0, n] if n > y:       def case_1():
                                    nonlocal n
                                    match subject:
                                        case [0, n]:
                                            return True

                                ag.match((case_1, lambda: n > y, …), …)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gast

from ..analysis import Facts
from ..trees import nodes
from ..trees.names import Namer
from ..trees.visitors import clone, walk
from .bindings import bound_names
from .expressions import Expressions
from .selection import Pattern, Selection
from .variables import Variables

#: Whether an expression cannot move to a function of its own.
Fixed = Callable[[gast.AST], bool]


class Chain(NamedTuple):
    """``if tests[0]: bodies[0]  elif tests[1]: bodies[1] …  else: bodies[-1]``.

    ``orelses``: what is behind each test that fails.
    """

    tests: list[gast.AST]
    bodies: list[list[gast.AST]]
    orelses: list[list[gast.AST]]

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


class Choice(NamedTuple):
    """An ``if`` that only chooses a value: for the variable `target`, or to return."""

    target: str | None
    values: list[gast.AST]


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
    if getattr(branches[-1], "value", branches[-1]) is None:
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


class Cases:
    """The tests of the conditionals of one function."""

    def __init__(
        self,
        facts: Facts,
        selection: Selection,
        namer: Namer,
        expressions: Expressions,
        variables: Variables,
    ) -> None:
        self._facts = facts
        self._patterns = selection.patterns
        self._namer = namer
        self._expressions = expressions
        self._variables = variables

    def is_pattern(self, test: gast.AST) -> bool:
        """Whether the test stands for a pattern that looks into its subject."""
        return test in self._patterns

    def is_fixed(self, test: gast.AST) -> bool:
        """Whether the test cannot become a function of its own."""
        return not self.is_pattern(test) and self._expressions.is_fixed(test)

    def binds(self, chain: Chain, name: str) -> bool:
        """Whether a test of the chain binds the variable."""
        tests = [self._patterns.get(test, test) for test in chain.tests]
        patterns = [t.pattern for t in tests if isinstance(t, Pattern)]
        return name in bound_names([*chain.tests, *patterns])

    def operator(self, chain: Chain) -> str:
        """The operator for the chain."""
        return "match" if any(map(self.is_pattern, chain.tests)) else "case"

    def bound_by_failed_guards(self, chain: Chain) -> frozenset[str]:
        """The names that patterns bind and that are read although a guard failed."""
        found: frozenset[str] = frozenset()
        for test, orelse in zip(chain.tests, chain.orelses, strict=True):
            pattern = self._patterns.get(test)
            if pattern is not None and pattern.guard is not None and orelse:
                live = frozenset(self._facts.live_in(orelse[0]))
                found |= bound_names([pattern.pattern]) & live
        return found

    def tests(
        self, chain: Chain, observed: frozenset[str], missing: set[str]
    ) -> list[list[gast.AST]]:
        """Each test as a function, and perhaps its guard as another one.

        A chain of a single condition needs none: the list is empty. What the functions
        bind for others is added to ``missing``.
        """
        if len(chain.tests) == 1 and not self.is_pattern(chain.tests[0]):
            return []
        found: list[list[gast.AST]] = []
        for number, (test, body) in enumerate(zip(chain.tests, chain.bodies), 1):
            pattern = self._patterns.get(test)
            if pattern is None:
                found.append([self._expressions.thunk(test)])
                continue
            wanted = observed | frozenset(self._facts.live_in(body[0]))
            found.append(self._pattern(pattern, f"case_{number}", wanted, missing))
        return found

    def _pattern(
        self, found: Pattern, name: str, wanted: frozenset[str], missing: set[str]
    ) -> list[gast.AST]:
        """A pattern as a function, and the guard unless it is a part of it."""
        guards = [] if found.guard is None else [found.guard]
        thunks = list(map(self._expressions.thunk, guards))
        wanted |= frozenset(self._facts.reads(guards))
        # A part of the subject may have the name that the pattern binds to it.
        wanted |= {n.id for n in walk(found.subject) if isinstance(n, gast.Name)}
        at = found.pattern
        bound = bound_names([at])
        result: gast.AST = nodes.constant(True, at)
        if any(map(self._expressions.is_fixed, guards)):
            result = thunks.pop().body
            bound |= bound_names(guards)
        shared = bound & (wanted | self._variables.globals)
        subject = self._subject(found.subject)
        match = nodes.match_(subject, at, [nodes.return_(result, at)])
        body = [*self._variables.scoping(shared, at), match]
        missing.update(shared)
        return [nodes.function(self._namer.fresh(name), body, at), *thunks]

    def _subject(self, subject: Any) -> Any:
        """``ag.subject(x)``, so that a value that may be None is the one or the other;
        a value that surely is plain as it is.
        """
        if self._expressions.proves(self._facts.is_plain, subject):
            return subject
        if isinstance(subject, gast.Tuple):
            return clone(subject, elts=list(map(self._subject, subject.elts)))
        return self._expressions.operator("subject", [subject], subject)
