"""Loops over large arrays whose iterations are one region: each block runs them all.

A loop that counts, and whose body does nothing but compute its state, elementwise or
within rows, computes each part of the state from that part alone. So a block of it goes
through all iterations while it lies in the cache, and threads meet once for the loop
and not in each iteration. `with_steps` puts a node ``Steps`` in the place of such a
loop. Its inputs are those of the region as the first iteration has them, and behind
them what tells the number of iterations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runtime.execute.counted import Counted, constant_int
from runtime.execute.elementwise import is_total, needs_rows
from runtime.execute.prune import Live, find_live
from runtime.execute.regions import LONG_ROW, STEPS, as_region
from runtime.graph import Graph, Node
from runtime.tensor import SymbolicTensor

__all__ = ["with_steps"]


def with_steps(live: Live) -> Live:
    """The same program with the node ``Steps`` in place of each loop that allows it.

    This goes for the bodies of control flow, too.
    """
    bodies = {
        node: tuple(map(with_steps, inner)) for node, inner in live.bodies.items()
    }
    nodes = []
    for node in live.nodes:
        loop = live.loops.get(node)
        steps = None if loop is None else _steps(node, loop, bodies[node][1])
        if steps is not None:
            bodies[steps] = (find_live(steps.attrs["graph"]),)
        nodes.append(steps or node)
    return replace(live, nodes=tuple(nodes), bodies=bodies)


def _steps(node: Node, loop: Counted, body: Live) -> Node | None:
    """The node for a loop with this body; None if it stays a loop."""
    graph: Graph = node.attrs["body_graph"]
    fused = as_region(graph, body) if loop.flag is None else None
    if fused is None or not _is_known(fused.attrs["graph"]):
        return None
    region: Graph = fused.attrs["graph"]
    places = {tensor: place for place, tensor in enumerate(graph.inputs)}
    if any(tensor not in places for tensor in fused.inputs):
        return None  # A constant array, say.
    read = {places[tensor]: index for index, tensor in enumerate(fused.inputs)}
    made = {tensor: index for index, tensor in enumerate(fused.outputs)}
    count = len(node.outputs)
    carried = {}
    for position in body.outputs:
        output = graph.outputs[position]
        if output not in made or position not in read or made[output] in carried:
            return None
        if output.shape != graph.inputs[position].shape:
            return None
        carried[made[output]] = read[position], node.outputs[position]
    state = {index for index, _ in carried.values()}
    others = {index for place, index in read.items() if place < count} - state
    # The number of the iteration is no array; and all results are to be state.
    if others or len(carried) != len(fused.outputs):
        return None
    numbers = _numbers(node, loop)
    inputs = [node.inputs[places[tensor]] for tensor in fused.inputs] + numbers
    attrs: dict[str, Any] = {
        "graph": region,
        "carried": {index: carried[index][0] for index in sorted(carried)},
        "counts_rows": loop.elements is not None,
    }
    steps = Node(node.graph, STEPS, tuple(inputs), attrs, node.name, node.location)
    steps.outputs = tuple(carried[index][1] for index in sorted(carried))
    return steps


def _is_known(region: Graph) -> bool:
    """Whether it is known that the arrays fit each other and can be split."""
    tensors = (*region.inputs, *region.outputs)
    if not all(tensor.shape.is_fully_defined() for tensor in tensors):
        return False
    if any(map(is_total, region.nodes)):
        return False
    whole = max((t.shape for t in tensors), key=lambda shape: shape.num_elements() or 0)
    if any(tensor.shape.as_list() != whole.as_list() for tensor in region.outputs):
        return False
    length = whole.as_list()[-1] or 0
    return length <= LONG_ROW or not any(map(needs_rows, region.nodes))


def _numbers(node: Node, loop: Counted) -> list[SymbolicTensor]:
    """The array with a row for each iteration; or the limit, and the start if not 0."""
    if loop.elements is not None:
        return [loop.elements]
    start = node.inputs[loop.index]
    return [loop.limit] if constant_int(start) == 0 else [loop.limit, start]
