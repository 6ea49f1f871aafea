"""Graphs in the form of TensorFlow's GraphDef: a list of nodes that name their inputs.

>>> node = NodeDef("sum", "AddV2", ["x", "y"])
>>> print(GraphDef([node]))
node {
  name: "sum"
  op: "AddV2"
  input: "x"
  input: "y"
}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["GraphDef", "NodeDef", "graph_def"]


@dataclass
class NodeDef:
    """A node: its name, its op, and the names of its inputs.

    An input is called ``name``, or ``name:1`` for a later output of that node.
    """

    name: str
    op: str
    input: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"name: {json.dumps(self.name)}"
        yield f"op: {json.dumps(self.op)}"
        for name in self.input:
            yield f"input: {json.dumps(name)}"


@dataclass
class GraphDef:
    """A graph as data."""

    node: list[NodeDef] = field(default_factory=list)

    def __str__(self) -> str:
        blocks = []
        for node in self.node:
            body = "\n".join(f"  {line}" for line in str(node).splitlines())
            blocks.append(f"node {{\n{body}\n}}")
        return "\n".join(blocks)


def graph_def(graph: Any) -> GraphDef:
    """The GraphDef of a `runtime.graph.Graph`: placeholders first, then its nodes."""
    nodes = []
    for node in graph.get_operations():
        inputs = [
            tensor.node.name + (f":{tensor.index}" if tensor.index else "")
            for tensor in node.inputs
        ]
        nodes.append(NodeDef(node.name, node.op, inputs))
    return GraphDef(nodes)
