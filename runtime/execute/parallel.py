"""Finding heavy operations that do not depend on each other, to run them at once.

NumPy computes most operations on one thread: sorting, running sums, picking elements.
Two of these that are next to each other, but for light operations that cannot fail and
read neither, run on two threads. What BLAS does is left alone: it has threads of its
own, and two of its calls at a time get into each other's way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runtime.execute.blocks import fits, is_simple
from runtime.execute.prune import CONTROL_FLOW, Live
from runtime.graph import Node
from runtime.ops.record import get, register_structure
from runtime.tensor import SymbolicTensor

__all__ = ["AT_ONCE", "with_groups"]

#: The op of the nodes that stand for several others. It is known to the writer of
#: source only.
AT_ONCE = "AtOnce"
register_structure(AT_ONCE)

#: How long an operation has to take, by the estimate in nanoseconds.
LONG = 1_000_000


def _is_heavy(node: Node) -> bool:
    op = get(node.op)
    if not op.cost or op.stateful:
        return False
    tensors = (*node.inputs, *node.outputs)
    if any(tensor.dtype.kind == "O" for tensor in tensors):
        return False  # Python objects need the interpreter's lock.
    sizes = [tensor.shape.num_elements() or 0 for tensor in tensors]
    return op.cost * max(sizes) >= LONG


def _is_light(node: Node) -> bool:
    """Whether the node may just as well run before what stood in front of it."""
    if node.op == "Const":
        return True
    if node.op in CONTROL_FLOW or not is_simple(node):
        return False
    sizes = [tensor.shape.num_elements() for tensor in node.inputs]
    return fits(node) and all(size is not None and size < LONG for size in sizes)


def with_groups(live: Live) -> Live:
    """The same program with one node in place of heavy ones that can run at once.

    This goes for the bodies of control flow, too.
    """
    bodies = {
        node: tuple(map(with_groups, found)) for node, found in live.bodies.items()
    }
    live = replace(live, bodies=bodies)
    if sum(map(_is_heavy, live.nodes)) < 2:
        return live
    nodes: list[Node] = []
    group: list[Node] = []
    made: set[SymbolicTensor] = set()
    #: Where the last node of the group stands in `nodes`.
    last = 0

    def close() -> None:
        if len(group) > 1:
            nodes[last] = _at_once(group)
            for node in group[:-1]:
                nodes.remove(node)
        group.clear()
        made.clear()

    for node in live.nodes:
        heavy = _is_heavy(node)
        if not made.isdisjoint(live.inputs_of(node)) or not (heavy or _is_light(node)):
            close()
        if heavy:
            group.append(node)
            made.update(node.outputs)
            last = len(nodes)
        nodes.append(node)
    close()
    return replace(live, nodes=tuple(nodes))


def _at_once(group: Sequence[Node]) -> Node:
    inputs = dict.fromkeys(tensor for node in group for tensor in node.inputs)
    first = group[0]
    attrs = {"nodes": tuple(group)}
    node = Node(first.graph, AT_ONCE, tuple(inputs), attrs, first.name, first.location)
    node.outputs = tuple(tensor for inner in group for tensor in inner.outputs)
    return node
