"""Functions on elements as functions on blocks of them.

A function of elementwise operations gives for stacked elements the stacked results: the
same graph does for a whole block, with a first axis more. That is so where no operation
can fail or has an effect, since then nobody can tell when it runs, and where operands
that are stacked have as many axes as the result: NumPy fits axes from the last one on.
"""

from __future__ import annotations

from collections.abc import Callable

from runtime.core.graph import Graph, Node
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.core.types.specs import TensorSpec
from runtime.data.structure import Element
from runtime.engines.numpy_source.executable import compile_graph
from runtime.ops.apply import as_array
from runtime.passes.optimize import chosen_passes, optimize
from runtime.passes.optimize.facts import cannot_fail


def vectorized(graph: Graph) -> Callable[[Element], Element] | None:
    """The function of a graph on stacked elements; None where it must run singly."""
    made = Graph(graph.name)
    tensors: IdentityMap[SymbolicTensor, SymbolicTensor] = IdentityMap()
    for tensor in graph.inputs:
        if not tensor.shape.is_fully_defined() or tensor.dtype.kind == "O":
            return None
        tensors[tensor] = made.add_input(_stacked(tensor), tensor.node.name)
    stacked = IdentitySet(graph.inputs)
    for node in graph.nodes:
        if not _is_safe(node):
            return None
        inside = [tensor for tensor in node.inputs if tensor in stacked]
        rank = node.outputs[0].shape.rank
        if any(tensor.shape.rank != rank for tensor in inside):
            return None
        specs = [_stacked(t) if inside else t.spec for t in node.outputs]
        inputs = [tensors[tensor] for tensor in node.inputs]
        outputs = made.add(node.op, inputs, node.attrs, specs, node.name)
        tensors.update(zip(node.outputs, outputs))
        if inside:
            stacked.update(node.outputs)
    # A block of elements without components does not say how many they are.
    if not graph.outputs or not stacked >= IdentitySet(graph.outputs):
        return None
    made.outputs = [tensors[tensor] for tensor in graph.outputs]
    executable = compile_graph(optimize(made, chosen_passes()))
    executable.graph = made
    return lambda arrays: tuple(map(as_array, executable(arrays)))


def _is_safe(node: Node) -> bool:
    """Whether the node computes elements from those in their place, and never fails."""
    shapes = [tensor.shape for tensor in (*node.inputs, *node.outputs)]
    if not all(shape.is_fully_defined() for shape in shapes):
        return False
    if node.op in ("Const", "Identity"):
        return True
    if node.op == "Cast":
        # What a NaN becomes as an integer depends on where it lies in an array.
        source, target = node.inputs[0].dtype, node.outputs[0].dtype
        if source.is_floating and not target.is_floating:
            return False
    op = get(node.op)
    has_effect = op.stateful or op.is_own or "operands" in node.attrs
    return op.family == "elementwise" and not has_effect and cannot_fail(node)


def _stacked(tensor: SymbolicTensor) -> TensorSpec:
    spec = tensor.spec
    return TensorSpec([None, *spec.shape], spec.dtype, spec.name, weak=spec.weak)
