"""The test of a staged loop, moved back into the condition.

Converted Python computes the test of a loop once before it, and again at the end of
each iteration; staged that way, it is a part of the loop's state::

    go_on = n != 1
    while go_on:
        n = ...
        go_on = n != 1

Where both are the same expression, it becomes the test: ``while n != 1``. The loop
carries one value less, and prints as it was written. `subgraph.emit_while` calls
`restore_test`, which changes the body; `trace` calls `tidy` at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.prune import Effects
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types.identity import IdentityMap, IdentitySet


def restore_test(
    cond_graph: Graph, body_graph: Graph, init: Sequence[SymbolicTensor]
) -> tuple[int, Graph] | None:
    """The position of the state that holds the test only, and the test as a graph.

    The state is removed from the body; the caller drops it from `init`. Returns None
    and changes nothing if there is no such state, or its two expressions differ.
    """
    position = _only_test(cond_graph, body_graph)
    if position is None:
        return None
    expression = _Expression(body_graph, init, position)
    if not expression.matches(init[position], body_graph.outputs[position]):
        return None
    if expression.precedes_effects():
        return None
    expression.leave(init[position])
    return position, expression.take_out(cond_graph)


def tidy(graph: Graph) -> None:
    """Remove the unused nodes that `restore_test` left over, at the end of the trace.

    Also clears the notes of staging in the graphs.
    """
    _tidy(graph, set())


def _tidy(graph: Graph, seen: set[Graph]) -> None:
    seen.add(graph)
    used = IdentitySet[Any](graph.outputs)
    kept_nodes = []
    for node in reversed(graph.nodes):
        for _, subgraph in node.subgraphs():
            if subgraph not in seen:
                _tidy(subgraph, seen)
        if node in graph.left_over and not any(t in used for t in node.outputs):
            continue
        used.update(node.inputs)
        kept_nodes.append(node)
    graph.nodes = kept_nodes[::-1]
    graph.left_over.clear()
    graph.recursive.clear()


def _only_test(cond_graph: Graph, body_graph: Graph) -> int | None:
    """The position of the state that the test returns and nothing else reads."""
    if cond_graph.nodes:
        return None
    position = next(
        (i for i, t in enumerate(cond_graph.inputs) if t is cond_graph.outputs[0]), None
    )
    if position is None or position >= len(body_graph.outputs):
        return None
    state = body_graph.inputs[position]
    read = any(t is state for node in body_graph.nodes for t in node.inputs)
    if read or any(tensor is state for tensor in body_graph.outputs):
        return None
    return position


class _Expression:
    """The test as the body computes it for the next iteration."""

    def __init__(
        self, body_graph: Graph, init: Sequence[SymbolicTensor], position: int
    ) -> None:
        self._body = body_graph
        self._init = init
        self._position = position
        self._captured = IdentityMap[Any, Any](
            (inner, outer) for outer, inner in body_graph.captures.items()
        )
        #: The states that the expression reads, and its nodes.
        self._states: IdentityMap[SymbolicTensor, int] = IdentityMap()
        self._nodes: dict[Node, None] = {}

    def matches(self, before: Tensor, after: SymbolicTensor) -> bool:
        """Whether two tensors are one expression, of the state before the loop and of
        that after an iteration.
        """
        for index, (start, value) in enumerate(zip(self._init, self._body.outputs)):
            if (
                value is after
                and index != self._position
                and (start is before or _same_constant(start, before))
            ):
                self._states[after] = index
                return True
        if after in self._captured:
            return self._captured[after] is before
        if not isinstance(before, SymbolicTensor):
            return False
        node, other_node = before.node, after.node
        if other_node.op == "Cast" and after.spec.weak and before.dtype.is_integer:
            # Beside a Python number an integer is cast to a weak tensor.
            if not self.matches(before, other_node.inputs[0]):
                return False
            self._nodes[other_node] = None
            return True
        inputs = node.inputs
        if node.op != other_node.op and _REFLECTED.get(node.op) == other_node.op:
            inputs = inputs[::-1]
        elif node.op != other_node.op:
            return False
        if before.value_index != after.value_index or len(node.outputs) != 1:
            return False
        if node.op == "Placeholder" or any(True for _ in node.subgraphs()):
            return False
        if get(node.op).stateful or not _same_attributes(node.attrs, other_node.attrs):
            return False
        if len(inputs) != len(other_node.inputs):
            return False
        if not all(map(self.matches, inputs, other_node.inputs)):
            return False
        self._nodes[other_node] = None
        return True

    def precedes_effects(self) -> bool:
        """Whether the body has effects after it began to compute the expression."""
        nodes = self._body.nodes
        first = min((nodes.index(node) for node in self._nodes), default=len(nodes))
        return any(
            map(Effects().of, (n for n in nodes[first:] if n not in self._nodes))
        )

    def leave(self, first: SymbolicTensor) -> None:
        """Note that the nodes of the expression before the loop may be unused."""
        node = first.node
        if node not in first.graph.left_over and node.op != "Placeholder":
            first.graph.left_over.add(node)
            for tensor in node.inputs:
                self.leave(tensor)

    def take_out(self, cond_graph: Graph) -> Graph:
        """The expression as a graph; removes its nodes from the body where unused."""
        graph = Graph(cond_graph.name, cond_graph.parent)
        values: IdentityMap[Any, SymbolicTensor] = IdentityMap()
        parameters: list[SymbolicTensor] = []
        for index, tensor in enumerate(self._body.inputs[: len(self._body.outputs)]):
            if index == self._position:
                parameters.append(tensor)
            else:
                parameters.append(graph.add_input(tensor.spec, tensor.node.name))
        for tensor, index in self._states.items():
            values[tensor] = parameters[index]
        for node in self._nodes:
            inputs: list[Tensor] = [
                values[t] if t in values else self._captured[t] for t in node.inputs
            ]
            specs = [tensor.spec for tensor in node.outputs]
            (copy,) = graph.add(node.op, inputs, node.attrs, specs, node.name)
            copy.node.location = node.location
            values[node.outputs[0]] = copy
        graph.outputs = [values[self._body.outputs[self._position]]]
        self._shrink_body()
        return graph

    def _shrink_body(self) -> None:
        body = self._body
        del body.outputs[self._position]
        del body.inputs[self._position]
        for node in reversed(self._nodes):
            used = IdentitySet[Any](t for other in body.nodes for t in other.inputs)
            used.update(body.outputs)
            if node.outputs[0] not in used:
                body.nodes.remove(node)


#: Python evaluates ``0 < n`` of a tensor as ``n > 0``.
_REFLECTED = {
    "Less": "Greater",
    "Greater": "Less",
    "LessEqual": "GreaterEqual",
    "GreaterEqual": "LessEqual",
}


def _same_constant(one: Tensor, other: Tensor) -> bool:
    if not isinstance(one, SymbolicTensor) or not isinstance(other, SymbolicTensor):
        return False
    nodes = one.node, other.node
    if one.dtype.is_integer and other.dtype.is_integer and one.spec.weak:
        # A weak Python number, and the constant that it became beside a tensor.
        if any(node.op != "Const" for node in nodes):
            return False
        value, other_value = (node.attrs["value"].tolist() for node in nodes)
        return bool(value == other_value)
    return all(node.op == "Const" for node in nodes) and _same_attributes(
        nodes[0].attrs, nodes[1].attrs
    )


def _same_attributes(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        map(_same_value, one.values(), other.values())
    )


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.shape == other.shape
            and one.tobytes() == other.tobytes()
        )
    return one is other or (type(one) is type(other) and bool(one == other))
