"""Branches, loops, calls and variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.onnx_export.writer import Value, Writer, rule

__all__: list[str] = []

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
def _call(w: Writer, *inputs: Any) -> Any:
    graph = w.node.attrs["graph"]
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
def _if(w: Writer, test: Any, *operands: Any) -> Any:
    then, otherwise = w.node.attrs["then_graph"], w.node.attrs["else_graph"]
    bodies = lambda: w.run(then, operands), lambda: w.run(otherwise, operands)
    return _branch(w, test, bodies, w.may_fail((then, otherwise)))


@rule("Case")
def _case(w: Writer, index: Any, *operands: Any) -> Any:
    graphs = w.node.attrs["branch_graphs"]
    fails = w.may_fail(graphs)

    def choose(first: int) -> Any:
        # An index outside of the list runs the last branch.
        if first == len(graphs) - 1:
            return w.run(graphs[first], operands)
        bodies = lambda: w.run(graphs[first], operands), lambda: choose(first + 1)
        return _branch(w, w.value(index).equals(first), bodies, fails)

    return choose(0)


@rule("While")
def _while(w: Writer, *inputs: Any) -> Any:
    node = w.node
    test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
    limit = node.attrs["maximum_iterations"]
    count = len(node.outputs)
    captured = inputs[count:]
    fails = w.may_fail((test, body))

    def goes_on(state: Sequence[Any]) -> Value:
        (result,) = w.run(test, [*state, *captured])
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
        results = w.run(body, [*given, *captured])
        return [goes_on(results), *results, *([w.flag] if fails else [])]

    first = [w.info(w.name("iteration"), np.int64, []), w.info(w.name("go"), bool, [])]
    loop = w.subgraph("body", run, [*first, *info], failed)
    found = w.op("Loop", limit, begins, *state, outputs=len(state), body=loop)
    return _results(w, found, dtypes, fails)
