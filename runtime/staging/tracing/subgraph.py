"""The primitives of staging: trace a part of a program, emit it as one node.

A branch or a loop body is traced into a graph of its own with `trace_subgraph`, told
what its outputs are with `set_outputs`, and becomes part of the graph being built with
`emit_if`, `emit_case` or `emit_while`::

    big, result = trace_subgraph(lambda: x + 1, (), "then")
    set_outputs(big, [result])
    ...
    (y,) = emit_if(x > 10, big, small)

The public functions of `staging.control_flow` and the staging of converted Python call
these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

from runtime.core.errors import IntegerRangeError, InternalError, InvalidArgumentError
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.core.location.frames import body_traced
from runtime.core.tensor import ONE_ELEMENT, SymbolicTensor, Tensor, truth_of_items
from runtime.core.types import dtypes
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply
from runtime.ops.convert import convert_to_tensor, make_constant
from runtime.ops.staged.flow import optional_parts, raise_error
from runtime.ops.values import to_array
from runtime.staging.tracing.joins import adapted as adapted
from runtime.staging.tracing.joins import join_all
from runtime.staging.tracing.joins import join_specs as join_specs
from runtime.staging.tracing.loop_conditions import restore_test

SpecLike = TensorSpec | Tensor
Outputs = tuple[SymbolicTensor, ...]
Names = Sequence[str]


class SubGraph(NamedTuple):
    """The result of `trace_subgraph`: the graph, and the Python function's result."""

    graph: Graph
    result: Any


# --- tracing --------------------------------------------------------------------------


def trace_subgraph(
    fn: Callable[..., Any], args: Sequence[SpecLike] = (), name: str = "body"
) -> SubGraph:
    """Run `fn` on placeholders for `args`, in a child of the graph being built.

    The placeholders have the specs, dtypes and weakness of `args`, and the names of
    specs that have one. Tensors from outside that `fn` uses become further inputs. What
    `fn` returns is given back as it is: `set_outputs` makes tensors of what is to leave
    the graph.
    """
    graph = Graph(name, parent=_building())
    placeholders = []
    for arg in args:
        spec = arg if isinstance(arg, TensorSpec) else arg.spec
        placeholders.append(graph.add_input(spec, spec.name or "x"))
    with building(graph), body_traced():
        return SubGraph(graph, fn(*placeholders))


def set_outputs(graph: Graph, values: Iterable[Any]) -> None:
    """Make `values` the outputs of a traced graph.

    They may be tensors of the graph, tensors that it can capture, or Python values,
    which become constants in it (Python numbers weak ones).
    """
    with building(graph):
        graph.outputs = [graph.capture(state_tensor(value)) for value in values]


def state_tensor(value: Any) -> Tensor:
    """`value` as a tensor; a Python number becomes weak: its dtype adapts to operands.

    A text becomes weak, too: it is shown as a Python str, not as bytes. An int of more
    than 64 bits is an error when the graph runs, since the branch may not be taken.
    """
    if isinstance(value, Tensor):
        return value
    dtype = _OF_PYTHON.get(type(value))
    if dtype is None:
        return convert_to_tensor(value)
    if dtype is dtypes.int64 and not -(2**63) <= value < 2**63:
        raise_error(IntegerRangeError.of(value, dtype.name))
        value = 0
    return make_constant(to_array(value, dtype)[0], weak=True)


_OF_PYTHON = {
    int: dtypes.int64,
    float: dtypes.float64,
    complex: dtypes.complex128,
    str: dtypes.string,
}


def in_graph(values: Iterable[Any]) -> list[SymbolicTensor]:
    """The values as tensors of the graph being built."""
    graph = _building()
    return [graph.capture(state_tensor(value)) for value in values]


def predicate(value: Any) -> Tensor:
    """A condition as a scalar bool tensor; nonzero numbers are true.

    Raises InvalidArgumentError for byte strings, and for a tensor that has not one
    element: while tracing if its shape is known, else when the graph runs.
    """
    if hasattr(value, "__staged_truth__"):
        return predicate(value.__staged_truth__())
    optional = optional_parts(value)
    if optional is not None:
        return _truth_of_optional(*optional)
    truth = getattr(type(value), "__staged_truth__", None)
    tensor = state_tensor(value if truth is None else truth(value))
    if not tensor.dtype.is_bool and tensor.shape.rank:
        return _truth_of_items(tensor)
    if tensor.dtype is dtypes.string and tensor.shape.rank == 0:
        # A text is true unless it is empty, as in Python.
        tensor = apply("StringLength", tensor, unit="BYTE")
    if tensor.dtype.is_numeric:
        tensor = tensor != 0
    if not tensor.dtype.is_bool:
        raise InvalidArgumentError(
            f"a condition must be a bool tensor, not {tensor.spec.describe()}"
        )
    if tensor.shape.rank != 0:
        if tensor.shape.num_elements() not in (1, None):
            raise InvalidArgumentError(
                f"the truth value of a tensor of shape {tensor.shape} is ambiguous; "
                "use tf.reduce_any or tf.reduce_all"
            )
        tensor = apply("Reshape", tensor, shape=())
    return tensor


