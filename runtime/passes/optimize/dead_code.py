"""Dead code: what neither the results nor the effects of a graph need is taken out.

Before::

    %1 = Exp(%0)
    %2, %3 = While(%0, %1)
        ...
    return %2

After::

    %1 = While(%0)
        ...
    return %1

Exact, because executors run no more than `core.graph.prune.find_live` says anyway:
the state of a loop that only feeds itself, the results of a branch that nobody reads
and the inputs of a call that it does not use go with the nodes that compute them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import bodies_of
from runtime.core.graph.prune import Live, find_live, is_recursive_call


def dead_code(graph: Graph) -> int:
    """Remove the nodes, inputs and results that nothing needs; how many nodes went."""
    return _keep(graph, find_live(graph), set())


def _keep(graph: Graph, live: Live, seen: set[Graph]) -> int:
    """Leave what is live of a graph, whose own inputs and outputs stay as they are."""
    removed = len(graph.nodes) - len(live.nodes)
    if removed:
        graph.nodes = list(live.nodes)
    for node, bodies in live.bodies.items():
        if is_recursive_call(node):
            called = node.attrs["graph"]
            if called not in seen:
                seen.add(called)
                removed += _keep(called, find_live(called), seen)
        else:
            removed += _narrow(node, bodies, live.reads[node])
            for body, live_body in zip(bodies_of(node), bodies):
                removed += _keep(body, live_body, seen)
    return removed


def _narrow(node: Node, bodies: tuple[Live, ...], reads: frozenset[int]) -> int:
    """Drop the inputs and the results that a node of control flow can do without."""
    kept = bodies[-1].outputs
    if len(kept) == len(node.outputs) and len(reads) == len(node.inputs):
        return 0
    offset = 0 if node.op in ("While", "PartitionedCall") else 1
    read = {index - offset for index in reads}
    for graph in bodies_of(node):
        graph.inputs = _at(graph.inputs, read)
        if len(graph.outputs) == len(node.outputs) and graph is not _test(node):
            graph.outputs = _at(graph.outputs, kept)
    if "names" in node.attrs:
        node.attrs["names"] = tuple(_at(node.attrs["names"], kept))
    node.inputs = tuple(_at(node.inputs, reads))
    node.outputs = tuple(_at(node.outputs, kept))
    for index, tensor in enumerate(node.outputs):
        tensor.value_index = index
    return 1


def _test(node: Node) -> Any:
    return node.attrs.get("cond_graph")


def _at(items: Any, places: Collection[int]) -> list[Any]:
    return [item for index, item in enumerate(items) if index in places]
