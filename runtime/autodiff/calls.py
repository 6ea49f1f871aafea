"""The gradient of a call of a graph: another call, of a graph that goes backwards.

The backward graph is traced as a child of the forward graph. What it captures there is
what must be kept: the forward graph gives it as further results. Both are made once for
a graph and the inputs that need gradients, and run as other graphs do.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from runtime.autodiff.backprop import backprop, has_gradient
from runtime.autodiff.control_flow import (
    add_outputs,
    control_flow_rule,
    variables_in,
)
from runtime.autodiff.recursion import recursive_call
from runtime.autodiff.residuals import replace_tensors
from runtime.autodiff.sparse import dense
from runtime.core.errors import GradientError, InternalError
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.core.graph.editing import copy_graph, nested_graphs
from runtime.core.graph.recording import recorders, unrecorded
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types.identity import IdentityMap
from runtime.engines.door import compiled
from runtime.ops.apply import record
from runtime.ops.arrays.creation import zeros_like

Mask = tuple[bool, ...]


class Backward(NamedTuple):
    """A graph from gradients of results, and what was kept, to those of operands."""

    graph: Graph
    #: The tensors of the forward graph that it takes after the gradients.
    kept: tuple[SymbolicTensor, ...]
    #: Which of the operands it gives a gradient of.
    given: Mask


@dataclass
class Forward:
    """A graph that gives what its gradient needs, and the gradients made so far."""

    graph: Graph
    executable: Any = None
    #: Why it has no gradient.
    error: GradientError | None = None
    backward: dict[tuple[Mask, Mask], Backward] = field(default_factory=dict)
    #: The most operands and results for which all that is needed is given.
    full: tuple[Mask, Mask] = ((), ())

    def run(self, tensors: Sequence[Any]) -> list[EagerTensor]:
        """Run the graph on eager tensors."""
        if self.executable is None:
            self.executable = compiled(self.graph)
        results = self.executable(self.executable.inputs(tensors))
        return [self.executable.tensor(result) for result in results]

    def backward_for(self, wanted: Mask, seeded: Mask) -> Backward:
        """The backward graph from some results to some operands."""
        known = self.backward.get((wanted, seeded))
        if known is None:
            known = _trace_backward(self.graph, wanted, seeded)
            self.backward[wanted, seeded] = known
        return known


#: What was made of graphs: by the operands that need gradients, and whether these may
#: have gradients themselves.
_made: weakref.WeakKeyDictionary[Graph, dict[tuple[Mask, bool], Forward]]
_made = weakref.WeakKeyDictionary()

_captured: weakref.WeakKeyDictionary[Graph, list[EagerTensor]]
_captured = weakref.WeakKeyDictionary()


def captured_by(graph: Graph) -> list[EagerTensor]:
    """The eager tensors that are constants of a graph, or of one in it."""
    found = _captured.get(graph)
    if found is None:
        known = {id(t): t for inner in nested_graphs(graph) for t in inner.constants()}
        found = _captured[graph] = [t for t in known.values() if has_gradient(t)]
    return found


def run_call(graph: Graph, tensors: Sequence[Any]) -> list[Any]:
    """Run a graph on eager tensors, so that the open tapes have its gradient."""
    needed = [*tensors, *variables_in(graph)]
    tapes = recorders()
    for tensor in captured_by(graph):
        if any(tape.wants(tensor) for tape in tapes):
            raise GradientError(
                f"AG330: {graph.name}() was traced with {tensor!r} as a constant, so "
                "that it has no gradient by it: make it an argument, or a tf.Variable"
            )
    wanted = tuple([any(tape.wants(item) for tape in tapes) for item in needed])
    if not any(wanted):
        return _plain(graph).run(tensors)
    # A gradient that another tape hears of may be differentiated itself.
    repeated = sum(tape.repeats for tape in tapes) > 1
    made = _made.setdefault(graph, {})
    forward = made.get((wanted, repeated))
    if forward is None:
        try:
            forward = _with_kept(graph, wanted, repeated)
        except GradientError as error:
            # Perhaps nobody asks for it.
            forward = Forward(copy_graph(graph), error=error)
        made[wanted, repeated] = forward
        forward.graph.gradient_facts["forward"] = forward
    results = forward.run(tensors)
    record("PartitionedCall", tensors, {"graph": forward.graph}, results)
    return results[: len(graph.outputs)]


def _plain(graph: Graph) -> Forward:
    facts = graph.gradient_facts
    if "forward" not in facts:
        facts["forward"] = Forward(graph)
    found: Forward = facts["forward"]
    return found


def _with_kept(graph: Graph, wanted: Mask, repeated: bool) -> Forward:
    """A copy of a graph that also gives what its gradients need."""
    copy = copy_graph(graph)
    forward = Forward(copy)
    for _ in range(_ROUNDS):
        seeded = tuple([has_gradient(tensor) for tensor in copy.outputs])
        found = _trace_backward(copy, wanted, seeded)
        places = {id(tensor) for tensor in (*copy.inputs, *copy.outputs)}
        missing = [tensor for tensor in found.kept if id(tensor) not in places]
        copy.outputs += missing
        if not missing or not repeated:
            break
    else:
        raise InternalError(f"what gradients need of {graph.name!r} does not settle")
    seeded = (*seeded, *[False] * (len(copy.outputs) - len(seeded)))
    forward.full = wanted, seeded
    forward.backward[forward.full] = found
    return forward


#: How often a graph may be given what the gradient of its gradient needs.
_ROUNDS = 20


def kept_by(graph: Graph, wanted: Mask) -> tuple[Graph, list[SymbolicTensor]]:
    """The forward graph of a call under a tape, and what it keeps: its further outputs.

    `wanted` says which of its inputs and variables need gradients.
    """
    forward = _with_kept(graph, wanted, repeated=False).graph
    return forward, forward.outputs[len(graph.outputs) :]


def _trace_backward(graph: Graph, wanted: Mask, seeded: Mask) -> Backward:
    """The backward graph, as a child of the forward graph until it is finished."""
    needed = [*graph.inputs, *variables_in(graph)]
    sources = [item for item, is_wanted in zip(needed, wanted) if is_wanted]
    back = Graph(f"{graph.name}_gradient", parent=graph)
    back.executor = graph.executor
    with unrecorded(), building(back):
        seeds: dict[int, Any] = {}
        for tensor, is_seeded in zip(graph.outputs, seeded):
            if is_seeded:
                seed = back.add_input(tensor.spec, "gradient")
                known = seeds.get(id(tensor))
                seeds[id(tensor)] = seed if known is None else known + seed
        found = [dense(g) for g in backprop(graph.nodes, seeds, sources)]
        back.outputs = [back.capture(g) for g in found if g is not None]
    results = iter(found)
    given = tuple([bool(w) and next(results) is not None for w in wanted])
    return Backward(back, closed(back), given)


def closed(back: Graph) -> tuple[SymbolicTensor, ...]:
    """Make a child of a graph a graph of its own, with further inputs: gives those.

    Constants of the other graph become its own.
    """
    kept: list[SymbolicTensor] = []
    copies: dict[int, SymbolicTensor] = {}
    nodes, back.nodes = back.nodes, []
    for outer, inner in back.captures.items():
        assert isinstance(outer, SymbolicTensor)
        if outer.node.op == "Const":
            (copy,) = back.add("Const", (), outer.node.attrs, (outer.spec,))
            copies[id(inner)] = copy
        else:
            kept.append(outer)
    back.inputs = [tensor for tensor in back.inputs if id(tensor) not in copies]
    back.nodes += nodes
    replace_tensors(back, copies)
    back.parent = None
    back.captures = IdentityMap()
    return tuple(kept)


@control_flow_rule("PartitionedCall")
def _call(step: Any, gradients: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Any]:
    graph: Graph = step.attrs["graph"]
    if graph.is_recursive:
        return recursive_call(step, gradients, wanted)
    forward: Forward | None = graph.gradient_facts.get("forward")
    if step.graph is not None:
        forward = _of_node(step)
        graph = forward.graph
        gradients = [*gradients, *[None] * (len(graph.outputs) - len(gradients))]
    if forward is None:
        raise InternalError(f"what the gradient of {graph.name!r} needs was not kept")
    if forward.error is not None:
        raise forward.error
    seeded = tuple([gradient is not None for gradient in gradients])
    backward = forward.backward_for(tuple(wanted), seeded)
    places = {id(t): value for t, value in zip(graph.outputs, step.outputs)}
    places.update({id(t): value for t, value in zip(graph.inputs, step.inputs)})
    missing = [tensor for tensor in backward.kept if id(tensor) not in places]
    if missing and step.graph is None:
        # From some results alone it needs what it does not need from all of them.
        gradients = [
            zeros_like(output) if is_seeded and gradient is None else gradient
            for gradient, output, is_seeded in zip(
                gradients, step.outputs, forward.full[1]
            )
        ]
        backward = forward.backward[forward.full]
    elif missing:
        places.update(_keep_more(step, forward, missing))
    tensors = [gradient for gradient in gradients if gradient is not None]
    tensors += [places[id(tensor)] for tensor in backward.kept]
    results = iter(run(backward.graph, tensors))
    return [next(results) if is_given else None for is_given in backward.given]


def run(graph: Graph, tensors: Sequence[Any]) -> Sequence[Any]:
    """What a graph gives for tensors: at once, or as a node."""
    outer = current_graph()
    if outer is None:
        return run_call(graph, tensors)
    specs = [tensor.spec for tensor in graph.outputs]
    return outer.add("PartitionedCall", tensors, {"graph": graph}, specs, graph.name)


def _of_node(node: Any) -> Forward:
    """The forward graph of a node: a copy that is the node's own."""
    graph = node.attrs["graph"]
    # A forward graph that belongs to one node, which has not run.
    known: Forward | None = graph.gradient_facts.get("own")
    if known is None:
        known = Forward(copy_graph(graph))
        node.attrs = {**node.attrs, "graph": known.graph}
        known.graph.gradient_facts["own"] = known
    return known


def _keep_more(
    node: Any, forward: Forward, missing: Sequence[SymbolicTensor]
) -> dict[int, Any]:
    """Have a node give further tensors of its graph."""
    forward.graph.outputs += missing
    added = add_outputs(node, [tensor.spec for tensor in missing])
    return {id(tensor): output for tensor, output in zip(missing, added)}
