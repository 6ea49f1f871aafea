"""The structure of programs: branches, loops, calls, checks and variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.engines.xla.flow import (
    TEXT,
    FailsAlways,
    Step,
    Value,
    as_spec,
    assigned_by,
    is_known,
    may_fail,
    rule,
)
from runtime.engines.xla.rows import Forms, Rows, Widened
from runtime.engines.xla.rules.host import calls_functions, has_effects
from runtime.passes.lowering.loop_annotations import counted

#: How often paths are traced at most until they agree about the shapes of values.
_ATTEMPTS = 12


def _assigned(step: Step, graphs: Sequence[Graph]) -> dict[int, Any]:
    """The variables that graphs assign, and their random states, by their ids."""
    found = {
        id(variable): variable
        for graph in graphs
        for inner in nested_graphs(graph)
        for node in inner.nodes
        for variable in assigned_by(node)
    }
    return found | step.flow.owners if any(map(calls_functions, graphs)) else found


class _Inner:
    """Sub-graphs, and what they take and give beside their inputs and results.

    The values of the variables that they assign, and of the states that they draw from;
    and the flag if they may raise it, or if it may have been raised: a loop that is
    given what a failed check left might not end.
    """

    def __init__(self, step: Step, graphs: Sequence[Graph]) -> None:
        self._step = step
        self._variables = _assigned(step, graphs)
        is_raised = type(step.flow.failed) is not int
        #: The results of the graph that was run last which are known.
        self.known: dict[int, Value] = {}
        self.fails = step.flow.careful or is_raised or any(map(may_fail, graphs))

    def now(self) -> tuple[list[Value], Value]:
        """The values of the variables, and the flag."""
        flow = self._step.flow
        return self._values(flow), jnp.asarray(flow.failed, np.int8)

    def _values(self, flow: Any) -> list[Value]:
        values = [flow.variables[key] for key in self._variables]
        return [v if isinstance(v, Rows) else jnp.asarray(v) for v in values]

    def run(
        self, graph: Graph, inputs: Sequence[Value], values: Sequence[Value], flag: Any
    ) -> tuple[list[Value], list[Value], Value]:
        """The results of a graph, and what it left of variables and the flag."""
        specs = [tensor.spec for tensor in self._step.node.outputs]
        if graph is self._step.node.attrs.get("cond_graph"):
            specs = [tensor.spec for tensor in graph.outputs]
        changed = dict(zip(self._variables, values))
        flow = self._step.flow.inner(changed, flag if self.fails else 0)
        results = flow.run(graph, inputs)
        self.known = {k: v for k, v in enumerate(results) if is_known(v)}
        if not self.fails and type(flow.failed) is not int:
            raise FailsAlways
        if any(spec.dtype.kind == "O" for spec in specs):
            raise self._step.refused(TEXT)
        results = [as_spec(value, spec) for value, spec in zip(results, specs)]
        return results, self._values(flow), jnp.asarray(flow.failed, np.int8)

    def keep(self, values: Sequence[Value], flag: Value) -> None:
        """Go on with what a sub-graph left."""
        self._step.flow.variables.update(zip(self._variables, values))
        if self.fails:
            self._step.flow.failed = flag

    def differs(self, place: int) -> Exception:
        """The error for a value whose shape is another one on another path."""
        step = self._step
        body = step.node.attrs.get("body_graph")
        known = step.node.attrs.get("names") or [""] * len(step.node.outputs)
        names = list(known) if body is None else [t.node.name for t in body.inputs]
        names = names[: len(step.node.outputs)]
        names += [getattr(v, "name", "") for v in self._variables.values()]
        what = names[place] if place < len(names) and names[place] else "a value"
        return step.refused(
            f"the shape of {what} is not the same on all paths: XLA needs to know "
            "shapes when it compiles, save how many rows there are"
        )


def _agreed(step: Step, trace: Callable[[], Any]) -> Any:
    """What a trace gives once its paths agree about the forms of values."""
    for _ in range(_ATTEMPTS):
        try:
            return trace()
        except Widened:
            pass
    raise step.refused("the shapes of values change without an end")


# --- branches -------------------------------------------------------------------------


@rule("If")
def _if(step: Step, test: Value, *operands: Value) -> Any:
    graphs = [step.node.attrs["then_graph"], step.node.attrs["else_graph"]]
    if is_known(test):
        return step.flow.run(graphs[0 if test else 1], operands)
    return _branch(step, jnp.where(test, 0, 1), graphs, operands)


@rule("Case")
def _case(step: Step, index: Value, *operands: Value) -> Any:
    graphs = step.node.attrs["branch_graphs"]
    last = len(graphs) - 1
    if is_known(index):
        taken = int(index)
        return step.flow.run(graphs[taken if 0 <= taken <= last else last], operands)
    in_range = jnp.where((index >= 0) & (index <= last), index, last)
    return _branch(step, in_range, graphs, operands)


def _branch(
    step: Step, taken: Value, graphs: Sequence[Graph], operands: Sequence[Value]
) -> Any:
    inner, forms = _Inner(step, graphs), Forms()
    known: dict[int, Value] = {}

    def path(graph: Graph) -> Callable[..., Any]:
        def run(values: list[Value], flag: Value) -> Any:
            results, left, flag = inner.run(graph, operands, values, flag)
            # What one path alone gives, and nobody reads after others.
            known.update(
                (k, value)
                for k, value in inner.known.items()
                if all(_stands_in(g, k) for g in graphs if g is not graph)
            )
            return forms.fit([*results, *left], inner.differs), flag

        return run

    def trace() -> Any:
        # Functions of their own: JAX would find what those before were traced to.
        return lax.switch(taken, list(map(path, graphs)), *inner.now())

    found, flag = _agreed(step, trace)
    count = len(step.node.outputs)
    inner.keep(found[count:], flag)
    return [known.get(k, value) for k, value in enumerate(found[:count])]


def _stands_in(graph: Graph, place: int) -> bool:
    return graph.outputs[place].node.op == "StandIn"


# --- loops ----------------------------------------------------------------------------


@rule("While")
def _while(step: Step, *inputs: Value) -> Any:
    node = step.node
    test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
    limit, count = node.attrs["maximum_iterations"], len(node.outputs)
    captured = inputs[count:]
    inner = _Inner(step, (test, body))
    # What stays as it is may stay known.
    stays = [body.outputs[i] is body.inputs[i] for i in range(count)]
    specs = [tensor.spec for tensor in node.outputs]
    first = [as_spec(v, s) for v, s, stay in zip(inputs, specs, stays) if not stay]
    values, flag = inner.now()
    forms, changing = Forms([*first, *values]), len(first)

    def state_of(carried: Sequence[Value]) -> list[Value]:
        moving = iter(carried)
        return [inputs[i] if stays[i] else next(moving) for i in range(count)]

    def tested(carried: Any, flag: Value, done: Value) -> tuple[Value, Any]:
        """Whether to go on, and what is carried then."""
        state = [*state_of(carried[:changing]), *captured]
        (go_on,), left, flag = inner.run(test, state, carried[changing:], flag)
        if inner.fails:
            go_on = jnp.logical_and(go_on, flag == 0)
        if limit is not None:
            go_on = jnp.logical_and(go_on, done < limit)
        carried = forms.fit([*carried[:changing], *left], inner.differs)
        return jnp.reshape(go_on, ()), (carried, flag, done)

    def iterated(carried: Any, flag: Value, done: Value) -> Any:
        state = [*state_of(carried[:changing]), *captured]
        results, left, flag = inner.run(body, state, carried[changing:], flag)
        done = None if done is None else done + 1
        moved = [value for value, stay in zip(results, stays) if not stay]
        return (
            forms.fit([*moved, *left], inner.differs),
            flag,
            done,
        )

    def loop() -> Any:
        done = None if limit is None else jnp.asarray(0)
        begin = forms.fit([*first, *values], inner.differs), flag, done
        return _loop(
            node, begin, tested, iterated, may_fail(test) or _assigned(step, [test])
        )

    carried, flag, _ = _agreed(step, loop)
    inner.keep(carried[changing:], flag)
    return state_of(carried[:changing])


def _loop(
    node: Any,
    begin: Any,
    tested: Callable[..., Any],
    iterated: Callable[..., Any],
    test_has_effects: Any,
) -> Any:
    """The loop of JAX that suits: with a number of iterations, or with a test.

    A loop with a number does not end at a raised flag: what it computes then does not
    matter.
    """
    found = counted(node)
    trips = None if found is None or found.ends_early else found.trip_count
    if has_effects(node.attrs["body_graph"]):
        trips = None  # there are none in a scan
    if trips is not None:
        limit = node.attrs["maximum_iterations"]
        trips = trips if limit is None else min(trips, limit)
        return lax.scan(lambda c, _: (iterated(*c), None), begin, None, length=trips)[0]
    if not test_has_effects:
        return lax.while_loop(lambda c: tested(*c)[0], lambda c: iterated(*c), begin)
    _, left = lax.while_loop(
        lambda c: c[0], lambda c: tested(*iterated(*c[1])), tested(*begin)
    )
    return left


# --- calls ----------------------------------------------------------------------------


@rule("PartitionedCall")
def _call(step: Step, *inputs: Value) -> Any:
    graph = step.node.attrs["graph"]
    if graph.is_recursive:
        raise step.refused(f"XLA has no recursion, and {graph.name}() calls itself")
    return step.flow.run(graph, inputs)


# --- checks, which raise the flag -----------------------------------------------------


@rule("Assert", checks=True)
def _assert(step: Step, condition: Value, *data: Value, **_: Any) -> tuple[()]:
    step.check(condition)
    return ()


@rule("Raise", checks=True)
def _raise(step: Step, *data: Value, **_: Any) -> tuple[()]:
    step.check(False)
    return ()


@rule("RequireBound", "RequireSome", checks=True)
def _require(step: Step, value: Value, is_there: Value, **_: Any) -> Value:
    step.check(is_there)
    return value


@rule("CheckNumericsV2", checks=True)
def _check_numerics(step: Step, value: Value, **_: Any) -> Value:
    step.check(jnp.isfinite(value))
    return value


# --- variables ------------------------------------------------------------------------


@rule("ReadVariableOp")
def _read(step: Step, variable: Any) -> Value:
    return step.flow.variables[id(variable)]


@rule("AssignVariableOp")
def _assign(step: Step, value: Value, variable: Any) -> Value:
    value = as_spec(value, step.spec)
    step.flow.variables[id(variable)] = value
    return value
