"""What a function reads, writes and leaves behind, at each of its nodes."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import gast

from ..interpreter import cached_property
from ..trees.visitors import blocks, statements_in, walk
from . import dataflow
from .cfg import Graph, Point, build
from .dataflow import ELSEWHERE, ReachingDefinitions
from .events import (
    DECIDED,
    DELETE,
    GLOBAL,
    LATER,
    MAYBE,
    READ,
    WRITE,
    YIELD,
    Event,
    Log,
)
from .scopes import NameSet, Scope, Target, targets_in

if TYPE_CHECKING:
    from typing_extensions import Self


class Tables:
    """What is read, written, live and assigned in one function, keyed by its nodes (by
    identity).

    Results that are sets of names are ordered as the program is. A node that is not
    part of the function's own scope, or that was made after the analysis, is a
    KeyError: ask `inner` for the facts of a nested function.
    """

    def __init__(
        self,
        log: Log,
        around: frozenset[str],
        shadowed: frozenset[str],
        inner: dict[Any, Any],
    ) -> None:
        self._log = log
        self._around = around
        self._shadowed = shadowed
        self._inner = inner
        inner[log.node] = self
        #: The function.
        self.node = log.node
        #: What was asked before: by load, by bits.
        self._definitions: dict[Any, tuple[Any, ...]] = {}
        self._name_sets: dict[int, NameSet] = {}

    @cached_property
    def scope(self) -> Scope:
        """Whose each name is."""
        return Scope(self._log, self._around)

    # --- names ----------------------------------------------------------------------

    def reads(self, node: Any) -> NameSet:
        """Names read within a node or a list of nodes, also by what is nested there.

        ``x += 1`` and ``del x`` read ``x``. Names of comprehensions are not included,
        nor are those of annotations of local variables, which Python never evaluates.
        """
        return NameSet(name for flags, name, _ in self._events(node) if flags & READ)

    def writes(self, node: Any) -> NameSet:
        """Names bound or unbound within a node or a list of nodes when it runs."""
        return NameSet(
            name
            for flags, name, _ in self._events(node)
            if flags & (WRITE | DELETE) and not flags & (LATER | GLOBAL)
        )

    def targets(self, node: Any) -> tuple[Target, ...]:
        """Attributes and items assigned, augmented or deleted within a node, and the
        containers that calls in it change.
        """
        scope = self.scope
        own = {*scope.bound, *scope.nonlocals, *scope.globals, *scope.enclosing}
        return targets_in(self._events(node), self._log.comprehension_names, own)

    def changes(self, node: Any) -> list[str]:
        """Attributes, items and containers that a node changes, as they are written,
        without those in its own temporaries.

        A container is left out if the node also assigns an attribute of this name. So
        the code of the bodies tells which places of ``state=`` are assigned.
        """
        written = frozenset(self.writes(node))
        rebound = written | self.scope.rebound_by_others
        found: dict[str, None] = {}
        for target in self.targets(node):
            if not target.opaque and written.isdisjoint(target.names):
                found[target.text] = None
            elif target.container and rebound.isdisjoint(target.names[:1]):
                _, is_attribute, name = target.container.rpartition(".")
                if not is_attribute or name not in _assigned_attributes(node):
                    found[target.container] = None
        return list(found)

    def has_yield(self, node: Any) -> bool:
        """Whether the function can be suspended within a node: ``yield``, ``await``,
        ``async for``, ``async with``, asynchronous comprehensions.
        """
        return any(event[0] & YIELD for event in self._events(node))

    @property
    def frame_reader(self) -> Any:
        """The first name by which the function looks at its variables: ``locals``,
        ``vars``, ``dir``, ``eval`` or ``exec``. They must stay where they are then.

        None if it does not.
        """
        readers = (node for node in self._log.frame_reads if self.is_builtin(node.id))
        return next(readers, None)

    @property
    def uses_frame(self) -> bool:
        """Whether the function looks at its own variables: see `frame_reader`."""
        return self.frame_reader is not None

    def is_builtin(self, name: str) -> bool:
        """Whether the name, where the function uses it, is Python's builtin."""
        return (
            name in self.scope.free
            and name not in self.scope.enclosing
            and name not in self._shadowed
            and hasattr(builtins, name)
        )

    @property
    def container_uses(self) -> list[Any]:
        """The nodes by which the function, or one within it, may change a container or
        give it away.
        """
        return self._log.container_uses[self._log.container_uses_of_scope]

    def inner(self, node: Any) -> Self:
        """The facts of a function, lambda or generator expression nested in this one,
        at any depth.
        """
        facts = self._inner.get(node)
        if facts is None:
            log = self._log.scopes.get(node)
            if log is None:
                raise KeyError(f"not a scope within this function: {_describe(node)}")
            facts = self.__class__(log, self._around, self._shadowed, self._inner)
        return facts

    def forget(self) -> None:
        """Let go of all that was found here and in the functions inside.

        It refers to itself in circles: whole trees would wait for the collector.
        """
        self._log.scopes.clear()
        for facts in list(self._inner.values()):
            attributes = vars(facts)
            if "cfg" in attributes:
                facts.cfg.break_circles()
            attributes.clear()

    # --- flow -----------------------------------------------------------------------

    @cached_property
    def cfg(self) -> Graph:
        """The control-flow graph."""
        return build(self.node, split=self._log.has_walrus)

    def live_in(self, stmt: Any) -> NameSet:
        """Names that may be read, at or after the start of a statement, before they
        are bound anew.
        """
        return self._join(self._live, [point.before for point in self._points(stmt)])

    def live_out(self, stmt: Any) -> NameSet:
        """Names that may still be read after a statement: where it ends, or for a jump
        where it leads.
        """
        return self._join(self._live, [point.after for point in self._points(stmt)])

    def live_head(self, loop: Any) -> NameSet:
        """Names live just before a loop's test, or before it takes its next item."""
        heads = self.cfg.heads.get(loop)
        if heads is None:
            raise KeyError(f"not a loop of this function: {_describe(loop)}")
        return self._join(self._live, heads)

    def live_at_handlers(self, stmt: Any) -> NameSet:
        """Names that may be read if an exception leaves a statement, by the handlers,
        ``finally`` blocks and ``with`` statements around it and after them.
        """
        targets = [point.exc for point in self._points(stmt) if point.exc is not None]
        return self._join(self._live, targets)

    def assigned_in(self, stmt: Any) -> NameSet:
        """Names that are bound whenever a statement starts. All of them, for a
        statement that is never reached.
        """
        doubtful = set(self.scope.rebound_by_others)
        for point in self._points(stmt):
            doubtful.update(self._reaching.unbound_at(point.before))
        return self.scope.bound - doubtful

    def reaching(self, name: Any) -> tuple[Any, ...]:
        """The definitions that a load of a name may see, in the order of the program.

        Each is the statement that binds the name (of an ``except``, the handler), a
        parameter's node, a ``:=``, the ``comprehension`` whose target the name is, or
        one of the markers `UNBOUND` and `ELSEWHERE` (another function binds the name,
        or may). A name that is never evaluated has none.
        """
        definitions = self._definitions.get(name)
        if definitions is None:
            definitions = self._definitions[name] = self._reaching_definitions(name)
        return definitions

    def _reaching_definitions(self, name: Any) -> tuple[Any, ...]:
        scope, hidden = self.scope, self._log.comprehension_names
        if name in hidden:
            return (hidden[name],)
        start, end = self._span(name)
        if start == end:
            return ()
        if name.id not in self._bits:
            return (ELSEWHERE,)
        if name.id in scope.params and name.id not in self._bound_again:
            return tuple(param for param in self._log.params if param.id == name.id)
        return self._reaching.of(name)

    def statements_around(self, node: Any) -> tuple[Any, ...]:
        """The compound statements around a statement, the innermost first.

        For a ``:=`` they begin with the statement that evaluates it.
        """
        if node.__class__ is gast.NamedExpr:
            node = self._reaching.holders[node]
            statements = [node]
        else:
            self._span(node)
            statements = []
        while (node := self._parents.get(node)) is not None:
            statements.append(node)
        return tuple(statements)

    def is_conditional(self, walrus: Any) -> bool:
        """Whether a ``:=`` may be left out when its statement is evaluated."""
        _, end = self._span(walrus)
        return bool(self._log.events[end - 1][0] & (MAYBE | DECIDED))

    @cached_property
    def assigned_attributes(self) -> frozenset[str]:
        """The names of attributes that the outermost function assigns anywhere."""
        return _assigned_attributes(next(iter(self._inner)))

    # --- inside ---------------------------------------------------------------------

    def _span(self, node: Any) -> tuple[int, int]:
        try:
            return self._log.spans[node]
        except KeyError:
            raise KeyError(
                f"not a node of this function's scope, or made after the analysis: "
                f"{_describe(node)}"
            ) from None

    def _events(self, node: Any) -> list[Event]:
        """The events of a node or list, without those on other variables that share
        the name of a local one (a nested function's ``global x``).
        """
        log = self._log
        if isinstance(node, (list, tuple)):
            events = [event for inner in node for event in self._events(inner)]
        else:
            if node is log.node:
                start, end = 0, len(log.events)
            else:
                start, end = self._span(node)
            events = log.events[start:end]
        if not self._kinds_of_events & GLOBAL:
            return events
        return [
            event
            for event in events
            if not event[0] & GLOBAL or event[1] not in log.bound
        ]

    @cached_property
    def _kinds_of_events(self) -> int:
        """The flags of all events together."""
        flags = 0
        for event in self._log.events:
            flags |= event[0]
        return flags

    def _points(self, stmt: Any) -> Sequence[Point]:
        points = self.cfg.points.get(stmt)
        if points is None:
            raise KeyError(f"not a statement of this function: {_describe(stmt)}")
        return points

    @cached_property
    def _bits(self) -> dict[str, int]:
        scope = self.scope
        own = (*scope.bound, *scope.nonlocals, *scope.globals)
        return {name: 1 << number for number, name in enumerate(own)}

    def _mask(self, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            mask |= self._bits[name]
        return mask

    @cached_property
    def _live(self) -> list[int]:
        scope = self.scope
        seen_by_others = (*scope.captured, *scope.nonlocals, *scope.globals)
        always = self._mask(scope.bound if self.uses_frame else seen_by_others)
        return dataflow.live(self._log, self.cfg, self._bits, always)

    @cached_property
    def _bound_again(self) -> frozenset[str]:
        events = self._log.events
        return frozenset(n for flags, n, _ in events if flags & (WRITE | DELETE))

    @cached_property
    def _reaching(self) -> ReachingDefinitions:
        return ReachingDefinitions(self._log, self.cfg, self.scope)

    @cached_property
    def _parents(self) -> dict[Any, Any]:
        body = self.node.body
        return {
            inner: stmt
            for stmt in statements_in(body if isinstance(body, list) else [])
            for block in blocks(stmt)
            for inner in block
        }

    def _join(self, table: list[int], nodes: Iterable[Any]) -> NameSet:
        bits = 0
        for node in nodes:
            bits |= table[node.index]
        return self._names(bits)

    def _names(self, bits: int) -> NameSet:
        names = self._name_sets.get(bits)
        if names is None:
            names = NameSet([name for name, bit in self._bits.items() if bits & bit])
            self._name_sets[bits] = names
        return names


def _assigned_attributes(node: Any) -> frozenset[str]:
    """The names of the attributes that are assigned or deleted within a node."""
    return frozenset(
        inner.attr
        for inner in walk(node)
        if inner.__class__ is gast.Attribute and inner.ctx.__class__ is not gast.Load
    )


def _describe(node: Any) -> str:
    line = getattr(node, "lineno", None)
    where = "" if line is None else f" at line {line}"
    return f"{node.__class__.__name__}{where}"
