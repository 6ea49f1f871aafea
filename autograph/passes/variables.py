"""Which variables the bodies of a statement share with the function around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from ..analysis import Facts
from ..interpreter import cached_property
from ..trees import nodes
from ..trees.visitors import blocks, child_nodes, walk
from .selection import LOOPS

_JUMPS = (gast.Break, gast.Continue)


class Variables:
    """Answers about the variables of one function."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        scope = facts.scope
        self.globals = frozenset(scope.globals)
        self._always = frozenset((*scope.captured, *scope.nonlocals)) | self.globals

    def observed(self, statement: gast.AST) -> frozenset[str]:
        """The variables whose values after the statement may be read."""
        facts = self._facts
        observed = {*facts.live_out(statement), *facts.live_at_handlers(statement)}
        for jump in _jumps_out(statement):
            observed.update(facts.live_out(jump))
        return self._always | observed

    def may_be_unbound(
        self, statements: list[gast.AST], shared: frozenset[str]
    ) -> bool:
        """Whether the statements may read one of the shared variables too early."""
        facts = self._facts
        for statement in statements:
            doubtful = shared & frozenset(facts.scope.bound)
            doubtful -= frozenset(facts.assigned_in(statement))
            inside = blocks(statement)
            parts = _header_of(statement) if inside else [statement]
            if doubtful and not doubtful.isdisjoint(facts.reads(parts)):
                return True
            if any(self.may_be_unbound(block, shared) for block in inside):
                return True
        return False

    def state(
        self, statement: gast.AST, observed: frozenset[str]
    ) -> gast.Constant | None:
        """The argument ``state='n, self.count'`` of a statement; None for no state."""
        written = frozenset(self._facts.writes(statement))
        names = self._in_order(written & observed)
        names += self._facts.changes(statement)
        if not names:
            return None
        return nodes.constant(", ".join(dict.fromkeys(names)), statement)

    def scoping(self, names: Iterable[str], at: gast.AST) -> list[gast.AST]:
        """``global a`` and ``nonlocal b`` for names that a body binds."""
        ordered = self._in_order(frozenset(names))
        globals_ = [name for name in ordered if name in self.globals]
        nonlocals = [name for name in ordered if name not in self.globals]
        out: list[gast.AST] = []
        if globals_:
            out.append(nodes.global_(globals_, at))
        if nonlocals:
            out.append(nodes.nonlocal_(nonlocals, at))
        return out

    def declared(self, body: list[gast.AST], names: Iterable[str]) -> list[gast.AST]:
        """The statements with declarations of variables that they bind in inner
        functions only, each before the first statement that mentions it.
        """
        wanted = frozenset(names)
        ordered = self._in_order(wanted)
        missing = [*ordered, *sorted(wanted.difference(ordered))]
        out: list[gast.AST] = []
        for statement in body:
            if missing:
                mentioned = _mentioned(statement)
                here = [name for name in missing if name in mentioned]
                out += [nodes.declaration(name, statement) for name in here]
                missing = [name for name in missing if name not in mentioned]
            out.append(statement)
        return out

    def _in_order(self, names: frozenset[str]) -> list[str]:
        """Names in the order in which the function binds them first."""
        if len(names) < 2:
            return list(names)
        return [name for name in self._mentions if name in names]

    @cached_property
    def _mentions(self) -> list[str]:
        scope = self._facts.scope
        own = (*scope.params, *scope.bound, *scope.nonlocals, *scope.globals)
        return list(dict.fromkeys((*own, *scope.free)))


def _header_of(statement: gast.AST) -> list[gast.AST]:
    """The expressions of a statement with blocks that are not in its blocks."""
    inside = {id(inner) for block in blocks(statement) for inner in block}
    parts: list[gast.AST] = []
    for child in child_nodes(statement):
        if isinstance(child, (gast.ExceptHandler, gast.match_case)):
            parts.extend(part for part in child_nodes(child) if id(part) not in inside)
        elif id(child) not in inside:
            parts.append(child)
    return parts


def _jumps_out(statement: Any, in_loop: bool = False) -> Iterator[gast.AST]:
    """The jumps within a statement that lead out of it."""
    if isinstance(statement, gast.Return) or (
        isinstance(statement, _JUMPS) and not in_loop
    ):
        yield statement
    is_loop = isinstance(statement, (*LOOPS, gast.AsyncFor))
    for block in blocks(statement):
        inside = in_loop or (is_loop and block is statement.body)
        for inner in block:
            yield from _jumps_out(inner, inside)


def lost_scoping(old: list[gast.AST], new: list[gast.AST]) -> list[gast.AST]:
    """The ``global`` and ``nonlocal`` statements of a function that its new body has
    no longer: they stood in blocks that became functions.
    """
    kept = {id(node) for node in _scoping_in(new)}
    return [node for node in _scoping_in(old) if id(node) not in kept]


def _scoping_in(statements: list[gast.AST]) -> Iterator[gast.AST]:
    for statement in statements:
        if isinstance(statement, (gast.Global, gast.Nonlocal)):
            yield statement
        for block in blocks(statement):
            yield from _scoping_in(block)


def _mentioned(statement: gast.AST) -> set[str]:
    """The names that a statement reads, binds or declares, also in inner functions."""
    found: set[str] = set()
    for node in walk(statement):
        if node.__class__ is gast.Name:
            found.add(node.id)
        elif node.__class__ is gast.Nonlocal:
            found.update(node.names)
    return found
