"""The pass `known_shapes`: what follows from the shapes of a graph's inputs.

Before, of a graph whose input is ``float32[?,3]``, given the shape ``(2, 3)``::

    %1: int32[2] = Shape(%0)
    %2: int32[] = StridedSlice(%1, key=(0,))
    %3: float32[?,6] = Reshape(%x, %2, shape=(input1, 6), operands=1)
    %4: float32[?,6] = While(%3, ...)

After::

    %2: float32[2,6] = Reshape(%x, shape=(2, 6))
    %3: float32[2,6] = While(%2, ...)

Shapes are propagated by the rules that infer them while tracing, into branches and
loops. The state of a loop has first the shape that it starts with; dimensions in which
an iteration changes it become unknown, until an iteration changes nothing more. So what
an iteration leaves alone stays known. Afterwards attributes whose value is known are no
tensors any more, and ``Shape`` is a constant. Constant folding does the rest.

Exact: what is known of a tensor never contradicts what it will be, unless the node that
makes it fails. Such a node stays as it is, and fails when it runs. A tensor whose shape
alone was asked for is still computed if that could fail; but not for the sake of a
composite op, whose decomposition may ask for the shape alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError, OpError
from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import (
    CONTROL_FLOW,
    Editor,
    Tensors,
    bodies_of,
    nested_graphs,
    sweep,
)
from runtime.core.graph.prune import is_recursive_call
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import infer_specs
from runtime.ops.operands import Operand, map_operands
from runtime.ops.static import static_value
from runtime.passes.optimize.facts import can_drop

#: How often a loop is gone through until what is known of its state holds.
MAX_ROUNDS = 8


def specialise(graph: Graph, shapes: Sequence[Any]) -> None:
    """Give the inputs of a copy the shapes of one call.

    `shapes` has one for each input, partly known ones and None among them. Raises
    InvalidArgumentError for one that contradicts what the graph was traced for.
    """
    if len(shapes) != len(graph.inputs):
        raise InvalidArgumentError(
            f"{graph.name!r} has {len(graph.inputs)} inputs, not {len(shapes)}"
        )
    for tensor, shape in zip(graph.inputs, shapes):
        try:
            merged = tensor.shape.merge_with(shape)
        except ValueError as error:
            name = tensor.node.name
            raise InvalidArgumentError(f"{graph.name!r}: {name!r}: {error}") from None
        tensor._spec = _with_shape(tensor._spec, merged)


def known_shapes(graph: Graph) -> int:
    """Propagate shapes through a copy, and use what is known; gives what changed."""
    found = _Propagation()
    found.visit_graph(graph)
    changes = found.count_changes()
    for inner in nested_graphs(graph):
        for node in inner.nodes:
            changes += _fill_in(node, found.outer)
    return changes + sweep(graph, {"Shape": partial(_shape, outer=found.outer)})


def _with_shape(spec: TensorSpec, shape: TensorShape) -> TensorSpec:
    return TensorSpec(shape, spec.dtype, spec.name, weak=spec.weak)


# --- propagation ----------------------------------------------------------------------


class _Propagation:
    """One pass over a graph; bodies of loops may be gone through several times."""

    def __init__(self) -> None:
        #: What was known before, by the ids of tensors and nodes. What is found counts
        #: on shapes that may turn out to be wrong; it is found anew from these.
        self.specs: dict[int, tuple[SymbolicTensor, TensorSpec]] = {}
        self.attrs: dict[int, dict[str, Any]] = {}
        #: What inputs of graphs inside of others stand for, by their ids.
        self.outer: dict[int, Tensors] = {}

    def count_changes(self) -> int:
        """Of how many tensors more is known."""
        found = self.specs.values()
        return sum(tensor._spec.shape != spec.shape for tensor, spec in found)

    def visit_graph(self, graph: Graph) -> None:
        """Go through the nodes of a graph, the specs of whose inputs are known."""
        for node in graph.nodes:
            if node.op == "While":
                self._visit_loop(node)
            elif node.op in CONTROL_FLOW:
                if not is_recursive_call(node):
                    self._visit_branches(node)
            else:
                self._visit_node(node)

    def _tell(self, tensor: SymbolicTensor, shape: TensorShape) -> None:
        """Say what the shape of a tensor is, beside what was known before."""
        _, before = self.specs.setdefault(id(tensor), (tensor, tensor._spec))
        if before.shape.is_compatible_with(shape):
            shape = before.shape.merge_with(shape)
        else:
            shape = before.shape  # The node fails, if it runs.
        tensor._spec = before if shape == before.shape else _with_shape(before, shape)

    def _visit_node(self, node: Node) -> None:
        attrs = self.attrs.setdefault(id(node), node.attrs)
        if attrs.get("operands"):
            attrs = node.attrs = _with_known(node, attrs)
        try:
            specs = [tensor._spec for tensor in node.inputs]
            inferred = infer_specs(get(node.op), specs, attrs)
        except OpError:
            inferred = tuple([TensorSpec(None) for _ in node.outputs])
        found = inferred if isinstance(inferred, tuple) else (inferred,)
        for tensor, spec in zip(node.outputs, found):
            self._tell(tensor, spec.shape)

    def _visit_branches(self, node: Node) -> None:
        """`If`, `Case`, and calls."""
        offset = 0 if node.op == "PartitionedCall" else 1
        graphs = bodies_of(node)
        for graph in graphs:
            self._capture(node.inputs[offset:], graph.inputs)
            self.visit_graph(graph)
        for output, *results in zip(node.outputs, *[graph.outputs for graph in graphs]):
            self._tell(output, _common([tensor.shape for tensor in results]))

    def _capture(self, given: Tensors, inputs: Tensors) -> None:
        for outer, inner in zip(given, inputs):
            self.outer[id(inner)] = (outer,)
            self._tell(inner, outer.shape)

    def _visit_loop(self, node: Node) -> None:
        test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
        count = len(node.outputs)
        for graph in (test, body):
            self._capture(node.inputs[count:], graph.inputs[count:])
            for state in zip(graph.inputs, node.inputs, body.outputs):
                self.outer[id(state[0])] = state[1:]
        shapes = [tensor.shape for tensor in node.inputs[:count]]
        for number in range(MAX_ROUNDS):
            for tensor, shape in zip(body.inputs, shapes):
                self._tell(tensor, shape)
            self.visit_graph(body)
            after = [tensor.shape for tensor in body.outputs]
            wider = list(map(_common, zip(shapes, after)))
            if wider == shapes:
                break
            unknown = TensorShape(None)
            shapes = wider if number < MAX_ROUNDS - 2 else [unknown] * count
        for tensors in (test.inputs, node.outputs):
            for tensor, shape in zip(tensors, shapes):
                self._tell(tensor, shape)
        self.visit_graph(test)


def _common(shapes: Iterable[TensorShape]) -> TensorShape:
    """The narrowest shape that covers all of these."""
    found, *others = shapes
    for other in others:
        if other != found:
            found = found.most_specific_common_shape(other)
    return found


def _with_known(node: Node, attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a node, whose operands say what is known of them by now."""

    def updated(operand: Operand) -> Operand:
        known = _both(static_value(node.inputs[operand.index])[0], operand.known)
        return operand if known == operand.known else Operand(operand.index, known)

    return {key: map_operands(value, updated) for key, value in attrs.items()}


