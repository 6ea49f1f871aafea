"""Reaching definitions: which bindings a load of a name may see.

What a jump takes out of a loop comes to the loop's head, too: a staged loop carries the
variables of all its ways out, in tensors, although it does not go on after a jump.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.analysis.blocks import blocks_of, statements_in
from autograph.analysis.cfg import Graph, Node
from autograph.analysis.dataflow import Transfer, solve
from autograph.analysis.events import (
    CAPTURED,
    DELETE,
    GLOBAL,
    LATER,
    MAYBE,
    READ,
    WALRUS,
    WRITE,
    Event,
    Log,
)
from autograph.analysis.flow import half_done, node_events
from autograph.analysis.scopes import Scope

__all__ = ["ELSEWHERE", "UNBOUND", "Marker", "ReachingDefinitions"]


class Marker:
    """A definition that is no node of the function."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


#: The name may have no value: it was never bound, or was unbound.
UNBOUND = Marker("UNBOUND")
#: The value may come from somewhere else: another function binds the name, or may.
ELSEWHERE = Marker("ELSEWHERE")


class ReachingDefinitions:
    """The definitions that reach each node of a graph; one bit for each definition."""

    def __init__(self, log: Log, graph: Graph, scope: Scope) -> None:
        self._log = log
        self._graph = graph
        #: What each bit stands for.
        self._definitions: list[Any] = []
        #: The bit of each write or unbinding, by the name and the syntax node of it.
        self._bits: dict[tuple[str, Any], int] = {}
        #: All bits of each name.
        self._masks: dict[str, int] = {}
        #: The nodes that evaluate each load.
        self._loads: dict[Any, list[Node]] = {}
        #: The statement that evaluates each `:=` (no handler: its type has no block).
        self.holders: dict[Any, Any] = {}
        self._shared = {*scope.nonlocals, *scope.globals, *scope.rebound_by_others}
        start = 0
        params = {param.id: param for param in log.params}
        for name in (*scope.bound, *scope.nonlocals, *scope.globals):
            first = params.get(name, UNBOUND if name in scope.bound else ELSEWHERE)
            start |= self._define(name, None, first)
        for node in graph.nodes:
            self._define_in(node)
        self._before = self._solve(start)

    def of(self, name_node: Any) -> tuple[Any, ...]:
        """The definitions that a load may see, in the order of the program.

        None, for what is no load or is never reached.
        """
        name, found = name_node.id, 0
        for node in self._loads.get(name_node, ()):
            here = self._before[node.index]
            for event in node_events(self._log, node):
                if event[2] is name_node and event[0] & READ:
                    break
                here = self._after(event, here)
            found |= here
        found &= self._masks[name]
        if not found:
            return ()
        definitions = dict.fromkeys(
            definition
            for number, definition in enumerate(self._definitions)
            if found >> number & 1
        )
        if name in self._shared:
            definitions[ELSEWHERE] = None
        return tuple(definitions)

    def _define(self, name: str, at: Any, definition: Any) -> int:
        bit = self._bits.get((name, at))
        if bit is None:
            bit = 1 << len(self._definitions)
            self._definitions.append(definition)
            self._bits[name, at] = bit
            self._masks[name] = self._masks.get(name, 0) | bit
        return bit

    def _define_in(self, node: Node) -> None:
        for flags, name, at in node_events(self._log, node):
            if name not in self._masks or flags & (LATER | GLOBAL):
                continue
            if flags & READ and not flags & CAPTURED:
                nodes = self._loads.setdefault(at, [])
                if not nodes or nodes[-1] is not node:
                    nodes.append(node)
            if flags & WALRUS:
                self.holders[at] = node.stmt
                self._define(name, at, at)
            elif flags & WRITE:
                self._define(name, at, node.stmt)
            elif flags & DELETE:
                self._define(name, (at, DELETE), UNBOUND)

    def _after(self, event: Event, here: int) -> int:
        flags, name, at = event
        if flags & (LATER | GLOBAL) or name not in self._masks:
            return here
        if flags & WRITE:
            bit = self._bits[name, at]
        elif flags & DELETE:
            bit = self._bits[name, (at, DELETE)]
        else:
            return here
        return here | bit if flags & MAYBE else here & ~self._masks[name] | bit

    def _solve(self, start: int) -> list[int]:
        everything = (1 << len(self._definitions)) - 1
        gens, kills, raise_gens = [], [], []
        for node in self._graph.nodes:
            gen, keep, ever = 0, everything, 0
            events = node_events(self._log, node)
            for event in events:
                gen, keep = self._after(event, gen), self._after(event, keep)
            for event in half_done(events):
                ever |= self._after(event, 0)
            gens.append(gen)
            kills.append(everything & ~keep)
            raise_gens.append(ever)
        transfer = Transfer(gens, kills, raise_gens, [0] * len(gens))
        return solve(
            self._graph,
            transfer,
            forward=True,
            must=False,
            start=start,
            top=0,
            also=_ways_back(self._graph),
        )


def _ways_back(graph: Graph) -> list[tuple[Node, Node]]:
    """From each ``break`` and ``return`` in a loop to the head of the loop."""
    loops: dict[Any, list[Any]] = {}
    for loop in graph.heads:
        for block in blocks_of(loop):
            for stmt in statements_in(block):
                if stmt.__class__ in (gast.Break, gast.Return):
                    loops.setdefault(stmt, []).append(loop)
    return [
        (node, head)
        for node in (graph.nodes if loops else ())
        if node.stmt in loops
        for loop in loops[node.stmt]
        for head in graph.heads[loop]
    ]
