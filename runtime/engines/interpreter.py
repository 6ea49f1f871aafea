"""The definition of what a graph means: run its nodes one by one.

Every other executor has to give the same results, effects and errors. Kernels are plain
here: without threads, memory that is used again, and tricks with bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.prune import Live, find_live, live_whole
from runtime.core.types.identity import IdentityMap
from runtime.engines.failure import called_by, check_node, run_node, too_deep
from runtime.ops.checks.numerics import is_checking
from runtime.ops.kernels.threads import plainly

Values = Sequence[Any]


def run(graph: Graph, inputs: Iterable[Any], live: Live | None = None) -> list[Any]:
    """The values of the graph's outputs for these input arrays.

    Nodes that neither outputs nor effects need do not run: an output that `live` leaves
    out is None.
    """
    with plainly():
        return _values(graph, inputs, find_live(graph) if live is None else live)


def _values(graph: Graph, inputs: Iterable[Any], live: Live) -> list[Any]:
    values = IdentityMap[Any, Any](zip(graph.inputs, inputs, strict=True))
    for node in live.nodes:
        arguments = [values.get(tensor) for tensor in node.inputs]
        rule = _CONTROL_FLOW.get(node.op)
        if rule is None:
            results = _run_kernel(node, arguments, graph.name)
        else:
            results = rule(node, arguments, live.bodies[node])
        values.update(zip(node.outputs, results, strict=True))
    return [values.get(tensor) for tensor in graph.outputs]


def _run_kernel(node: Node, arguments: Values, function: str) -> Values:
    result = run_node(node, arguments, function)
    results: Values
    if isinstance(result, tuple):
        results = result
    else:
        results = (result,) if node.outputs else ()
    if is_checking():
        check_node(node, arguments, results, function)
    return results


def _run_if(node: Node, arguments: Values, bodies: Sequence[Live]) -> Values:
    taken = 0 if arguments[0] else 1
    graph = node.attrs["else_graph" if taken else "then_graph"]
    return _values(graph, arguments[1:], bodies[taken])


def _run_case(node: Node, arguments: Values, bodies: Sequence[Live]) -> Values:
    branches = node.attrs["branch_graphs"]
    taken = int(arguments[0])
    if not 0 <= taken < len(branches):
        taken = len(branches) - 1
    return _values(branches[taken], arguments[1:], bodies[taken])


def _run_while(node: Node, arguments: Values, bodies: Sequence[Live]) -> Values:
    test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
    limit = node.attrs["maximum_iterations"]
    state = list(arguments[: len(node.outputs)])
    captured = arguments[len(state) :]
    for _ in count() if limit is None else range(limit):
        (go_on,) = _values(test, [*state, *captured], bodies[0])
        if not go_on:
            break
        state = _values(body, [*state, *captured], bodies[1])
    return state


def _run_call(node: Node, arguments: Values, bodies: Sequence[Live]) -> Values:
    graph = node.attrs["graph"]
    live = bodies[0] if bodies else live_whole(graph)
    try:
        return _values(graph, arguments, live)
    except RecursionError as error:
        raise too_deep(error, graph.name, node) from None
    except Exception as error:
        failure = error
    try:
        raise failure.with_traceback(called_by([node], failure))
    finally:
        del failure


_CONTROL_FLOW = {
    "If": _run_if,
    "Case": _run_case,
    "While": _run_while,
    "PartitionedCall": _run_call,
}