def _truth_of_items(tensor: Tensor) -> Tensor:
    """The truth of a tensor that stands for a list, also of unknown length."""
    static = truth_of_items(tensor)
    if static is not None:
        return state_tensor(static)
    size = apply("Size", tensor, out_type=dtypes.int32)
    text = ONE_ELEMENT.format(tensor.shape)
    apply("Assert", size != 1, template=(text,), summarize=3)
    length = apply("Shape", tensor, out_type=dtypes.int32)[0]
    is_nonempty: Tensor = length != 0
    return is_nonempty


def _truth_of_optional(value: Tensor, flag: Tensor) -> Tensor:
    """The truth of a tensor that may be None, which is false."""
    if value.shape.num_elements() == 1:
        is_true: Tensor = apply("LogicalAnd", flag, predicate(value))
        return is_true
    some_graph, truth = trace_subgraph(lambda: predicate(value), (), "some")
    none_graph, _ = trace_subgraph(lambda: None, (), "none")
    set_outputs(some_graph, [truth])
    set_outputs(none_graph, [False])
    return emit_if(flag, some_graph, none_graph)[0]


# --- emitting -------------------------------------------------------------------------


def emit_if(
    pred: Any,
    then_graph: Graph,
    else_graph: Graph,
    name: str | None = None,
    *,
    names: Names = (),
    promote: bool = False,
) -> Outputs:
    """Add the node ``If``: the outputs of one graph or the other, as `pred` decides.

    Both have no inputs but captures and as many outputs. Outputs of one position must
    agree in dtype (see `join_specs`, also for `promote`); a dimension in which they
    differ is unknown in the result. `names` are the user's variables, for messages and
    printed code.
    """
    condition = _building().capture(predicate(pred))
    _settle(condition, then_graph, True)
    _settle(condition, else_graph, False)
    attrs = {"then_graph": then_graph, "else_graph": else_graph}
    graphs = (then_graph, else_graph)
    return _emit_branches("If", condition, attrs, graphs, name, names, promote)


def _settle(condition: SymbolicTensor, graph: Graph, value: bool) -> None:
    """Replace the condition by its constant where a branch returns it."""
    inner = graph.captures.get(condition)
    if inner is None or not any(tensor is inner for tensor in graph.outputs):
        return
    with building(graph):
        constant = graph.capture(state_tensor(value))
    graph.outputs = [constant if t is inner else t for t in graph.outputs]
    if not any(t is inner for node in graph.nodes for t in node.inputs):
        del graph.captures[condition]
        graph.inputs = [tensor for tensor in graph.inputs if tensor is not inner]


def emit_case(
    index: Tensor,
    graphs: Sequence[Graph],
    name: str | None = None,
    *,
    names: Names = (),
) -> Outputs:
    """Add the node ``Case``: the outputs of the graph number `index`, an int32 scalar.

    An index outside of the list runs the last graph. Otherwise as `emit_if`.
    """
    attrs = {"branch_graphs": tuple(graphs)}
    return _emit_branches("Case", index, attrs, graphs, name, names)