def _both(one: Any, other: Any) -> Any:
    """What two descriptions of a value know together."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(map(_both, one, other))
    return other if one is None else one


# --- using it -------------------------------------------------------------------------


def _fill_in(node: Node, outer: dict[int, Tensors]) -> int:
    """Put the values of operands into the attributes of a node, where they are known.

    The operand stays an input if computing it could fail.
    """
    count = node.attrs.get("operands", 0)
    if not count or node.op in CONTROL_FLOW:
        return 0
    first = len(node.inputs) - count
    values = [static_value(tensor) for tensor in node.inputs]
    inputs, numbers = list(node.inputs[:first]), {}
    for index, tensor in enumerate(node.inputs[first:], first):
        if not values[index][1] or not can_drop(tensor, outer):
            numbers[index] = len(inputs)
            inputs.append(tensor)

    def filled(operand: Operand) -> Any:
        value, complete = values[operand.index]
        return value if complete else Operand(numbers[operand.index], operand.known)

    attrs = {key: map_operands(value, filled) for key, value in node.attrs.items()}
    attrs["operands"] = len(inputs) - first
    if not attrs["operands"]:
        del attrs["operands"]
    if attrs == node.attrs:
        return 0
    try:
        infer_specs(get(node.op), [tensor._spec for tensor in inputs], attrs)
    except OpError:
        return 0  # It fails when it runs, if it does.
    node.attrs, node.inputs = attrs, tuple(inputs)
    return 1


def _shape(node: Node, editor: Editor, outer: dict[int, Tensors]) -> Tensors | None:
    """The shape of a tensor as a constant, also of one from outside of a loop."""
    (tensor,), (output,) = node.inputs, node.outputs
    if not tensor.shape.is_fully_defined() or not can_drop(tensor, outer):
        return None
    dims = tensor.shape.dims
    array = np.array(dims, output.dtype.np_dtype)
    if array.tolist() != dims:
        return None  # The op says that it does not fit.
    return (editor.constant(array, node, output._spec.weak),)
