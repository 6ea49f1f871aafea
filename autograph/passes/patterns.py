"""``match`` as a chain of ``if``, where a tensor may decide which case is taken.

What a pattern says about the whole subject becomes an expression; one that looks into
the subject stays as it is and is kept in `Selection.patterns` under its test:

    match x:                            if x == 0 or x == 1:
        case 0 | 1:                         return "few"
            return "few"                elif <x matches Point(x=0, y=other)>:
        case Point(x=0, y=other):           return other
            return other                elif isinstance(x, int):
        case int(n):                        n = x
            return n                        return n
        case _:                         else:
            return "many"                   return "many"

A subject such as ``a, b`` is taken apart: ``case 0, _`` becomes ``a == 0``.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

import gast

from ..analysis import Facts
from ..trees import nodes
from ..trees.names import Namer
from ..trees.visitors import clone, walk
from .bindings import bindings_in, bound_names
from .expressions import IsBool
from .selection import Pattern, Selection
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
        self, facts: Facts, selection: Selection, namer: Namer, shadowed: frozenset[str]
    ) -> None:
        self.facts = facts
        self.selection = selection
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
    """The rewriting of one ``match``."""

    def __init__(self, statement: gast.Match, matching: Matching) -> None:
        self._matching = matching
        self._facts = matching.facts
        self._cases = statement.cases
        self._subject: Any = statement.subject
        parts = [self._subject]
        if any(_is_taken_apart(self._subject, case.pattern) for case in self._cases):
            parts = self._subject.elts
        self._plain = {id(part) for part in parts if self._facts.is_plain(part)}
        early = self._bound_early(statement)
        self._before: list[gast.AST] = []
        self._name_parts(parts, early, frozenset(self._facts.assigned_in(statement)))
        self._hoisted = frozenset(early)

    def statements(self) -> list[gast.AST]:
        """The whole of it."""
        rest: list[gast.AST] = []
        for case in reversed(self._cases):
            rest = self._case(case, rest)
        return [*self._before, *rest]

    def _case(self, case: Any, rest: list[gast.AST]) -> list[gast.AST]:
        guard, pattern, body = case.guard, case.pattern, case.body
        test = self._test(pattern, self._subject)
        captures = [
            nodes.assign(name, clone(part), pattern)
            for name, part in _captures(pattern, self._subject)
            if name not in self._hoisted
        ]
        binds = guard is not None and (captures or bound_names([guard]))
        if test is None or binds:
            test = self._structure(pattern, guard)
        else:
            body = [*captures, *body]
            if guard is not None:
                test = self._all([test, guard], pattern)
            elif test is _ALWAYS:
                return body
        return [self._matching.selection.mark(nodes.if_(test, body, rest, pattern))]

    # The subject -------------------------------------------------------------------

    def _name_parts(
        self, parts: list[Any], early: dict[str, Any], assigned: frozenset[str]
    ) -> None:
        """Give the parts of the subject names, so that tests can mention them again."""
        names: dict[int, str] = {}
        if not all(self._is_steady(part, assigned) for part in parts):
            names = {id(part): name for name, part in reversed(early.items())}
            base = "subject" if len(parts) == 1 else "subject_{}"
            for number, part in enumerate(parts, 1):
                if id(part) not in names:
                    fresh = self._matching.namer.fresh(base.format(number))
                    names[id(part)] = fresh
            self._assign([names[id(part)] for part in parts], self._subject)
            new = [nodes.name(names[id(part)], part) for part in parts]
            pairs = zip(parts, new, strict=True)
            self._plain |= {id(name) for part, name in pairs if id(part) in self._plain}
            apart = parts is not self._subject and len(new) > 1
            self._subject = clone(self._subject, elts=new) if apart else new[0]
            early = {n: p for n, p in early.items() if names[id(p)] != n}
        for name, part in early.items():
            value = nodes.name(names[id(part)], part) if id(part) in names else part
            self._assign([name], value)

    def _assign(self, names: list[str], value: gast.AST) -> None:
        target: Any = nodes.target(names[0], value)
        if len(names) > 1:
            targets = [nodes.target(name, value) for name in names]
            target = nodes.located(gast.Tuple(targets, gast.Store()), value)
        self._before.append(nodes.located(gast.Assign([target], value, None), value))

    def _is_steady(self, part: Any, assigned: frozenset[str]) -> bool:
        """Whether evaluating the part again gives the same until a case is taken."""
        if isinstance(part, gast.Constant):
            return True
        if not isinstance(part, gast.Name) or part.id in self._matching.shared:
            return False
        tests = [test for case in self._cases for test in (case.pattern, case.guard)]
        is_local = part.id in self._facts.scope.bound and part.id in assigned
        return is_local and part.id not in bound_names(filter(None, tests))

    # Patterns about the whole subject ----------------------------------------------

    def _test(self, pattern: Any, subject: Any) -> Any:
        """The pattern as an expression: `_ALWAYS` for one that matches all, None for
        one that looks into the subject.
        """
        if isinstance(pattern, gast.MatchAs):
            inner = pattern.pattern
            return _ALWAYS if inner is None else self._test(inner, subject)
        if _is_taken_apart(subject, pattern):
            pairs = zip(pattern.patterns, subject.elts, strict=True)
            return self._all([self._test(*pair) for pair in pairs], pattern)
        if isinstance(subject, gast.Tuple):
            return None
        if isinstance(pattern, gast.MatchValue):
            return _comparison(subject, gast.Eq(), pattern.value, pattern)
        if isinstance(pattern, gast.MatchSingleton):
            constant = nodes.constant(pattern.value, pattern)
            staged = pattern.value is not None and id(subject) not in self._plain
            operator = IsBool() if staged else gast.Is()
            return _comparison(subject, operator, constant, pattern)
        if isinstance(pattern, gast.MatchOr) and not bound_names([pattern]):
            tests = [self._test(part, subject) for part in pattern.patterns]
            if None in tests or _ALWAYS in tests:
                return None
            return nodes.located(gast.BoolOp(gast.Or(), tests), pattern)
        if isinstance(pattern, gast.MatchClass):
            return self._class_test(pattern, subject)
        return None

    def _class_test(self, pattern: Any, subject: Any) -> Any:
        """``isinstance(subject, int)``, for ``int()`` and ``int(n)``."""
        parts, name = pattern.patterns, getattr(pattern.cls, "id", "")
        is_builtin = self._matching.is_builtin
        if pattern.kwd_attrs or not is_builtin("isinstance"):
            return None
        if len(parts) > (name in _SELF_MATCHING and is_builtin(name)):
            return None
        function = nodes.name("isinstance", pattern)
        test = nodes.call(function, [clone(subject), pattern.cls], pattern)
        inner = [self._test(part, subject) for part in parts]
        return self._all([test, *inner], pattern)

    def _all(self, tests: list[Any], at: gast.AST) -> Any:
        if None in tests:
            return None
        tests = [test for test in tests if test is not _ALWAYS]
        if len(tests) < 2:
            return tests[0] if tests else _ALWAYS
        return nodes.located(gast.BoolOp(gast.And(), tests), at)

    # Patterns that look into the subject -------------------------------------------

    def _structure(self, pattern: Any, guard: gast.AST | None) -> gast.AST:
        """A test that stands for a pattern: it reads and binds the same names."""
        subject = self._subject
        what = nodes.attribute(_another(subject), "matches", subject)
        parts: list[gast.AST] = [nodes.call(what, _expressions_of(pattern), pattern)]
        for name in dict.fromkeys(bindings_in([pattern])):
            # Not the subject itself: nothing follows about the part from the whole.
            part = nodes.attribute(_another(subject), "part", subject)
            target = nodes.target(name, pattern)
            parts.append(nodes.located(gast.NamedExpr(target, part), pattern))
        if guard is not None:
            parts.append(guard)
        test = self._all(parts, pattern)
        selection = self._matching.selection
        selection.patterns[test] = Pattern(subject, pattern, guard)
        return test

    # Names -------------------------------------------------------------------------

    def _bound_early(self, statement: gast.Match) -> dict[str, Any]:
        """Names of parts of the subject, seen by guards, that can be bound before the
        first test without anybody noticing; and these parts.
        """
        observed = Variables(self._facts).observed(statement)
        found: dict[str, Any] = {}
        for position, case in enumerate(self._cases):
            if case.guard is None or bound_names([case.guard]):
                continue
            test = self._test(case.pattern, self._subject)
            always = not position and test is _ALWAYS
            others = [other for other in self._cases if other is not case]
            for name, part in _captures(case.pattern, self._subject):
                seen = name in observed or any(name in self._exposed(c) for c in others)
                if test is None or (seen and not always):
                    continue
                if self._is_only(name, part):
                    found[name] = part
        return found

    def _exposed(self, case: Any) -> frozenset[str]:
        """The names that a case may read of what was bound before it."""
        guard = [] if case.guard is None else [case.guard]
        read = frozenset(self._facts.reads([case.pattern, *guard, *case.body]))
        return read - bound_names([case.pattern])

    def _is_only(self, name: str, part: Any) -> bool:
        """Whether a name stands for the part wherever a test sees it."""
        if name in self._matching.shared or name in self._facts.reads(self._subject):
            return False
        for case in self._cases:
            captures = dict(_captures(case.pattern, self._subject))
            if self._test(case.pattern, self._subject) is None:
                captures = {}
            if name in bound_names([case.pattern]) and captures.get(name) is not part:
                return False
            if case.guard is not None and name in bound_names([case.guard]):
                return False
        return True


def _comparison(subject: Any, operator: gast.AST, value: Any, at: gast.AST) -> Any:
    return nodes.located(gast.Compare(clone(subject), [operator], [value]), at)


def _another(subject: Any) -> Any:
    """A copy of a subject, for one more place of the tree."""
    if isinstance(subject, gast.Tuple):
        return clone(subject, elts=list(map(clone, subject.elts)))
    return clone(subject)


def _is_taken_apart(subject: Any, pattern: Any) -> bool:
    """Whether subject and pattern are sequences, written out, of the same length."""
    if not (
        isinstance(subject, gast.Tuple) and isinstance(pattern, gast.MatchSequence)
    ):
        return False
    loose = (gast.Starred, gast.MatchStar)
    if any(isinstance(part, loose) for part in (*subject.elts, *pattern.patterns)):
        return False
    return len(subject.elts) == len(pattern.patterns) > 1


def _captures(pattern: Any, subject: Any) -> Iterator[tuple[str, Any]]:
    """The names that a pattern binds to the subject or, taken apart, to its parts; all
    that it binds, if it is an expression.
    """
    if isinstance(pattern, gast.MatchAs):
        if pattern.pattern is not None:
            yield from _captures(pattern.pattern, subject)
        if pattern.name is not None:
            yield pattern.name, subject
    elif _is_taken_apart(subject, pattern):
        for inner, part in zip(pattern.patterns, subject.elts, strict=True):
            yield from _captures(inner, part)
    elif isinstance(pattern, gast.MatchClass):
        for inner in pattern.patterns:
            yield from _captures(inner, subject)


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