def emit_while(
    cond_graph: Graph,
    body_graph: Graph,
    init: Sequence[Any],
    name: str | None = None,
    *,
    maximum_iterations: int | None = None,
    names: Names = (),
    promote: bool = False,
) -> Outputs:
    """Add the node ``While``: the state after the loop.

    `cond_graph` gives one bool, `body_graph` the next state, both from the state (their
    placeholders) and captures. Raises StagedStateError or InvalidArgumentError where
    `init` or the outputs of the body do not fit the placeholders;
    `runtime.staging.tracing.stage_while.stage_while` finds placeholders that do.
    """
    graph = _building()
    state = in_graph(init)
    specs = [tensor.spec for tensor in body_graph.inputs[: len(state)]]
    _check_loop(cond_graph, body_graph, len(state))
    for i, spec in enumerate(loop_specs(state, body_graph, specs, names, promote)):
        if not spec.is_subtype_of(specs[i]):
            raise InvalidArgumentError(
                f"{label_of(names, i)} does not keep its shape and dtype in the loop: "
                f"it was traced as {specs[i].describe()} and becomes {spec.describe()}"
            )
    _adapt_outputs(body_graph, specs)
    state = list(map(adapted, state, specs))
    restored = None
    if maximum_iterations is None:
        restored = restore_test(cond_graph, body_graph, state)
    if restored is not None:
        cond_graph = restored[1]
        del state[restored[0]], specs[restored[0]]
    captured = _unify_captures((cond_graph, body_graph))
    attrs = {
        "cond_graph": cond_graph,
        "body_graph": body_graph,
        "maximum_iterations": maximum_iterations,
    }
    inputs = (*state, *captured)
    outputs = graph.add("While", inputs, attrs, map(_nameless, specs), name)
    if restored is None:
        return outputs
    # After the loop its test does not hold.
    false = graph.capture(state_tensor(False))
    graph.left_over.add(false.node)
    return (*outputs[: restored[0]], false, *outputs[restored[0] :])


# --- agreement ------------------------------------------------------------------------


def _emit_branches(
    op: str,
    index: Tensor,
    attrs: dict[str, Any],
    graphs: Sequence[Graph],
    name: str | None,
    names: Names,
    promote: bool = False,
) -> Outputs:
    counts = {len(graph.outputs) for graph in graphs}
    if len(counts) != 1:
        raise InternalError(f"the branches of {op} have {sorted(counts)} outputs")
    outputs = zip(*(graph.outputs for graph in graphs))
    specs = list(
        map(_nameless, join_all(map(_specs, outputs), _labels(names), promote))
    )
    for graph in graphs:
        _adapt_outputs(graph, specs)
    captured = _unify_captures(graphs)
    for graph in graphs:
        if len(graph.inputs) != len(captured):
            raise InternalError(f"the branch {graph.name!r} of {op} has parameters")
    if names:
        attrs["names"] = tuple(names)
    return _building().add(op, (index, *captured), attrs, specs, name)


def _check_loop(cond_graph: Graph, body_graph: Graph, count: int) -> None:
    for graph, outputs in ((cond_graph, 1), (body_graph, count)):
        parameters = len(graph.inputs) - len(graph.captures)
        if parameters != count or len(graph.outputs) != outputs:
            raise InternalError(
                f"{graph.name!r} has {parameters} parameters and {len(graph.outputs)} "
                f"outputs, but the loop carries {count} values"
            )


def loop_specs(
    state: Sequence[Tensor],
    body: Graph,
    specs: Sequence[TensorSpec],
    names: Names,
    promote: bool,
) -> list[TensorSpec]:
    """For each part of the state the spec that holds its values before and after."""
    after = _specs(body.outputs)
    return join_all(zip(_specs(state), after, specs), _labels(names), promote)


def _specs(tensors: Sequence[Tensor]) -> list[TensorSpec]:
    return [tensor.spec for tensor in tensors]


def _adapt_outputs(graph: Graph, specs: Sequence[TensorSpec]) -> None:
    with building(graph):
        graph.outputs = [adapted(t, spec) for t, spec in zip(graph.outputs, specs)]


def _unify_captures(graphs: Sequence[Graph]) -> list[SymbolicTensor]:
    """Give all graphs the same captures in the same order, and return these."""
    outer = list(IdentitySet(tensor for graph in graphs for tensor in graph.captures))
    for graph in graphs:
        parameters = graph.inputs[: len(graph.inputs) - len(graph.captures)]
        for tensor in outer:
            if tensor not in graph.captures:
                graph.stand_in(tensor)
        graph.captures = IdentityMap((t, graph.captures[t]) for t in outer)
        graph.inputs = [*parameters, *graph.captures.values()]
    return outer


def _nameless(spec: TensorSpec) -> TensorSpec:
    return TensorSpec(spec.shape, spec.dtype, weak=spec.weak)


def label_of(names: Names, index: int) -> str:
    """The name of a part of the state in messages."""
    name = names[index] if index < len(names) else f"value {index}"
    return name if " " in name else repr(name)


def _labels(names: Names) -> Iterator[str]:
    return (label_of(names, index) for index in count())


def _building() -> Graph:
    graph = current_graph()
    if graph is None:
        raise InternalError("control flow is staged only while a graph is built")
    return graph
