"""Branches, loops and calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from runtime.graph import Graph
from runtime.optimize.editing import nested_graphs
from runtime.xla.flow import (
    Flow,
    Step,
    Value,
    as_spec,
    assigned_by,
    is_known,
    may_fail,
    rule,
)

__all__: list[str] = []


def _assigned(graphs: Sequence[Graph]) -> tuple[int, ...]:
    """The ids of the variables that graphs assign, and of their random states."""
    found: dict[int, None] = {}
    for graph in graphs:
        for inner in nested_graphs(graph):
            for variable in map(assigned_by, inner.nodes):
                if variable is not None:
                    found[id(variable)] = None
    return tuple(found)


class _Threaded:
    """What sub-graphs take and give beside their inputs and results.

    The values of the variables that they assign, and of the states that they draw from;
    and the flag if they may raise it.
    """

    def __init__(self, step: Step, graphs: Sequence[Graph]) -> None:
        self._flow = step.flow
        self._variables = _assigned(graphs)
        self._fails = step.flow.careful or any(map(may_fail, graphs))

    def now(self) -> list[Value]:
        """The values as JAX arrays."""
        return self._of(self._flow)

    def _of(self, flow: Flow) -> list[Value]:
        values = [jnp.asarray(flow.variables[key]) for key in self._variables]
        return [*values, jnp.asarray(flow.failed)] if self._fails else values

    def run(
        self, graph: Graph, inputs: Sequence[Value], values: Sequence[Value]
    ) -> tuple[list[Value], list[Value]]:
        """The results of a graph, and what it left of the values."""
        changed = dict(zip(self._variables, values))
        failed = values[-1] if self._fails else False
        flow = Flow({**self._flow.variables, **changed}, failed, self._flow.careful)
        return flow.run(graph, inputs), self._of(flow)

    def keep(self, values: Sequence[Value]) -> None:
        """Go on with values that a sub-graph left."""
        self._flow.variables.update(zip(self._variables, values))
        if self._fails:
            self._flow.failed = values[-1]

    def failed(self, values: Sequence[Value]) -> Value:
        """The flag among values."""
        return values[-1] if self._fails else False


# --- branches -------------------------------------------------------------------------


def _branches(
    step: Step, graphs: Sequence[Graph], operands: Sequence[Value]
) -> tuple[list[Callable[[Any], Any]], _Threaded]:
    threaded = _Threaded(step, graphs)

    def branch(graph: Graph) -> Callable[[Any], Any]:
        def run(values: list[Value]) -> Any:
            results, left = threaded.run(graph, operands, values)
            specs = [tensor.spec for tensor in step.node.outputs]
            return [as_spec(value, spec) for value, spec in zip(results, specs)], left

        return run

    return [branch(graph) for graph in graphs], threaded


@rule("If")
def _if(step: Step, test: Value, *operands: Value) -> Any:
    graphs = [step.node.attrs["then_graph"], step.node.attrs["else_graph"]]
    if is_known(test):
        return step.flow.run(graphs[0 if test else 1], operands)
    (then, otherwise), threaded = _branches(step, graphs, operands)
    results, left = lax.cond(test, then, otherwise, threaded.now())
    threaded.keep(left)
    return results


@rule("Case")
def _case(step: Step, index: Value, *operands: Value) -> Any:
    graphs = step.node.attrs["branch_graphs"]
    last = len(graphs) - 1
    if is_known(index):
        taken = int(index)
        return step.flow.run(graphs[taken if 0 <= taken <= last else last], operands)
    branches, threaded = _branches(step, graphs, operands)
    in_range = jnp.where((index >= 0) & (index <= last), index, last)
    results, left = lax.switch(in_range, branches, threaded.now())
    threaded.keep(left)
    return results


# --- loops ----------------------------------------------------------------------------


@rule("While")
def _while(step: Step, *inputs: Value) -> Any:
    node = step.node
    test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
    limit = node.attrs["maximum_iterations"]
    specs = [tensor.spec for tensor in node.outputs]
    captured = inputs[len(specs) :]
    threaded = _Threaded(step, (test, body))

    def tested(state: Sequence[Value], values: Any, done: Value) -> Any:
        (go_on,), left = threaded.run(test, [*state, *captured], values)
        go_on = jnp.logical_and(go_on, jnp.logical_not(threaded.failed(left)))
        return go_on if limit is None else jnp.logical_and(go_on, done < limit), left

    def run(carried: Any) -> Any:
        _, state, values, done = carried
        results, values = threaded.run(body, [*state, *captured], values)
        state = [as_spec(value, spec) for value, spec in zip(results, specs)]
        done = done if limit is None else done + 1
        go_on, values = tested(state, values, done)
        return go_on, state, values, done

    state = [as_spec(value, spec) for value, spec in zip(inputs, specs)]
    done = jnp.asarray(0)
    go_on, values = tested(state, threaded.now(), done)
    _, state, values, _ = lax.while_loop(
        lambda carried: carried[0], run, (go_on, state, values, done)
    )
    threaded.keep(values)
    return state


# --- calls ----------------------------------------------------------------------------


@rule("PartitionedCall")
def _call(step: Step, *inputs: Value) -> Any:
    graph = step.node.attrs["graph"]
    if graph.is_recursive:
        raise step.refused(f"XLA has no recursion, and {graph.name}() calls itself")
    return step.flow.run(graph, inputs)
