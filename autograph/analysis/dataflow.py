"""The one worklist solver that every flow analysis of this package runs on.

Facts are bits of Python ints. An analysis says what crossing a node adds (`gen`) and
removes (`kill`), once for the normal way out of the node and once for an exception that
leaves it half done; the direction and the way in which paths meet do the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autograph.analysis.cfg import Graph, Node

__all__ = ["Transfer", "solve"]


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
