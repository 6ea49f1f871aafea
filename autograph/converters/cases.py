"""The tests of a chain of branches as functions: conditions and patterns.

case [0, n] if n > y:       def case_1():
                                nonlocal n
                                match subject:
                                    case [0, n]:
                                        return True

                            ag.match((case_1, lambda: n > y, …), …)
"""

from __future__ import annotations

from typing import Any

import gast

from ..analysis import Facts
from ..lang import nodes
from ..lang.names import Namer
from ..lang.visitors import clone, walk
from .bindings import bound_names
from .conditionals import Chain
from .expressions import Expressions
from .staging import Pattern, Staging
from .variables import Variables


class Cases:
    """The tests of the conditionals of one function."""

    def __init__(
        self,
        facts: Facts,
        staging: Staging,
        namer: Namer,
        expressions: Expressions,
        variables: Variables,
    ) -> None:
        self._facts = facts
        self._patterns = staging.patterns
        self._namer = namer
        self._expressions = expressions
        self._variables = variables

    def is_pattern(self, test: gast.AST) -> bool:
        """Whether the test stands for a pattern that looks into its subject."""
        return id(test) in self._patterns

    def is_fixed(self, test: gast.AST) -> bool:
        """Whether the test cannot become a function of its own."""
        return not self.is_pattern(test) and self._expressions.is_fixed(test)

    def binds(self, chain: Chain, name: str) -> bool:
        """Whether a test of the chain binds the variable."""
        tests = [self._patterns.get(id(test), test) for test in chain.tests]
        patterns = [t.pattern for t in tests if isinstance(t, Pattern)]
        return name in bound_names([*chain.tests, *patterns])

    def operator(self, chain: Chain) -> str:
        """The operator for the chain."""
        return "match" if any(map(self.is_pattern, chain.tests)) else "case"

    def kept(self, chain: Chain) -> frozenset[str]:
        """What patterns bind and is read later although their guard failed."""
        found: frozenset[str] = frozenset()
        for test, orelse in zip(chain.tests, chain.orelses, strict=True):
            pattern = self._patterns.get(id(test))
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
            pattern = self._patterns.get(id(test))
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
        try:
            if self._facts.is_plain(subject):
                return subject
        except KeyError:  # made by the passes before
            pass
        if isinstance(subject, gast.Tuple):
            return clone(subject, elts=list(map(self._subject, subject.elts)))
        return self._expressions.operator("subject", [subject], subject)
