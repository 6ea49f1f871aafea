"""Warns of loops that Python runs while a graph is built and that make it long: AG323.

`install` has converted code call `watch` before each loop over a Python iterable.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from functools import partial
from typing import Any

from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.staging.tracing.notes import note

#: Loops with fewer iterations are not warned of: only their bodies are long.
_ITERATIONS = 80
#: Loops that add fewer nodes take less than a second.
_NODES = 2_000


def watch() -> Callable[[Any], None] | None:
    """The function to call with the iterable after a loop; None outside of graphs."""
    graph = current_graph()
    return None if graph is None else partial(_warn, graph, len(graph.nodes))


def _warn(graph: Graph, start: int, iterated: Any) -> None:
    """Warn if a loop that began at node number `start` has added too many nodes."""
    if isinstance(iterated, Sized) and len(iterated) >= _ITERATIONS:
        count = _count(graph, start)
        if count > _NODES:
            note("AG323", _text(len(iterated), count))


def _count(graph: Graph, start: int) -> int:
    """The number of nodes of a graph from `start` on, with those of sub-graphs."""
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
