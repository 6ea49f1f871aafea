"""Which nodes of a graph run at all.

A graph computes its outputs and its effects; a node that neither needs is not run, and
so raises nothing (TensorFlow calls this non-strict execution). The answer reaches into
the bodies of control flow: a branch does not compute what nobody reads of its `If`, and
a loop does not carry state that only feeds itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from runtime.graph import Graph, Node
from runtime.ops import registry
from runtime.tensor import SymbolicTensor

__all__ = [
    "CONTROL_FLOW",
    "Live",
    "find_live",
    "has_effects",
    "is_recursive_call",
    "live_whole",
]


@dataclass(frozen=True)
class Live:
    """What has to run in one graph; made by `find_live`.

    ``nodes`` are in program order, ``inputs`` and ``outputs`` are positions in the
    graph's own lists. For each control flow node that runs, ``bodies`` has the same for
    its sub-graphs, in the order of `Node.subgraphs`, and ``reads`` the positions of the
    inputs that are needed.
    """

    nodes: tuple[Node, ...]
    inputs: frozenset[int]
    outputs: frozenset[int]
    bodies: dict[Node, tuple[Live, ...]]
    reads: dict[Node, frozenset[int]]

    def inputs_of(self, node: Node) -> Iterator[SymbolicTensor]:
        """The tensors that `node` needs."""
        read = self.reads.get(node)
        for index, tensor in enumerate(node.inputs):
            if read is None or index in read:
                yield tensor


def find_live(graph: Graph, outputs: Collection[int] | None = None) -> Live:
    """What has to run to compute the outputs (those at `outputs`) and all effects."""
    wanted = range(len(graph.outputs)) if outputs is None else outputs
    needed = {graph.outputs[index] for index in wanted}
    nodes: list[Node] = []
    bodies: dict[Node, tuple[Live, ...]] = {}
    reads: dict[Node, frozenset[int]] = {}
    for node in reversed(graph.nodes):
        results = [i for i, tensor in enumerate(node.outputs) if tensor in needed]
        if not results and not has_effects(node):
            continue
        nodes.append(node)
        if node.op in _RULES:
            bodies[node], read = _RULES[node.op](node, results)
            reads[node] = frozenset(read)
            needed.update(node.inputs[index] for index in read)
        else:
            needed.update(node.inputs)
    inputs = frozenset(i for i, tensor in enumerate(graph.inputs) if tensor in needed)
    return Live(tuple(reversed(nodes)), inputs, frozenset(wanted), bodies, reads)


def has_effects(node: Node) -> bool:
    """Whether running the node can be observed other than through its outputs."""
    return _has_effects(node, set())


def _has_effects(node: Node, seen: set[Graph]) -> bool:
    if node.op not in CONTROL_FLOW:
        return registry.get(node.op).stateful
    for _, body in node.subgraphs():
        if body in seen:
            continue
        if body.is_recursive:
            seen.add(body)  # within itself it adds no effects
        if any(_has_effects(inner, seen) for inner in body.nodes):
            return True
    return False


def is_recursive_call(node: Node) -> bool:
    """Whether the node calls a graph that calls itself: as a whole, with all inputs."""
    return node.op == "PartitionedCall" and node.attrs["graph"].is_recursive


def live_whole(graph: Graph) -> Live:
    """`find_live` of a recursive graph, found once."""
    if graph.live is None:
        graph.live = find_live(graph)
    live: Live = graph.live
    return live


def _live_branches(node: Node, results: list[int]) -> tuple[tuple[Live, ...], set[int]]:
    """`If` and `Case`: input 0 decides, the others are those of each branch."""
    branches = tuple(find_live(graph, results) for _, graph in node.subgraphs())
    return branches, {0} | {1 + index for live in branches for index in live.inputs}


def _live_call(node: Node, results: list[int]) -> tuple[tuple[Live, ...], set[int]]:
    if is_recursive_call(node):
        return (), set(range(len(node.inputs)))
    body = find_live(node.attrs["graph"], results)
    return (body,), set(body.inputs)


def _live_loop(node: Node, results: list[int]) -> tuple[tuple[Live, ...], set[int]]:
    """`While`: state is needed if it is read afterwards, by the test, or to compute
    other needed state.
    """
    count = len(node.outputs)
    test = find_live(node.attrs["cond_graph"])
    state = set(results) | {index for index in test.inputs if index < count}
    while True:
        body = find_live(node.attrs["body_graph"], sorted(state))
        grown = state | {index for index in body.inputs if index < count}
        if grown == state:
            return (test, body), state | set(test.inputs) | set(body.inputs)
        state = grown


_RULES = {
    "If": _live_branches,
    "Case": _live_branches,
    "While": _live_loop,
    "PartitionedCall": _live_call,
}

#: The ops whose nodes carry sub-graphs that executors run; they have no kernels.
CONTROL_FLOW = frozenset(_RULES)
