"""What holds at each step of the control-flow graph: liveness, assignment, and the
definitions that reach each load.

One worklist solver serves them all. Facts are bits of Python ints. An analysis says
what crossing a node adds (`gen`) and removes (`kill`), once for the normal way out of
the node and once for an exception that leaves it half done; the direction and the way
in which paths meet do the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gast

from autograph.analysis.cfg import Graph, Node
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
from autograph.analysis.scopes import Scope
from autograph.lang.visitors import blocks, statements_in

__all__ = [
    "ELSEWHERE",
    "UNBOUND",
    "Marker",
    "ReachingDefinitions",
    "definitely_assigned",
    "live",
    "maybe_assigned",
]


class Transfer:
    """What crossing each node does to the facts, indexed by ``node.index``.

    ``gen``/``kill`` hold when the node completes, ``raise_gen``/``raise_kill`` when an
    exception leaves it.
    """

    def __init__(
        self,
        gen: Sequence[int],
        kill: Sequence[int],
        raise_gen: Sequence[int],
        raise_kill: Sequence[int],
    ) -> None:
        self.gen = gen
        self.kill = kill
        self.raise_gen = raise_gen
        self.raise_kill = raise_kill


def solve(
    graph: Graph,
    transfer: Transfer,
    *,
    forward: bool,
    must: bool,
    start: int,
    top: int,
    also: Iterable[tuple[Node, Node]] = (),
) -> list[int]:
    """The facts that hold just before each node, by node index.

    ``start`` holds at the entry (forward) or at the exit (backward); every other node
    begins with ``top``: all facts for a *must* problem, those that hold in any case for
    a *may* problem. Forward, facts take the ways ``also``, too.
    """
    edges = _edges(graph, transfer, forward)
    for node, to in also:
        gen, kill = transfer.gen[node.index], transfer.kill[node.index]
        edges[node.index].append((to.index, gen, ~kill))
    state = [top] * len(edges)
    # Forward, only what the entry leads to takes part; backward, every node does, so
    # that code that is never reached has facts too.
    first = graph.entry.index if forward else graph.exit.index
    work = [first] if forward else list(range(len(edges)))
    state[first] = start
    for node in graph.nodes:
        if not forward and not node.succ and node.exc is None:
            # It raises out of the function: no edge brings facts to it.
            state[node.index] |= transfer.gen[node.index]
    waiting = [not forward] * len(edges)
    seen = [not forward] * len(edges)
    while work:
        index = work.pop()
        waiting[index] = False
        seen[index] = True
        here = state[index]
        for target, gen, keep in edges[index]:
            old = state[target]
            arriving = here & keep | gen
            new = old & arriving if must else old | arriving
            if new != old or not seen[target]:
                state[target] = new
                if not waiting[target]:
                    waiting[target] = True
                    work.append(target)
    return state


def _edges(
    graph: Graph, transfer: Transfer, forward: bool
) -> list[list[tuple[int, int, int]]]:
    """(target, gen, keep) for each edge, by the index of the node the facts come from.

    Both directions cross the node at the *source* end of the edge in program order:
    going forward the facts leave it, going backward they arrive at it.
    """
    edges: list[list[tuple[int, int, int]]] = [[] for _ in graph.nodes]
    for node in graph.nodes:
        index = node.index
        gen, keep = transfer.gen[index], ~transfer.kill[index]
        for successor in node.succ:
            if forward:
                edges[index].append((successor.index, gen, keep))
            else:
                edges[successor.index].append((index, gen, keep))
        if node.exc is not None:
            gen, keep = transfer.raise_gen[index], ~transfer.raise_kill[index]
            if forward:
                edges[index].append((node.exc.index, gen, keep))
            else:
                edges[node.exc.index].append((index, gen, keep))
    return edges


# --- liveness and assignment ----------------------------------------------------------
#
# A name is one bit; the names are those that the function itself can bind (locals, and
# what it declares nonlocal or global).


def _node_events(log: Log, node: Node) -> list[Event]:
    """The events of one step, in order."""
    if node.kind == "unbind":
        index = log.unbinds[node.stmt]
        return log.events[index : index + 1]
    if not node.parts:
        return []
    start, end = log.spans[node.parts[0]]
    if node.kind == "match":
        # A pattern that fails may have bound some of its names.
        return [(flags | MAYBE, *rest) for flags, *rest in log.events[start:end]]
    return log.events[start:end]


def _half_done(events: list[Event]) -> list[Event]:
    """The events that may have happened when the step raises: binding or unbinding a
    name comes last, and then nothing can raise any more.
    """
    if events and events[-1][0] & (WRITE | DELETE) and not events[-1][0] & WALRUS:
        return events[:-1]
    return events


def live(log: Log, graph: Graph, bits: dict[str, int], always: int) -> list[int]:
    """Names that may still be read, before each node.

    ``always`` are the names that others can read at any time.
    """
    gens, kills = [], []
    for node in graph.nodes:
        exposed = overwritten = 0
        for flags, name, _ in _node_events(log, node):
            bit = bits.get(name, 0)
            if flags & READ:
                if not flags & GLOBAL:
                    exposed |= bit & ~overwritten
            elif flags & (WRITE | DELETE) and not flags & (MAYBE | CAPTURED):
                overwritten |= bit
        gens.append(exposed)
        kills.append(overwritten)
    transfer = Transfer(gens, kills, gens, [0] * len(gens))
    return solve(graph, transfer, forward=False, must=False, start=always, top=always)


def definitely_assigned(
    log: Log, graph: Graph, bits: dict[str, int], params: int
) -> list[int]:
    """Names bound on every path to each node; all names where no path leads."""
    gens, kills, lost = [], [], []
    for node in graph.nodes:
        bound = unbound = 0
        events = _node_events(log, node)
        for flags, name, _ in events:
            bit = bits.get(name, 0)
            if flags & DELETE:
                bound &= ~bit
                unbound |= bit
            elif flags & WRITE and not flags & (MAYBE | CAPTURED):
                bound |= bit
                unbound &= ~bit
        gens.append(bound)
        kills.append(unbound)
        lost.append(_mask(_half_done(events), DELETE, bits))
    transfer = Transfer(gens, kills, [0] * len(gens), lost)
    top = sum(bits.values())
    return solve(graph, transfer, forward=True, must=True, start=params, top=top)


def maybe_assigned(
    log: Log, graph: Graph, bits: dict[str, int], params: int, others: int
) -> list[int]:
    """Names bound on some path to each node.

    ``others`` are the names that others can bind at any time.
    """
    gens, kills, ever_bound = [], [], []
    for node in graph.nodes:
        bound = unbound = 0
        events = _node_events(log, node)
        for flags, name, _ in events:
            bit = bits.get(name, 0)
            if flags & WRITE and not flags & (LATER | GLOBAL):
                bound |= bit
                unbound &= ~bit
            elif flags & DELETE and not flags & (MAYBE | CAPTURED):
                bound &= ~bit
                unbound |= bit
        gens.append(bound)
        kills.append(unbound & ~others)
        ever_bound.append(_mask(_half_done(events), WRITE, bits))
    transfer = Transfer(gens, kills, ever_bound, [0] * len(gens))
    start = params | others
    return solve(graph, transfer, forward=True, must=False, start=start, top=others)


def _mask(events: list[Event], kind: int, bits: dict[str, int]) -> int:
    mask = 0
    for flags, name, _ in events:
        if flags & kind and not flags & (LATER | GLOBAL):
            mask |= bits.get(name, 0)
    return mask


# --- reaching definitions -------------------------------------------------------------
#
# What a jump takes out of a loop comes to the loop's head, too: a staged loop carries
# the variables of all its ways out, in tensors, although it does not go on after a
# jump.


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
            for event in _node_events(self._log, node):
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
        for flags, name, at in _node_events(self._log, node):
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
            events = _node_events(self._log, node)
            for event in events:
                gen, keep = self._after(event, gen), self._after(event, keep)
            for event in _half_done(events):
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
        for block in blocks(loop):
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
