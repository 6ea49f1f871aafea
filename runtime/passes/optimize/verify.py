"""The rules that every graph keeps, checked: for tests, and after rewrites of graphs.

>>> from runtime.core.graph import Graph
>>> verify(Graph("empty"))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runtime.core.errors import InternalError, OpError
from runtime.core.graph import Graph, Node
from runtime.core.graph.prune import CONTROL_FLOW
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentitySet
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import infer_specs


def verify(graph: Graph) -> None:
    """Raise InternalError with all that is wrong with the graph and its sub-graphs."""
    found = list(problems(graph))
    if found:
        listed = "\n  ".join(found)
        raise InternalError(f"the graph {graph.name!r} is not well formed:\n  {listed}")


def problems(graph: Graph) -> Iterator[str]:
    """What is wrong with a graph, one sentence for each fault."""
    return _problems(graph, set())


def _problems(graph: Graph, seen: set[Graph]) -> Iterator[str]:
    seen.add(graph)
    known: IdentitySet[SymbolicTensor] = IdentitySet()
    names: set[str] = set()
    for tensor in graph.inputs:
        if tensor.graph is not graph or tensor.node.op != "Placeholder":
            yield f"the input {tensor.name!r} is no placeholder of the graph"
        known.add(tensor)
        names.add(tensor.node.name)
    yield from _capture_problems(graph)
    for node in graph.nodes:
        if node.name in names:
            yield f"two nodes are called {node.name!r}"
        names.add(node.name)
        for tensor in node.inputs:
            if tensor not in known:
                yield f"{node.name!r} uses {tensor.name!r} before it is computed"
        for index, tensor in enumerate(node.outputs):
            if (tensor.graph, tensor.node, tensor.value_index) != (graph, node, index):
                yield f"output {index} of {node.name!r} does not know its place"
            known.add(tensor)
        yield from _node_problems(node)
        for label, subgraph in node.subgraphs():
            if subgraph.parent is not graph and node.op != "PartitionedCall":
                yield f"{label} of {node.name!r} has another parent"
            if subgraph in seen and subgraph.is_recursive:
                continue
            for problem in _problems(subgraph, seen):
                yield f"{label} of {node.name!r}: {problem}"
    for tensor in graph.outputs:
        if tensor not in known:
            yield f"the output {tensor.name!r} is not computed"


def _capture_problems(graph: Graph) -> Iterator[str]:
    count = len(graph.captures)
    last = graph.inputs[len(graph.inputs) - count :]
    if any(a is not b for a, b in zip(last, graph.captures.values())):
        yield "the captures are not the last inputs"
    for outer, inner in graph.captures.items():
        if isinstance(outer, SymbolicTensor) and outer.graph is not graph.parent:
            yield f"the capture {outer.name!r} is not of the parent"
        if not _takes(inner.spec, outer.spec):
            yield f"the capture {inner.name!r} has another spec than {outer.spec!r}"


def _node_problems(node: Node) -> Iterator[str]:
    specs = [tensor.spec for tensor in node.inputs]
    if node.op in ("If", "Case"):
        yield from _branch_problems(node, specs)
    elif node.op == "While":
        yield from _loop_problems(node, specs)
    elif node.op == "PartitionedCall":
        graph = node.attrs["graph"]
        yield from _fit(node, "argument", specs, graph.inputs)
        yield from _fit(node, "result", [t.spec for t in graph.outputs], node.outputs)
    elif node.op not in CONTROL_FLOW:
        yield from _plain_problems(node, specs)


def _plain_problems(node: Node, specs: Sequence[TensorSpec]) -> Iterator[str]:
    try:
        inferred = infer_specs(get(node.op), specs, node.attrs)
    except OpError as error:
        yield f"{node.name!r}: {error}"
        return
    expected = inferred if isinstance(inferred, tuple) else (inferred,)
    if len(expected) != len(node.outputs):
        yield f"{node.name!r} has {len(node.outputs)} outputs, not {len(expected)}"
    for spec, tensor in zip(expected, node.outputs):
        if not spec.is_compatible_with(tensor):
            yield (
                f"{tensor.name!r} is said to be {tensor.spec.describe()}, but "
                f"{node.op} gives {spec.describe()}"
            )


def _branch_problems(node: Node, specs: Sequence[TensorSpec]) -> Iterator[str]:
    if node.op == "If" and not (specs[0].dtype.is_bool and specs[0].rank in (0, None)):
        yield f"the condition of {node.name!r} is {specs[0].describe()}"
    for label, graph in node.subgraphs():
        yield from _fit(node, f"input of {label}", specs[1:], graph.inputs)
        found = [tensor.spec for tensor in graph.outputs]
        yield from _fit(node, f"output of {label}", found, node.outputs)


def _loop_problems(node: Node, specs: Sequence[TensorSpec]) -> Iterator[str]:
    test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
    for label, graph in (("cond_graph", test), ("body_graph", body)):
        yield from _fit(node, f"input of {label}", specs, graph.inputs)
    if len(test.outputs) != 1 or not test.outputs[0].dtype.is_bool:
        yield f"the test of {node.name!r} does not give one bool"
    after = [tensor.spec for tensor in body.outputs]
    yield from _fit(node, "state after the body", after, body.inputs[: len(after)])
    yield from _fit(node, "result", after, node.outputs)


def _fit(
    node: Node,
    what: str,
    given: Sequence[TensorSpec],
    taken: Sequence[SymbolicTensor],
) -> Iterator[str]:
    """Whether values of the specs `given` can stand for the tensors `taken`."""
    if len(given) != len(taken):
        yield f"{node.name!r}: {len(given)} values for {len(taken)} ({what})"
    for index, (spec, tensor) in enumerate(zip(given, taken)):
        if not _takes(tensor.spec, spec):
            yield (
                f"{node.name!r}: {what} {index} is {spec.describe()} where "
                f"{tensor.spec.describe()} is expected"
            )


def _takes(wide: TensorSpec, narrow: TensorSpec) -> bool:
    return narrow.dtype is wide.dtype and narrow.shape.is_subtype_of(wide.shape)
