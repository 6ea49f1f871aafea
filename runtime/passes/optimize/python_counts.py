"""Integers of Python that only count are added without a check for 64 bits.

Before::

    %2: int64[]* = While(0, ...)
        body_graph(%0: int64[]* 'n', ...):
          %3: int64[]* = AddV2(%0, 1)  # raises where 64 bits do not hold it
          ...

After::

          %3: int64[] = AddV2(%0, 1)

For compilers, to whom a check is a flag that is handed through every loop and branch,
and keeps a branch from becoming a choice. The NumPy executor counts by Python's ints.

Exact in any time that there is: numbers of less than 62 bits, to which nothing but
constants up to 16 is ever added, outgrow 64 bits after 2**58 additions. At one
nanosecond each these take nine years.
"""

from __future__ import annotations

from collections.abc import Iterable

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import bodies_of, nested_graphs
from runtime.core.graph.prune import CONTROL_FLOW
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import dtypes
from runtime.ops.python_ints import is_exact
from runtime.passes.optimize.facts import constant

LARGEST = 2**62
MAX_STEP = 16


def python_counts(graph: Graph) -> int:
    """Mark the additions of integers that only count; gives how many."""
    graphs = list(nested_graphs(graph))
    if any(inner.is_recursive for inner in graphs):
        return 0
    exact = [node for inner in graphs for node in inner.nodes if is_exact(node)]
    if not exact:
        return 0
    sources = _sources_of_inputs(graphs)
    tensors = list(_int64_tensors(graphs))
    others: set[int] = set()
    # All are counts until one is found to come from something else.
    before = -1
    while before < len(others):
        before = len(others)
        for tensor in tensors:
            if id(tensor) not in others and not _may_count(tensor, sources, others):
                others.add(id(tensor))
    counts = [node for node in exact if id(node.outputs[0]) not in others]
    for node in counts:
        tensor = node.outputs[0]
        tensor._spec = tensor._spec.with_weak(False)
    return len(counts)


def _int64_tensors(graphs: Iterable[Graph]) -> Iterable[SymbolicTensor]:
    for graph in graphs:
        for node in [*[tensor.node for tensor in graph.inputs], *graph.nodes]:
            yield from [t for t in node.outputs if t.dtype is dtypes.int64]


def _sources_of_inputs(graphs: Iterable[Graph]) -> dict[int, list[SymbolicTensor]]:
    """What inputs of inner graphs may be, by their ids."""
    found: dict[int, list[SymbolicTensor]] = {}
    for node in [node for graph in graphs for node in graph.nodes]:
        if node.op not in CONTROL_FLOW:
            continue
        offset = 0 if node.op in ("While", "PartitionedCall") else 1
        for graph in bodies_of(node):
            for outer, inner in zip(node.inputs[offset:], graph.inputs):
                found[id(inner)] = [outer]
        if node.op == "While":
            body = node.attrs["body_graph"]
            for graph in bodies_of(node):
                for inner, after in zip(graph.inputs, body.outputs):
                    found[id(inner)].append(after)
    return found


def _may_count(
    tensor: SymbolicTensor,
    sources: dict[int, list[SymbolicTensor]],
    others: set[int],
) -> bool:
    """Whether a tensor is a small number, or comes from counts by small steps."""
    node = tensor.node
    if node.op == "Placeholder":
        found = sources.get(id(tensor), [])
    elif node.op == "While":
        found = sources[id(node.attrs["body_graph"].inputs[tensor.value_index])]
    elif node.op in CONTROL_FLOW:
        found = [body.outputs[tensor.value_index] for body in bodies_of(node)]
    elif node.op == "SelectV2":
        found = list(node.inputs[1:])
    elif node.op in ("AddV2", "Sub"):
        found = _without_steps(node)
    elif get(node.op).is_alias:
        found = list(node.inputs)
    else:
        return _is_small(tensor)
    return bool(found) and all(id(source) not in others for source in found)


def _without_steps(node: Node) -> list[SymbolicTensor]:
    """The operand to which a small constant is added; empty if there is none."""
    one, other = node.inputs
    if _is_constant_below(other, MAX_STEP + 1):
        return [one]
    swapped = node.op == "AddV2" and _is_constant_below(one, MAX_STEP + 1)
    return [other] if swapped else []


def _is_small(tensor: SymbolicTensor) -> bool:
    node = tensor.node
    if node.op == "Cast":
        dtype = node.inputs[0].dtype
        return dtype.is_bool or (dtype.is_integer and dtype.size < 8)
    return _is_constant_below(tensor, LARGEST)


def _is_constant_below(tensor: SymbolicTensor, limit: int) -> bool:
    value = constant(tensor)
    if value is None or value.ndim or value.dtype.kind not in "iu":
        return False
    return bool(-limit < int(value) < limit)
