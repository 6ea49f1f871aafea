"""Common subexpressions: what has been computed already is not computed again.

Before::                               After::

    %1 = Exp(%0)                           %1 = Exp(%0)
    %2 = Exp(%0)                           %2 = AddV2(%1, %1)
    %3 = AddV2(%1, %2)                     %3 = If(%t, %1)
    %4 = If(%t, %0)                            then_graph(%0 captured):
        then_graph(%0 captured):                 return %0
          %1 = Exp(%0)
          return %1

Exact: of two nodes of the same op, inputs and attributes the second one gives what the
first gave, and would fail only where that has failed before. A branch or a loop takes
over what is computed in front of it; nothing is moved out of a branch. Ops with effects
are never shared, nor are random ones and the buffers of arrays that are being filled.
A variable is read once in a graph until something may assign it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import (
    CONTROL_FLOW,
    Editor,
    add_captures,
    bodies_of,
    first_captured,
)
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.dtypes import DType
from runtime.passes.optimize.facts import is_pure
from runtime.passes.optimize.loop_rewrites import assigned_in

#: Larger constants are told apart by identity.
MAX_BYTES = 1 << 12


def duplicates(graph: Graph) -> int:
    """Replace nodes by earlier ones that give the same."""
    return _Search(set()).go_through(graph)


class _Search:
    """The nodes of one graph and of the graphs around it, up to a call."""

    def __init__(self, seen: set[Graph]) -> None:
        self.seen = seen
        #: What is known in each graph, the innermost last: keys to outputs.
        self.known: list[dict[Any, tuple[SymbolicTensor, ...]]] = []
        #: For each of these but the last, the node that the next one belongs to.
        self.path: list[Node] = []
        #: Which of the graphs of these nodes it is.
        self.places: list[int] = []
        #: The tensor of an outer graph that a captured input stands for, by `id`.
        self.stands_for: dict[int, int] = {}
        #: Keeps all tensors alive whose `id` is in use.
        self.nodes: list[Node] = []

    def go_through(self, graph: Graph) -> int:
        """Go through a graph and all graphs in it; how many nodes are gone."""
        if graph.is_recursive:
            if graph in self.seen:
                return 0
            self.seen.add(graph)
        self.known.append({})
        editor = Editor(graph)
        self.nodes += graph.nodes
        #: What variables hold, by their `id`.
        reads: dict[int, tuple[SymbolicTensor, ...]] = {}
        total = 0
        for node in graph.nodes:
            if editor.replaced:
                node.inputs = editor.resolve(node.inputs)
            values = None
            if node.op in CONTROL_FLOW:
                total += self._go_into(node)
            elif is_pure(node):
                values = self._find(node)
            elif node.op == "ReadVariableOp":
                values = _read(node, reads)
            if values is not None:
                editor.replace(node.outputs, values)
                continue
            if reads:
                _forget_assigned(node, reads)
            editor.nodes.append(node)
        if editor.changes:
            graph.nodes = editor.nodes
            graph.outputs = list(editor.resolve(graph.outputs))
        self.known.pop()
        return total + editor.changes

    def _go_into(self, node: Node) -> int:
        if node.op == "PartitionedCall":
            return _Search(self.seen).go_through(node.attrs["graph"])
        self.path.append(node)
        first, offset = first_captured(node), 0 if node.op == "While" else 1
        total = 0
        for place, graph in enumerate(bodies_of(node)):
            self.places.append(place)
            captured = graph.inputs[first - offset :]
            for tensor, inner in zip(node.inputs[first:], captured):
                self.nodes.append(inner.node)
                self.stands_for[id(inner)] = self._id(tensor)
            total += self.go_through(graph)
            self.places.pop()
        self.path.pop()
        return total

    def _id(self, tensor: SymbolicTensor) -> int:
        return self.stands_for.get(id(tensor), id(tensor))

    def _find(self, node: Node) -> tuple[SymbolicTensor, ...] | None:
        """The outputs that are there already; else those of the node are, from now."""
        stands_for = self.stands_for
        inputs = [stands_for.get(id(x), id(x)) for x in node.inputs]
        if get(node.op).is_symmetric and node.inputs[0].dtype.kind in "iub":
            inputs.sort()  # of two NaNs NumPy gives the first one
        attrs = node.attrs
        static = [(key, _frozen(attrs[key])) for key in attrs] if attrs else ()
        key = (node.op, node.device, *inputs, *static)
        here = self.known[-1]
        found = here.get(key)
        if found is None:
            found = self._find_outside(key, node)
        if found is None:
            here[key] = node.outputs
        return found

    def _find_outside(self, key: Any, node: Node) -> tuple[SymbolicTensor, ...] | None:
        for level in range(len(self.known) - 2, -1, -1):
            found = self.known[level].get(key)
            if found is not None:
                if node.op == "Const":
                    # It stays: only what is computed from it may be there already.
                    stands_for = self._id(found[0])
                    self.stands_for[id(node.outputs[0])] = stands_for
                    return None
                return self._bring_in(key, found, level)
        return None

    def _bring_in(
        self, key: Any, tensors: tuple[SymbolicTensor, ...], level: int
    ) -> tuple[SymbolicTensor, ...]:
        """What stands for tensors of an outer graph in the innermost one."""
        for depth in range(level, len(self.path)):
            node = self.path[depth]
            captured = add_captures(node, tensors)
            for tensor, inputs in zip(tensors, captured):
                for inner in inputs:
                    self.nodes.append(inner.node)
                    self.stands_for[id(inner)] = self._id(tensor)
            place = self.places[depth]
            tensors = tuple([inputs[place] for inputs in captured])
            self.known[depth + 1][key] = tensors
        return tensors


def _read(
    node: Node, reads: dict[int, tuple[SymbolicTensor, ...]]
) -> tuple[SymbolicTensor, ...] | None:
    """What was read before; else it is what this node reads, from now."""
    key = id(node.attrs["variable"])
    found = reads.get(key)
    if found is None or found[0].shape != node.outputs[0].shape:
        reads[key] = node.outputs
        return None
    return found


def _forget_assigned(node: Node, reads: dict[int, Any]) -> None:
    """Forget what variables hold that a node may assign."""
    if node.op in CONTROL_FLOW:
        assigned = assigned_in(bodies_of(node))
    elif get(node.op).calls_python:
        assigned = None
    elif "variable" in node.attrs and node.op != "ReadVariableOp":
        assigned = {id(node.attrs["variable"])}
    else:
        return
    for key in list(reads) if assigned is None else assigned & reads.keys():
        del reads[key]


def _frozen(value: Any) -> Any:
    """An attribute as a key: equal for what no kernel can tell apart."""
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is str or kind is DType:
        return kind, value
    if kind is float:
        return kind, repr(value)  # 0.0 == -0.0
    if kind is np.ndarray and value.nbytes <= MAX_BYTES and value.dtype.kind != "O":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return kind, *map(_frozen, value)
    return id(value)
