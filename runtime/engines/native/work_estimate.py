"""How much work a graph is, roughly: by its shapes and loops, before it runs."""

from __future__ import annotations

from math import inf, prod
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.counted import find_counter
from runtime.core.graph.record import get
from runtime.engines.native.in_place import WRITERS

#: So many elements take about 20 microseconds; other threads may run during more work.
SHORT = 20_000

#: A loop of so many elements may take long enough for somebody to interrupt it.
_LONG = 10_000_000

#: The length of a dimension that is not known.
_OPEN = 1000

#: Ops that compute a sum of products for each element, over this input's elements.
_PRODUCTS = frozenset({"MatMul", "BatchMatMulV2", "Einsum", "Convolution"})

#: The families of ops that read no more elements than they give.
_PICKS = frozenset({"movement", "buffer"})


def estimate(graph: Graph) -> float:
    """The number of elements that the nodes compute; infinite for loops without limit.

    Those of functions that are slower than a sum count for more.
    """
    if graph.is_recursive:
        return inf
    return sum(_of_node(node) for node in graph.nodes)


def may_be_long(node: Node) -> bool:
    """Whether a loop looks now and then whether it shall end."""
    return _of_node(node) > _LONG


def iteration(graph: Graph) -> int:
    """The work of one run of a loop's body, without loops in it that look as well."""
    found = [_of_node(node) for node in graph.nodes]
    return 1 + int(sum(work for work in found if work <= _LONG))


def _of_node(node: Node) -> float:
    inner = [estimate(graph) for _, graph in node.subgraphs()]
    if node.op == "While":
        return sum(inner) * _count(node)
    if inner:
        return max(inner)
    sizes = [_elements(tensor) for tensor in (*node.inputs, *node.outputs)]
    if node.op in WRITERS:
        return sum(sizes[1 : len(node.inputs)])
    if get(node.op).family in _PICKS:
        return sum(sizes[len(node.inputs) :])
    if node.op in _PRODUCTS:
        # The elements of a result, each the sum of a row of products.
        return prod(sizes) ** 0.5 / 4 if all(sizes) else 0
    return max(sizes, default=0)


def _count(node: Node) -> float:
    """The most iterations of a loop."""
    limit = node.attrs.get("maximum_iterations")
    loop = find_counter(node)
    known = None if loop is None else loop.most_iterations
    return min(inf if found is None else found for found in (limit, known))


def _elements(tensor: Any) -> int:
    dims = tensor.shape.dims
    dims = (None,) if dims is None else dims
    return prod([_OPEN if dim is None else dim for dim in dims])
