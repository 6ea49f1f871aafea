"""The gradient of `If` and `Case`: a branch goes back where a branch was taken.

What a branch keeps is a further output of the forward node. The other branches, which
have no such value, give zeros in its place, that nobody reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from runtime.autodiff.backprop import backprop, has_gradient
from runtime.autodiff.control_flow import add_outputs, control_flow_rule, operands
from runtime.autodiff.residuals import Residuals, replace_tensors
from runtime.autodiff.shapes import empty_of, fit, plain_spec
from runtime.autodiff.sparse import added, dense
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.core.graph.recording import unrecorded
from runtime.core.tensor import SymbolicTensor
from runtime.ops.gradient_shapes import zeros_of
from runtime.staging.tracing.subgraph import emit_case, emit_if


@control_flow_rule("If", "Case")
def _branches(
    node: Any, gradients: Sequence[Any], wanted: Sequence[bool]
) -> Sequence[Any]:
    graph = current_graph()
    assert graph is not None
    # In the branches an eager one would be a constant behind what uses it.
    gradients = [None if g is None else graph.capture(g) for g in gradients]
    branches = _graphs(node)
    needed = operands(node)
    places = [place for place, is_wanted in enumerate(wanted) if is_wanted and place]
    traced = [
        _trace(branch, gradients, [_source(node, branch, needed, p) for p in places])
        for branch in branches
    ]
    given = [
        any(found[n] is not None for _, found in traced) for n in range(len(places))
    ]
    places = [place for place, is_given in zip(places, given) if is_given]
    results: list[Any] = [None] * len(wanted)
    if not places:
        return results
    for branch, (back, found) in zip(branches, traced):
        kept = [gradient for gradient, is_given in zip(found, given) if is_given]
        with unrecorded(), building(back):
            back.outputs = [
                back.capture(
                    zeros_of(_source(node, branch, needed, p)) if g is None else g
                )
                for p, g in zip(places, kept)
            ]
        _settle(node, branch, back, gradients, graph)
    graphs = [back for back, _ in traced]
    emitted: Sequence[Any]
    if node.op == "If":
        emitted = emit_if(node.inputs[0], graphs[0], graphs[1])
    else:
        emitted = emit_case(node.inputs[0], graphs)
    for place, gradient in zip(places, emitted):
        results[place] = fit(gradient, needed[place])
    return results


def _graphs(node: Any) -> list[Graph]:
    return [graph for _, graph in node.subgraphs()]


def _input(node: Any, place: int) -> Any:
    """What an input of a branch is outside."""
    return node.inputs[1 + place]


def _source(node: Any, branch: Graph, needed: Sequence[Any], place: int) -> Any:
    """What a branch has of an operand of its node: an input, or the variable."""
    if place < len(node.inputs):
        return branch.inputs[place - 1]
    return needed[place]


def _trace(
    branch: Graph, gradients: Sequence[Any], sources: Sequence[Any]
) -> tuple[Graph, list[Any]]:
    """The graph back through a branch, without outputs, and the gradients it finds.

    Its inputs are the gradients of the outputs, where there are any.
    """
    back = Graph(f"{branch.name}_gradient", parent=branch)
    with unrecorded(), building(back):
        seeds: dict[int, Any] = {}
        for tensor, gradient in zip(branch.outputs, gradients):
            if gradient is not None and has_gradient(tensor):
                seed = back.add_input(plain_spec(gradient), "gradient")
                seed = fit(seed, tensor)
                known = seeds.get(id(tensor))
                seeds[id(tensor)] = (
                    seed if known is None else added(known, seed, tensor)
                )
        found = [
            None if gradient is None else dense(gradient)
            for gradient in backprop(branch.nodes, seeds, sources)
        ]
    return back, found


def _settle(
    node: Any, branch: Graph, back: Graph, gradients: Sequence[Any], graph: Graph
) -> None:
    """Move the graph of a branch beside the forward node's, or into one below it."""
    residuals = Residuals(back)
    for place, tensor in enumerate(branch.inputs):
        residuals.provide(tensor, partial(_input, node, place))
    kept = residuals.missing()
    outputs = _keep(node, branch, kept)
    for tensor in kept:
        residuals.provide(tensor, partial(outputs.__getitem__, id(tensor)))
    seeds = back.inputs
    back.inputs = []
    residuals.settle(graph)
    given = [
        gradient
        for tensor, gradient in zip(branch.outputs, gradients)
        if gradient is not None and has_gradient(tensor)
    ]
    found = {}
    with unrecorded(), building(back):
        for seed, gradient in zip(seeds, given):
            found[id(seed)] = back.capture(gradient)
    replace_tensors(back, found)


def _keep(
    node: Any, branch: Graph, tensors: Sequence[SymbolicTensor]
) -> dict[int, SymbolicTensor]:
    """Have a node give tensors of a branch."""
    # The outputs of the node, by the ``id`` of the tensor of the branch.
    known: dict[int, SymbolicTensor]
    known = branch.gradient_facts.setdefault("kept", {})
    known.update((id(t), node.outputs[i]) for i, t in enumerate(branch.outputs))
    missing = [tensor for tensor in tensors if id(tensor) not in known]
    if missing:
        specs = [plain_spec(tensor) for tensor in missing]
        for graph in _graphs(node):
            with unrecorded(), building(graph):
                more = missing if graph is branch else [empty_of(t) for t in missing]
                graph.outputs = [*graph.outputs, *map(graph.capture, more)]
        added = add_outputs(node, specs)
        known.update((id(t), output) for t, output in zip(missing, added))
    return known
