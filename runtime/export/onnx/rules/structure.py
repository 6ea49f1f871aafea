"""Branches, loops, calls and variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.core.graph import Graph
from runtime.export.onnx.writer import Value, Writer, rule

Body = Callable[[], Sequence[Value]]


@rule("ReadVariableOp")
def _read(w: Writer, variable: Any) -> Value:
    return w.value(np.array(variable._array), w.dtype)


@rule("AssignVariableOp")
def _assign(w: Writer, value: Value, variable: Any) -> Value:
    raise w.refused(
        "an ONNX model has no variables: those of the program are constants, and "
        f"{variable.name} is assigned"
    )


@rule("PartitionedCall")
def _call(w: Writer, *inputs: Any, graph: Graph, **_: Any) -> Any:
    if graph.is_recursive:
        raise w.refused(f"ONNX has no recursion, and {graph.name}() calls itself")
    return w.run(graph, inputs)


def _with_flag(w: Writer, body: Body, fails: bool) -> Body:
    def run() -> Sequence[Value]:
        results = body()
        return [*results, w.flag] if fails else results

    return run


def _branch(w: Writer, test: Any, bodies: tuple[Body, Body], fails: bool) -> Any:
    """The results of one of two bodies, each a graph of its own."""
    dtypes = [tensor.dtype.np_dtype for tensor in w.node.outputs]
    count = len(dtypes) + fails
    if not count:
        return ()
    then, otherwise = [
        w.subgraph(name, _with_flag(w, body, fails), failed=w.failed)
        for name, body in zip(("then", "else"), bodies)
    ]
    found = w.op("If", test, outputs=count, then_branch=then, else_branch=otherwise)
    return _results(w, found, dtypes, fails)


def _results(w: Writer, found: Any, dtypes: Sequence[Any], fails: bool) -> list[Value]:
    results = found if isinstance(found, list) else [found]
    for value, dtype in zip(results, [*dtypes, bool]):
        value.dtype = np.dtype(dtype)
    if fails:
        *results, w.failed = results
    return results


@rule("If")
def _if(
    w: Writer, test: Any, *operands: Any, then_graph: Graph, else_graph: Graph, **_: Any
) -> Any:
    bodies = lambda: w.run(then_graph, operands), lambda: w.run(else_graph, operands)
    return _branch(w, test, bodies, w.may_fail((then_graph, else_graph)))


@rule("Case")
def _case(w: Writer, index: Any, *operands: Any, branch_graphs: Sequence[Graph]) -> Any:
    graphs, fails = branch_graphs, w.may_fail(branch_graphs)

    def choose(first: int) -> Any:
        # An index outside of the list runs the last branch.
        if first == len(graphs) - 1:
            return w.run(graphs[first], operands)
        bodies = lambda: w.run(graphs[first], operands), lambda: choose(first + 1)
        return _branch(w, w.value(index).equals(first), bodies, fails)

    return choose(0)


@rule("While")
def _while(
    w: Writer,
    *inputs: Any,
    cond_graph: Graph,
    body_graph: Graph,
    maximum_iterations: int | None,
    **_: Any,
) -> Any:
    count = len(w.node.outputs)
    captured = inputs[count:]
    fails = w.may_fail((cond_graph, body_graph))

    def goes_on(state: Sequence[Any]) -> Value:
        (result,) = w.run(cond_graph, [*state, *captured])
        return result if w.failed is None else result & ~w.failed

    state = [w.value(value) for value in inputs[:count]]
    begins = goes_on(state)
    dtypes = [value.dtype for value in state]
    names = [w.name("state") for _ in state]
    info = [w.info(name, dtype) for name, dtype in zip(names, dtypes)]
    failed = None
    if fails:
        state.append(w.flag)
        failed = Value(w, bool, w.name("state"))
        info.append(w.info(failed.name, bool))

    def run() -> Sequence[Value]:
        given = [Value(w, dtype, name) for dtype, name in zip(dtypes, names)]
        results = w.run(body_graph, [*given, *captured])
        return [goes_on(results), *results, *([w.flag] if fails else [])]

    first = [w.info(w.name("iteration"), np.int64, []), w.info(w.name("go"), bool, [])]
    loop = w.subgraph("body", run, [*first, *info], failed)
    found = w.op(
        "Loop", maximum_iterations, begins, *state, outputs=len(state), body=loop
    )
    return _results(w, found, dtypes, fails)
