"""Loops that Python runs while a graph is built: counted, and rolled up if they can be.

Each iteration adds its nodes, which takes time while tracing and optimising; a loop of
the graph is one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any, cast

from autograph.operators.rolling import Unrolled
from runtime.compiler.backend import STAGING
from runtime.graph import Graph, Node
from runtime.graph.context import current_graph, init_scope
from runtime.tracing.notes import note
from runtime.tracing.rolled import State, may_repeat, rolled

__all__ = ["unrolling"]

#: Loops with fewer iterations are not warned of: their bodies are what is long.
_ITERATIONS = 80
#: Loops that add fewer nodes take less than a second.
_NODES = 2_000


def unrolling() -> Unrolled | None:
    """A record of a loop that begins; None where no graph is being built."""
    graph = current_graph()
    return None if graph is None else _Unrolled(graph)


class _Unrolled:
    """What a loop adds to a graph: see `Unrolled`."""

    backend = STAGING
    acting = frozenset({cast(Any, init_scope).__wrapped__.__code__})

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._ends = [len(graph.nodes)]

    def iterated(self) -> None:
        """Note the end of an iteration."""
        self._ends.append(len(self._graph.nodes))

    def _added(self) -> list[list[Node]]:
        pairs = zip(self._ends, self._ends[1:])
        return [self._graph.nodes[start:end] for start, end in pairs]

    def repeats(self) -> bool:
        """Whether the iterations after the first have added the same kinds of nodes."""
        added = self._added()[1:]
        kinds = [[node.op for node in nodes] for nodes in added]
        if current_graph() is not self._graph or not all(kinds):
            return False
        return all(kind == kinds[0] for kind in kinds) and may_repeat(added[0])

    def rolled(
        self,
        numbers: range,
        states: list[State],
        step: Callable[[Any, State], State],
        names: tuple[str, ...],
    ) -> State | None:
        """Roll up what is left of the loop."""
        return rolled(numbers, states, self._added(), step, names)

    def done(self, iterated: Any) -> None:
        """Warn of a loop that has made the graph long."""
        if isinstance(iterated, Sized) and len(iterated) >= _ITERATIONS:
            count = _count(self._graph, self._ends[0])
            if count > _NODES:
                note("AG323", _text(len(iterated), count))


def _count(graph: Graph, start: int) -> int:
    """The nodes of a graph from one on, with those within them."""
    count = 0
    pending = graph.nodes[start:]
    while pending:
        count += len(pending)
        inner = [graph for node in pending for _, graph in node.subgraphs()]
        pending = [node for graph in inner for node in graph.nodes]
    return count


def _text(iterations: int, nodes: int) -> str:
    return (
        f"unrolls this loop: its {iterations:,} iterations have added {nodes:,} nodes "
        "to the graph, which takes time at the first call. Loop over a tensor or over "
        "tf.range(n): that is one node, whatever n is"
    )
