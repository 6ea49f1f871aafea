"""``match`` as a chain of ``if``, where a tensor may decide which case is taken.

What a pattern says about the whole subject becomes an expression; one that looks into
the subject stays as it is and is kept in `Staging.patterns` under its test:

    match x:                            if x == 0 or x == 1:
        case 0 | 1:                         return "few"
            return "few"                elif <x matches Point(x=0, y=other)>:
        case Point(x=0, y=other):           return other
            return other                elif isinstance(x, int):
        case int(n):                        n = x
            return n                        return n
        case _:                         else:
            return "many"                   return "many"
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

import gast

from ..analysis import Facts
from ..lang import nodes
from ..lang.names import Namer
from ..lang.visitors import clone, walk
from .bindings import bound_names
from .staging import Pattern, Staging
from .variables import Variables

#: Builtin classes whose positional pattern is matched by the object itself.
_SELF_MATCHING = frozenset(
    {"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set"}
    | {"str", "tuple"}
)
#: The test of a pattern that matches everything.
_ALWAYS = gast.Pass()


class Matching:
    """The rewriting of the ``match`` statements of one function.

    ``shadowed``: names of builtins that the module defines anew.
    """

    def __init__(
        self, facts: Facts, staging: Staging, namer: Namer, shadowed: frozenset[str]
    ) -> None:
        self.facts = facts
        self.staging = staging
        self.namer = namer
        scope = facts.scope
        own = {*scope.bound, *scope.nonlocals, *scope.globals, *scope.enclosing}
        self._hidden = own | shadowed
        #: Names that other functions may bind at any time.
        self.shared = frozenset(
            (*scope.rebound_by_others, *scope.nonlocals, *scope.globals)
        )

    def chain(self, statement: gast.Match) -> list[gast.AST]:
        """The statements that do what a ``match`` does; the last one is an ``if``."""
        return _Chain(statement, self).statements()

    def is_builtin(self, name: str) -> bool:
        """Whether a name, outside of comprehensions, is Python's builtin."""
        return name not in self._hidden and hasattr(builtins, name)


