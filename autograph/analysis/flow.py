"""Liveness and assignment: what each step of the graph does to the function's names.

A name is one bit; the names are those that the function itself can bind (locals, and
what it declares nonlocal or global).
"""

from __future__ import annotations

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

__all__ = ["definitely_assigned", "live", "maybe_assigned", "node_events"]


def node_events(log: Log, node: Node) -> list[Event]:
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


def half_done(events: list[Event]) -> list[Event]:
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
        for flags, name, _ in node_events(log, node):
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
        events = node_events(log, node)
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
        lost.append(_mask(half_done(events), DELETE, bits))
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
        events = node_events(log, node)
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
        ever_bound.append(_mask(half_done(events), WRITE, bits))
    transfer = Transfer(gens, kills, ever_bound, [0] * len(gens))
    start = params | others
    return solve(graph, transfer, forward=True, must=False, start=start, top=others)


def _mask(events: list[Event], kind: int, bits: dict[str, int]) -> int:
    mask = 0
    for flags, name, _ in events:
        if flags & kind and not flags & (LATER | GLOBAL):
            mask |= bits.get(name, 0)
    return mask
