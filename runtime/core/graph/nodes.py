"""New nodes that stand for old ones, and graphs cut out of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.core.types.specs import TensorSpec

#: What stands for the tensors of another graph.
Copies = IdentityMap[SymbolicTensor, SymbolicTensor]


def make_node(
    graph: Graph,
    op: str,
    inputs: tuple[SymbolicTensor, ...],
    attrs: dict[str, Any],
    specs: Iterable[TensorSpec],
    origin: Node,
) -> Node:
    """A node of `graph`, not yet among its nodes, that stands for (a part of) `origin`:
    it has its name, line and device.
    """
    node = Node.__new__(Node)
    node.graph, node.op, node.inputs, node.attrs = graph, op, inputs, attrs
    node.name, node.location, node.device = origin.name, origin.location, origin.device
    node.outputs = tuple(
        [SymbolicTensor(graph, node, index, spec) for index, spec in enumerate(specs)]
    )
    return node


def copy_inputs(
    tensors: Iterable[SymbolicTensor], graph: Graph, copies: Copies
) -> None:
    """Give `graph` an input for each of `tensors`."""
    for tensor in tensors:
        node = make_node(graph, "Placeholder", (), {}, (tensor.spec,), tensor.node)
        graph.inputs.append(node.outputs[0])
        copies[tensor] = node.outputs[0]


def copy_node(node: Node, attrs: dict[str, Any], graph: Graph, copies: Copies) -> None:
    """Add a copy of the node with these attributes to `graph`."""
    inputs = tuple([copies[tensor] for tensor in node.inputs])
    specs = [tensor.spec for tensor in node.outputs]
    copy = make_node(graph, node.op, inputs, attrs, specs, node)
    graph.nodes.append(copy)
    copies.update(zip(node.outputs, copy.outputs))


def cut_out(
    name: str,
    nodes: Sequence[Node],
    inputs: Iterable[SymbolicTensor],
    outputs: Iterable[SymbolicTensor],
) -> Graph:
    """Some nodes as a graph of that name, with copies of the constants they read."""
    graph, copies = Graph(name), Copies()
    copy_inputs(inputs, graph, copies)
    read = IdentitySet(tensor for node in nodes for tensor in node.inputs)
    constants = [t.node for t in read if t.node.op == "Const" and t not in copies]
    for node in (*constants, *nodes):
        copy_node(node, node.attrs, graph, copies)
    graph.outputs = [copies[tensor] for tensor in outputs]
    return graph
