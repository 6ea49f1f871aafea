"""Which statements a tensor could decide, so that they are rewritten.

Everything else stands verbatim: a statement whose test is provably a Python value, one
that contains ``yield`` or ``await``, one that jumps in a function that is a generator
or jumps out of a ``finally``, and all of a function that looks at its own frame
(``locals()``, ``exec``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import gast

from ..analysis import Facts
from ..trees.visitors import blocks, remembered, walk

LOOPS = (gast.For, gast.While)
_EXITS = {gast.Return: "return", gast.Break: "break", gast.Continue: "continue"}
_NONE: frozenset[str] = frozenset()
#: Patterns that look into what they are matched against.
_STRUCTURES = (gast.MatchSequence, gast.MatchMapping, gast.MatchClass)


class Pattern(NamedTuple):
    """``match subject: case pattern if guard``."""

    subject: Any
    pattern: Any
    guard: Any | None


class Stays(NamedTuple):
    """A statement that a tensor could decide, and that is left unconverted.

    All of a function does that looks at its own frame; the node is then the name of
    the builtin by which it does.
    """

    node: Any
    why: str
    instead: str


class Selection:
    """Which statements of one function are rewritten.

    `until` maps a staged loop to the flag that tells that it was left, `patterns` the
    test of an ``if`` to the pattern that it stands for; `staying` are the statements
    that a tensor could decide and that are not rewritten, the outermost ones only.
    """

    def __init__(self, body: list[gast.AST], facts: Facts) -> None:
        self._facts = facts
        self._rewritten: set[gast.AST] = set()
        self._suspends = facts.has_yield(body)
        # A generator's return ends it; a jump in `finally` discards the exception.
        self._jumps_stay = self._suspends or any(map(leaves_in_finally, body))
        self.until: dict[gast.AST, str] = {}
        self.patterns: dict[gast.AST, Pattern] = {}
        self.staying: list[Stays] = []
        if facts.uses_frame:
            self.staying += frame_reading(facts)
            return
        for statement in body:
            self._decide(statement)
        for statement in body:
            self._include_returning_loops(statement, inside=False)

    def is_rewritten(self, statement: gast.AST) -> bool:
        """Whether the statement is rewritten."""
        return statement in self._rewritten

    def mark(self, statement: gast.AST) -> gast.AST:
        """Have a statement rewritten; returns it."""
        self._rewritten.add(statement)
        return statement

    def mark_loop(self, loop: gast.AST) -> None:
        """Have a loop rewritten, and the loops that return from within it."""
        self.mark(loop)
        self._include_returning_loops(loop, inside=False)

    def moved(self, old: gast.AST, new: gast.AST) -> gast.AST:
        """Let ``new`` stand for ``old`` from now on; returns it."""
        if old in self._rewritten:
            self.mark(new)
        return new

    @property
    def rearranges(self) -> bool:
        """Whether a staged statement cannot stay where it is: see `exits`."""
        return any(map(_is_rearranged, self._rewritten))

    def exits(self, statement: gast.AST) -> frozenset[str]:
        """How control may leave a statement where a tensor may decide it."""
        if isinstance(statement, LOOPS):
            if self.is_rewritten(statement):
                inside = leaves(statement.body) & {"return"}
                return inside | leaves(statement.orelse)
            inside = self._exits_of(statement.body) & {"return"}
            return inside | self._exits_of(statement.orelse)
        if self.is_rewritten(statement):
            return leaves(statement)
        return frozenset().union(*map(self._exits_of, blocks(statement)))

    def _exits_of(self, block: list[gast.AST]) -> frozenset[str]:
        return frozenset().union(*map(self.exits, block))

    def _decide(self, statement: gast.AST) -> None:
        """Mark the statement and those inside it, innermost first."""
        staying = len(self.staying)
        for block in blocks(statement):
            for inner in block:
                self._decide(inner)
        if not isinstance(statement, (gast.If, gast.Match, *LOOPS)):
            return
        if self._a_tensor_may_decide(statement):
            stays = self._stays(statement)
            if stays is None:
                self.mark(statement)
            else:
                self.staying[staying:] = [stays]

    def _stays(self, statement: Any) -> Stays | None:
        """Why a statement that a tensor may decide is not rewritten, or None."""
        if self._suspends and self._facts.has_yield(statement):
            waits = any(isinstance(node, _WAITING) for node in walk(statement))
            word, instead = _AWAIT if waits else _YIELD
            return Stays(statement, f"the statement has {word} in it", instead)
        if not self._jumps_stay or not leaves(statement):
            return None
        return Stays(statement, *(_ENDS_GENERATOR if self._suspends else _OVERRULES))

    def _a_tensor_may_decide(self, statement: Any) -> bool:
        if isinstance(statement, gast.Match):
            return self._a_tensor_may_match(statement)
        if isinstance(statement, gast.For):
            python = self._facts.is_python_iterable(statement.iter)
        else:
            python = self._facts.is_python_bool(statement.test)
        if not python:
            return True
        if isinstance(statement, gast.If):
            return False
        return bool(self._exits_of(statement.body) or self._exits_of(statement.orelse))

    def _a_tensor_may_match(self, statement: Any) -> bool:
        facts, subject = self._facts, statement.subject
        python = facts.is_plain(subject)
        may_be_none = not (python or self._is_surely_there(subject))
        for case in statement.cases:
            nodes = list(walk(case.pattern))
            if may_be_none and any(isinstance(node, _STRUCTURES) for node in nodes):
                return True
            inside = sum(isinstance(node, gast.MatchSingleton) for node in nodes)
            if not python and inside > len([*_singletons(case.pattern, subject)]):
                return True
            if case.guard is not None and not facts.is_python_bool(case.guard):
                return True
            if not python and any(map(_asks_for_class, nodes)):
                return True
            for node in nodes:
                if isinstance(node, gast.MatchValue):
                    if not (python and facts.is_plain(node.value)):
                        return True
            for value, part in _singletons(case.pattern, subject):
                asked = facts.is_python_none_test if value is None else facts.is_plain
                if not asked(part):
                    return True
        return False

    def _is_surely_there(self, subject: gast.AST) -> bool:
        """Whether a subject is taken never to be None by a tensor's choice.

        Any expression but a conditional one is; a variable is if it is an unchanged
        parameter, or provably so.
        """
        if not isinstance(subject, gast.Name):
            return not isinstance(subject, (gast.IfExp, gast.BoolOp))
        found = self._facts.reaching(subject)
        if all(isinstance(definition, gast.Name) for definition in found):
            return True
        return self._facts.is_never_staged_none(subject)

    def _include_returning_loops(self, statement: gast.AST, inside: bool) -> None:
        """A loop that returns from within a staged loop is staged with it."""
        if isinstance(statement, LOOPS):
            if inside and "return" in leaves(statement.body):
                self.mark(statement)
            inside = inside or self.is_rewritten(statement)
        for block in blocks(statement):
            for inner in block:
                self._include_returning_loops(inner, inside)


_WAITING = (gast.Await, gast.AsyncFor, gast.AsyncWith)
_AWAIT = "an `await`", "await before or after it"
_YIELD = "a `yield`", "make a list in a loop and return it"
_ENDS_GENERATOR = (
    "the statement jumps, in a function that has `yield` or `await`",
    "decide in a function that has none, and returns a list",
)
_OVERRULES = (
    "the function leaves a `finally` by a jump, which discards exceptions",
    "jump after the `finally`",
)


def frame_reading(facts: Facts) -> list[Stays]:
    """Why nothing in a function is rewritten, if it looks at its own variables."""
    name = facts.frame_reader
    if name is None:
        return []
    why = (
        f"`{name.id}` sees the variables of the function, which must stay where they "
        "are: nothing in it is rewritten"
    )
    return [
        Stays(name, why, "name the variables instead, or decide in another function")
    ]


def _is_rearranged(statement: Any) -> bool:
    if isinstance(statement, LOOPS):
        return bool(statement.orelse or leaves(statement.body))
    return isinstance(statement, gast.Match) or bool(leaves(statement))


def _asks_for_class(pattern: Any) -> bool:
    """Whether a pattern is a mere test of a class that may be one of containers."""
    if not isinstance(pattern, gast.MatchClass):
        return False
    return not pattern.patterns and not pattern.kwd_attrs


def _singletons(pattern: Any, subject: Any) -> Iterator[tuple[bool | None, gast.AST]]:
    """The patterns ``None``, ``True`` and ``False``, each with the subject or the part
    of it, written out, that it is about.
    """
    if isinstance(pattern, gast.MatchSingleton):
        yield pattern.value, subject
    elif isinstance(pattern, gast.MatchAs):
        if pattern.pattern is not None:
            yield from _singletons(pattern.pattern, subject)
    elif isinstance(pattern, gast.MatchOr):
        for part in pattern.patterns:
            yield from _singletons(part, subject)
    elif isinstance(pattern, gast.MatchSequence) and isinstance(subject, gast.Tuple):
        if len(pattern.patterns) == len(subject.elts):
            for part, element in zip(pattern.patterns, subject.elts, strict=True):
                yield from _singletons(part, element)


# --- blocks, and how control leaves them --------------------------------------------


def leaves(part: gast.AST | Sequence[gast.AST]) -> frozenset[str]:
    """How control may leave: "return", "break", "continue", as far as it leads out.

    Dead code behind a statement that leaves has no say.
    """
    if not isinstance(part, list):
        return _leaves(part)
    ends = (number for number, s in enumerate(part, 1) if type(s) in _EXITS)
    return frozenset().union(*map(_leaves, part[: next(ends, None)]))


@remembered
def _leaves(statement: Any) -> frozenset[str]:
    kind = _EXITS.get(type(statement))
    if kind is not None:
        return frozenset((kind,))
    if isinstance(statement, (*LOOPS, gast.AsyncFor)):
        return (leaves(statement.body) & {"return"}) | leaves(statement.orelse)
    inside = blocks(statement)
    return frozenset().union(*map(leaves, inside)) if inside else _NONE


def leaves_in_finally(statement: gast.AST) -> bool:
    """Whether control may leave a ``finally`` clause within the statement by a jump."""
    if isinstance(statement, (gast.Try, gast.TryStar)) and leaves(statement.finalbody):
        return True
    return any(leaves_in_finally(s) for block in blocks(statement) for s in block)
