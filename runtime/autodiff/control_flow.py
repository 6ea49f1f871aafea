"""The gradients of ops with graphs in them, one rule for each.

``rule(step, gradients, wanted)`` is given the step (of a tape) or node, a gradient or
None for each output, and which of `operands` need one: the inputs of the step, then the
variables that its graphs read. It gives as many gradients. It applies operations to the
graph being built, and may add outputs to the node and its graphs: what runs forwards
has not run yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.recording import recorders
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.specs import TensorSpec

Rule = Callable[[Any, Sequence[Any], Sequence[bool]], Sequence[Any]]

RULES: dict[str, Rule] = {}


def control_flow_rule(*ops: str) -> Callable[[Rule], Rule]:
    """Make the decorated function the rule of `ops`."""

    def add(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, rule))
        return rule

    return add


def operands(step: Any) -> Sequence[Any]:
    """What a step depends on: its inputs, and variables that it reads."""
    if step.op == "ReadVariableOp":
        return (step.attrs["variable"],)
    if step.op == "CustomGradient":
        return (*step.inputs, *step.attrs["rule"].variables)
    if step.op not in ("If", "Case", "While", "PartitionedCall"):
        inputs: Sequence[Any] = step.inputs
        return inputs
    graphs = [g for value in step.attrs.values() for g in _graphs(value)]
    found: dict[int, Any] = {}
    seen: set[int] = set()
    for graph in graphs:
        for variable in _read_in(graph, seen):
            found.setdefault(id(variable), variable)
    return (*step.inputs, *found.values())


def add_outputs(node: Node, specs: Iterable[TensorSpec]) -> list[SymbolicTensor]:
    """Give a node further outputs; the graphs in it are the caller's matter.

    Tapes that know of the node know these, too.
    """
    graph, added = node.graph, []
    for place, spec in enumerate(specs, len(node.outputs)):
        added.append(graph.tensor_type(graph, node, place, spec))
    for recorder in recorders():
        recorder.extended(node, added)
    node.outputs = (*node.outputs, *added)
    return added


def variables_in(graph: Graph) -> list[Any]:
    """The variables that a graph reads, and those that graphs in it read."""
    return list({id(v): v for v in _read_in(graph, set())}.values())


def _read_in(graph: Graph, seen: set[int]) -> Iterator[Any]:
    if id(graph) in seen:
        return
    seen.add(id(graph))
    for node in graph.nodes:
        if node.op == "ReadVariableOp":
            yield node.attrs["variable"]
        for _, inner in node.subgraphs():
            yield from _read_in(inner, seen)


def _graphs(value: Any) -> list[Graph]:
    if isinstance(value, Graph):
        return [value]
    if isinstance(value, (tuple, list)):
        return [item for item in value if isinstance(item, Graph)]
    return []
