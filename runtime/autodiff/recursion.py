"""The gradient of a graph that calls itself: another graph that calls itself.

::

    def f(x):                          def back(x, g):
        if test(x):                        if test(x):
            return h(f(k(x)))      →           dx = back(k(x), dh(f(k(x)), g))
        return x                               return dk(x, dx)
                                           return g

How deep the calls go is known to the run alone, so nothing is kept of them: each call
of ``back`` computes again what its gradient needs. So the graph may have no effects,
and the values that variables have in front of the call are passed to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from runtime.autodiff.backprop import backprop, has_gradient
from runtime.autodiff.control_flow import operands
from runtime.autodiff.residuals import replace_tensors
from runtime.autodiff.shapes import fit, plain_spec
from runtime.autodiff.sparse import added, dense
from runtime.autodiff.stacks import value_in_front_of
from runtime.core.errors import GradientError
from runtime.core.graph import Graph, Node, record
from runtime.core.graph.context import building, current_graph
from runtime.core.graph.editing import copy_graph, nested_graphs
from runtime.core.graph.recording import unrecorded
from runtime.ops.gradient_shapes import zeros_of

Mask = tuple[bool, ...]


def recursive_call(
    node: Node, gradients: Sequence[Any], wanted: Sequence[bool]
) -> list[Any]:
    """The gradients of the operands of a call of a graph that calls itself."""
    graph: Graph = node.attrs["graph"]
    _check(node, graph)
    variables = operands(node)[len(node.inputs) :]
    values = [value_in_front_of(node, variable) for variable in variables]
    seeds = [
        zeros_of(output) if gradient is None else fit(gradient, output)
        for gradient, output in zip(gradients, node.outputs)
        if has_gradient(output)
    ]
    found = _gradient_of(_without_reads(graph, variables), tuple(wanted))
    inputs = [*node.inputs, *values]
    specs = [plain_spec(x) for x, is_given in zip(inputs, found.given) if is_given]
    current = current_graph()
    assert current is not None
    name = found.back.name
    attrs = {"graph": found.back}
    results = iter(
        current.add("PartitionedCall", [*inputs, *seeds], attrs, specs, name)
    )
    return [next(results) if is_given else None for is_given in found.given]


def _check(node: Node, graph: Graph) -> None:
    """Raise GradientError for a graph that cannot run again, or is not complete."""
    if len(graph.outputs) < len(node.outputs):
        raise GradientError(
            f"AG330: the gradient of {graph.name!r}, which calls itself as a tensor "
            "decides, is asked for within itself; ask outside of the function"
        )
    for inner in nested_graphs(graph):
        for step in inner.nodes:
            op = record.get(step.op)
            is_read = op.family in ("check", "buffer") or op.name == "ReadVariableOp"
            if (op.stateful and not is_read) or op.calls_python:
                place = step.location
                start = f"{place[0]}:{place[1]}: " if place else ""
                raise GradientError(
                    f"{start}AG330: {graph.name!r} calls itself as a tensor decides, "
                    f"so that its gradient computes it again; {op.name} has effects, "
                    "or gives something else each time: do that outside, or write a "
                    "loop"
                )


# --- the backward graph ---------------------------------------------------------------


class _Gradient:
    """The backward graph of a graph, for some of its inputs."""

    def __init__(self, graph: Graph, wanted: Mask, given: Mask) -> None:
        self.graph = graph
        self.wanted = wanted
        #: Which of the inputs it has a gradient of.
        self.given = given
        #: Which inputs the calls in it need the gradients of.
        self.asked = wanted
        self.back = _copied(graph)
        #: The gradients of other graphs that were made on the way, and call this one.
        self.inner: dict[tuple[Graph, Mask], _Gradient] = {}

    def trace(self) -> Mask:
        """Trace the backward graph; gives the inputs that it found a gradient of."""
        back, count = self.back, len(self.graph.inputs)
        with unrecorded(), building(back):
            seeds: dict[int, Any] = {}
            for output in back.outputs:
                if has_gradient(output):
                    seed = back.add_input(plain_spec(output), "gradient")
                    known = seeds.get(id(output))
                    seeds[id(output)] = (
                        seed if known is None else added(known, seed, output)
                    )
            pairs = list(zip(back.inputs[:count], self.wanted))
            sources = [source for source, is_wanted in pairs if is_wanted]
            found = iter(backprop(list(back.nodes), seeds, sources))
            results = [next(found) if is_wanted else None for _, is_wanted in pairs]
            back.outputs = [
                back.capture(fit(dense(result), source))
                for result, (source, _) in zip(results, pairs)
                if result is not None
            ]
        return tuple([result is not None for result in results])


_in_progress: ContextVar[tuple[_Gradient, ...]] = ContextVar("gradients", default=())


def _gradient_of(graph: Graph, wanted: Mask) -> _Gradient:
    """The gradient of a graph, which may be that which is being traced.

    Which inputs have a gradient, and which of them the calls need, is found by tracing
    until that stays.
    """
    around = _in_progress.get()
    made: dict[tuple[Graph, Mask], _Gradient]
    made = graph.gradient_facts.setdefault("recursive", {})
    for level in around:
        if level.graph is graph:
            level.asked = _either(level.asked, wanted)
            return level
        made = {**made, **level.inner}
    key = graph, wanted
    given: Mask = (False,) * len(wanted)
    while key not in made:
        level = _Gradient(graph, wanted, given)
        with _tracing(level):
            found = level.trace()
        if (level.asked, found) == (wanted, given):
            known = around[-1].inner if around else graph.gradient_facts["recursive"]
            made[key] = known[key] = level
        wanted, given = level.asked, _either(given, found)
    return made[key]


def _either(one: Sequence[bool], other: Sequence[bool]) -> Mask:
    return tuple([a or b for a, b in zip(one, other)])


@contextmanager
def _tracing(level: _Gradient) -> Iterator[None]:
    token = _in_progress.set((*_in_progress.get(), level))
    try:
        yield
    finally:
        _in_progress.reset(token)


def _copied(graph: Graph) -> Graph:
    """A copy of a graph, in which it is still the graph itself that is called."""
    copy = copy_graph(graph)
    copy.name = f"{graph.name}_gradient"
    for inner in list(nested_graphs(copy)):
        for node in inner.nodes:
            if node.attrs.get("graph") is copy:
                node.attrs = {**node.attrs, "graph": graph}
    return copy


# --- variables ------------------------------------------------------------------------


def _without_reads(graph: Graph, variables: Sequence[Any]) -> Graph:
    """A copy of a graph that has the values of variables as further inputs."""
    if not variables:
        return graph
    known: Graph | None = graph.gradient_facts.get("without reads")
    if known is None:
        known = graph.gradient_facts["without reads"] = copy_graph(graph)
        for inner in list(nested_graphs(known)):
            if inner.is_recursive:
                _pass_values(inner, variables)
    return known


def _pass_values(graph: Graph, variables: Sequence[Any]) -> None:
    """Give a graph, and those in it, inputs in the place of what they read."""
    places = {id(variable): place for place, variable in enumerate(variables)}
    values = [graph.add_input(plain_spec(v), "value") for v in variables]
    found: dict[int, Any] = {}
    for node in graph.nodes:
        bodies = [inner for _, inner in node.subgraphs()]
        if node.op == "ReadVariableOp":
            place = places[id(node.attrs["variable"])]
            found[id(node.outputs[0])] = values[place]
        elif bodies:
            node.inputs = (*node.inputs, *values)
        for inner in bodies:
            if not inner.is_recursive:
                _pass_values(inner, variables)
    graph.nodes = [node for node in graph.nodes if node.op != "ReadVariableOp"]
    replace_tensors(graph, found)
