"""Nodes that give back what they get are removed, and constants brought to their uses.

Before::

    %1 = Const(value=2)
    %2 = Identity(%0)
    %3 = If(%t, %1, %2)
        then_graph(%0 captured, %1 captured):
          %2 = Mul(%1, %0)
          ...
After::

    %3 = If(%t, %0)
        then_graph(%0 captured):
          %1 = Const(value=2)
          %2 = Mul(%0, %1)

Exact: values are never changed in place while anybody else holds them, so that an
alias cannot be told from a copy. A cast to the same dtype, a reshape and a broadcast to
the same known shape are such nodes, and so are checks that are known to hold.
"""

from __future__ import annotations

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import (
    CONTROL_FLOW,
    Editor,
    Tensors,
    bodies_of,
    first_captured,
    make_constants,
    nested_graphs,
    sweep,
)
from runtime.passes.optimize.facts import constant, number, same_shape


def identities(graph: Graph) -> int:
    """Remove nodes whose result is their input."""
    return sweep(graph, _RULES)


def _always(node: Node, editor: Editor) -> Tensors | None:
    return node.inputs[:1]


def _results(node: Node, editor: Editor) -> Tensors | None:
    return node.inputs[: len(node.outputs)]


def _of_same_shape(node: Node, editor: Editor) -> Tensors | None:
    return node.inputs[:1] if same_shape(node.inputs[0], node.outputs[0]) else None


def _of_same_dtype(node: Node, editor: Editor) -> Tensors | None:
    before, after = node.inputs[0]._spec, node.outputs[0]._spec
    # A number of Python is checked where it becomes a tensor.
    same = before.dtype is after.dtype and before.weak is after.weak
    return node.inputs[:1] if same else None


def _checked(node: Node, editor: Editor) -> Tensors | None:
    return node.inputs[:1] if number(node.inputs[1]) else None


_RULES = {
    "BroadcastTo": _of_same_shape,
    "Cast": _of_same_dtype,
    "CustomGradient": _results,
    "EnsureShape": _of_same_shape,
    "Identity": _always,
    "IsNotNone": _always,
    "RequireBound": _checked,
    "RequireSome": _checked,
    "Reshape": _of_same_shape,
    "StopGradient": _always,
}


def constants_inside(graph: Graph) -> int:
    """Give graphs of control flow the constants that they capture as their own."""
    changes = 0
    for outer in nested_graphs(graph):
        for node in outer.nodes:
            if node.op in CONTROL_FLOW and node.op != "PartitionedCall":
                changes += _bring_in(node)
    return changes


def _bring_in(node: Node) -> int:
    first = first_captured(node)
    places = [
        place
        for place, tensor in enumerate(node.inputs)
        if place >= first and tensor.node.op == "Const"
    ]
    if not places:
        return 0
    offset = 0 if node.op == "While" else 1
    for graph in bodies_of(node):
        values = [(graph.inputs[i - offset], constant(node.inputs[i])) for i in places]
        make_constants(graph, values)
    dropped = set(places)
    for graph in bodies_of(node):
        graph.inputs = [
            tensor
            for place, tensor in enumerate(graph.inputs, offset)
            if place not in dropped
        ]
    node.inputs = tuple(
        tensor for place, tensor in enumerate(node.inputs) if place not in dropped
    )
    return 1
