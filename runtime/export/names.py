"""Nodes and tensors of a graph by name."""

from __future__ import annotations

from runtime.core.graph import Graph, Node
from runtime.core.missing import near
from runtime.core.tensor import SymbolicTensor


def operation(graph: Graph, name: str) -> Node:
    """The node of that name. Raises KeyError if there is none."""
    nodes = {node.name: node for node in graph.get_operations()}
    node = nodes.get(name)
    if node is not None:
        return node
    text = f"the graph {graph.name!r} has no operation {name!r}"
    before, _, index = name.rpartition(":")
    if before in nodes and index.isdigit():
        text += f"; {name!r} is a tensor: use get_tensor_by_name()"
    else:
        text += near(name, nodes)
    raise KeyError(text)


def tensor(graph: Graph, name: str) -> SymbolicTensor:
    """The tensor of that name, such as ``add:0``. Raises KeyError if there is none, and
    ValueError if the name is not that of a tensor.
    """
    before, _, index = name.rpartition(":")
    if not index.isdigit():
        raise ValueError(
            f"{name!r} is not the name of a tensor, which is that of its operation and "
            f"the number of the output, such as '{name}:0'"
        )
    outputs = operation(graph, before).outputs
    if int(index) < len(outputs):
        return outputs[int(index)]
    raise KeyError(
        f"the operation {before!r} of the graph {graph.name!r} has "
        f"{len(outputs)} outputs: there is no {name!r}"
    )