class _Chain:
    """The rewriting of one ``match``.

    ``hoisted``: names of the subject that are bound before the first test.
    """

    def __init__(self, statement: gast.Match, matching: Matching) -> None:
        self._matching = matching
        self._facts = matching.facts
        self._cases = statement.cases
        self._subject = statement.subject
        self._before: list[gast.AST] = []
        self._hoisted = self._bound_early(statement)
        if not self._is_steady(statement.subject):
            name = next(iter(self._hoisted), None) or matching.namer.fresh("subject")
            self._bind(name, statement.subject)
            self._subject = nodes.name(name, statement.subject)
        for name in self._hoisted:
            if name != getattr(self._subject, "id", None):
                self._bind(name, self._subject)

    def statements(self) -> list[gast.AST]:
        """The whole of it."""
        rest: list[gast.AST] = []
        for case in reversed(self._cases):
            rest = self._case(case, rest)
        return [*self._before, *rest]

    def _bind(self, name: str, value: gast.AST) -> None:
        self._before.append(nodes.assign(name, value, value))

    def _case(self, case: Any, rest: list[gast.AST]) -> list[gast.AST]:
        guard, pattern = case.guard, case.pattern
        names = [name for name in self._names(pattern) if name not in self._hoisted]
        test = self._test(pattern)
        if guard is not None:
            if test is None or names or _is_fixed(guard):
                test = self._structure(pattern, guard)
                names = []
            elif test is _ALWAYS:
                test = guard
            else:
                test = nodes.located(gast.BoolOp(gast.And(), [test, guard]), pattern)
        elif test is _ALWAYS:
            return [*self._bindings(names, pattern), *case.body]
        elif test is None:
            test = self._structure(pattern, None)
            names = []
        body = [*self._bindings(names, pattern), *case.body]
        return [self._matching.staging.mark(nodes.if_(test, body, rest, pattern))]

    def _bindings(self, names: Iterable[str], at: gast.AST) -> list[gast.AST]:
        return [nodes.assign(name, self._subject_at(), at) for name in names]

    def _subject_at(self) -> Any:
        return clone(self._subject)

    # Patterns about the whole subject ----------------------------------------------

    def _test(self, pattern: Any) -> Any:
        """The pattern as an expression: `_ALWAYS` for one that matches all, None for
        one that looks into the subject.
        """
        if isinstance(pattern, gast.MatchAs):
            return _ALWAYS if pattern.pattern is None else self._test(pattern.pattern)
        if isinstance(pattern, gast.MatchValue):
            return self._comparison(gast.Eq(), pattern.value, pattern)
        if isinstance(pattern, gast.MatchSingleton):
            constant = nodes.constant(pattern.value, pattern)
            return self._comparison(gast.Is(), constant, pattern)
        if isinstance(pattern, gast.MatchOr) and not bound_names([pattern]):
            tests = [self._test(part) for part in pattern.patterns]
            if None in tests or _ALWAYS in tests:
                return None
            return nodes.located(gast.BoolOp(gast.Or(), tests), pattern)
        if isinstance(pattern, gast.MatchClass):
            return self._class_test(pattern)
        return None

    def _comparison(self, operator: gast.AST, value: gast.AST, at: gast.AST) -> Any:
        compared = gast.Compare(self._subject_at(), [operator], [value])
        return nodes.located(compared, at)

    def _class_test(self, pattern: Any) -> Any:
        """``isinstance(subject, int)``, for ``int()`` and ``int(n)``."""
        cls, parts = pattern.cls, pattern.patterns
        name = getattr(cls, "id", "")
        is_class = isinstance(getattr(builtins, name, None), type)
        if not (is_class and all(map(self._matching.is_builtin, (name, "isinstance")))):
            return None
        if pattern.kwd_attrs or len(parts) > (name in _SELF_MATCHING):
            return None
        function = nodes.name("isinstance", pattern)
        test = nodes.call(function, [self._subject_at(), cls], pattern)
        if not parts:
            return test
        inner = self._test(parts[0])
        if inner is None or inner is _ALWAYS:
            return inner and test
        return nodes.located(gast.BoolOp(gast.And(), [test, inner]), pattern)

    # Patterns that look into the subject -------------------------------------------

    def _structure(self, pattern: Any, guard: gast.AST | None) -> gast.AST:
        """A test that stands for a pattern: it reads and binds the same names."""
        found = Pattern(self._subject, pattern, guard)
        subject = self._subject
        what = nodes.attribute(self._subject_at(), "matches", subject)
        parts: list[gast.AST] = [nodes.call(what, _expressions_of(pattern), pattern)]
        for name in dict.fromkeys(_names_in(pattern)):
            # Not the subject itself: nothing follows about the part from the whole.
            part = nodes.attribute(self._subject_at(), "part", subject)
            target = nodes.target(name, pattern)
            parts.append(nodes.located(gast.NamedExpr(target, part), pattern))
        if guard is not None:
            parts.append(guard)
        if len(parts) == 1:
            (test,) = parts
        else:
            test = nodes.located(gast.BoolOp(gast.And(), parts), pattern)
        self._matching.staging.patterns[id(test)] = found
        self._matching.staging.keep(test)
        return test

    # Names -------------------------------------------------------------------------

    def _is_steady(self, subject: Any) -> bool:
        """Whether evaluating the subject again gives the same until a case is taken."""
        if isinstance(subject, gast.Constant):
            return True
        if not isinstance(subject, gast.Name) or subject.id in self._matching.shared:
            return False
        tests = [part for case in self._cases for part in (case.pattern, case.guard)]
        is_local = subject.id in self._facts.scope.bound
        return is_local and subject.id not in bound_names(filter(None, tests))

    def _bound_early(self, statement: gast.Match) -> list[str]:
        """Names of the whole subject, seen by guards, that can be bound before the
        first test without anybody noticing.
        """
        observed = Variables(self._facts, ()).observed(statement)
        found: list[str] = []
        for position, case in enumerate(self._cases):
            if case.guard is None or _is_fixed(case.guard):
                continue
            always = not position and _is_capture(case.pattern)
            others = [other for other in self._cases if other is not case]
            for name in self._names(case.pattern):
                seen = name in observed or any(name in self._exposed(c) for c in others)
                if (always or not seen) and self._is_only_the_subject(name, statement):
                    found.append(name)
        return list(dict.fromkeys(found))

    def _exposed(self, case: Any) -> frozenset[str]:
        """The names that a case may read of what was bound before it."""
        parts = [part for part in (case.guard, *case.body) if part is not None]
        read = frozenset(self._facts.reads([case.pattern, *parts]))
        return read - frozenset(_names_in(case.pattern))

    def _is_only_the_subject(self, name: str, statement: gast.Match) -> bool:
        """Whether a name stands for the subject wherever a test sees it."""
        if name in self._matching.shared or name in self._facts.reads(self._subject):
            return False
        for case in statement.cases:
            elsewhere = frozenset(_names_in(case.pattern))
            elsewhere -= frozenset(self._names(case.pattern))
            if case.guard is not None:
                elsewhere |= bound_names([case.guard])
            if name in elsewhere:
                return False
        return True

    def _names(self, pattern: Any) -> list[str]:
        """The names that a pattern binds to the subject, if it does nothing else."""
        names: list[str] = []
        while self._test(pattern) is not None:
            if isinstance(pattern, gast.MatchClass) and pattern.patterns:
                (pattern,) = pattern.patterns
                continue
            if not isinstance(pattern, gast.MatchAs):
                return names
            if pattern.name is not None:
                names.append(pattern.name)
            if pattern.pattern is None:
                return names
            pattern = pattern.pattern
        return []


def _is_fixed(guard: gast.AST) -> bool:
    return any(isinstance(node, gast.NamedExpr) for node in walk(guard))


def _is_capture(pattern: Any) -> bool:
    return isinstance(pattern, gast.MatchAs) and pattern.pattern is None


def _names_in(pattern: gast.AST) -> Iterable[str]:
    """The names that a pattern binds, in order."""
    for node in walk(pattern):
        if isinstance(node, (gast.MatchAs, gast.MatchStar)):
            if node.name is not None:
                yield node.name
        elif isinstance(node, gast.MatchMapping) and node.rest is not None:
            yield node.rest


def _expressions_of(pattern: gast.AST) -> list[gast.AST]:
    """What a pattern evaluates: values, keys and classes."""
    found: list[gast.AST] = []
    for node in walk(pattern):
        if isinstance(node, gast.MatchValue):
            found.append(node.value)
        elif isinstance(node, gast.MatchClass):
            found.append(node.cls)
        elif isinstance(node, gast.MatchMapping):
            found.extend(node.keys)
    return found
