"""Warnings of loops that Python runs, and that make a graph long.

Each iteration adds its nodes, which takes time while tracing and optimising; a loop
over a tensor is one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any

from runtime.graph import Graph
from runtime.graph.context import current_graph
from runtime.tracing.notes import note

__all__ = ["unrolling"]

#: Loops with fewer iterations are not warned of: their bodies are what is long.
_ITERATIONS = 80
#: Loops that add fewer nodes take less than a second.
_NODES = 2_000


def unrolling() -> Callable[[Any], None] | None:
    """What to call after a loop of Python's, with what it was over.

    None where no graph is being built.
    """
    graph = current_graph()
    if graph is None:
        return None
    start = len(graph.nodes)

    def done(iterated: Any) -> None:
        if not isinstance(iterated, Sized) or len(iterated) < _ITERATIONS:
            return
        count = _count(graph, start)
        if count > _NODES:
            note("AG323", _text(len(iterated), count))

    return done


def _count(graph: Graph, start: int) -> int:
    """The nodes of a graph from one on, with those within them."""
    count = 0
    pending = graph.nodes[start:]
    while pending:
        count += len(pending)
        pending = [
            n for node in pending for _, sub in node.subgraphs() for n in sub.nodes
        ]
    return count


def _text(iterations: int, nodes: int) -> str:
    return (
        f"unrolls this loop: its {iterations:,} iterations have added {nodes:,} nodes "
        "to the graph, which takes time at the first call. Loop over a tensor or over "
        "tf.range(n): that is one node, whatever n is"
    )
