"""Replicas: one function that runs on each device of a mesh, on its part of the data.

A `PerReplica` value is one tensor with a first axis over the replicas, which is divided
over the devices. What `Strategy.run` runs becomes a node ``ReplicaRun`` whose program
is traced for the part of one replica. XLA runs it on all devices at once
(``jax.shard_map``), where ``AllReduce`` adds what the replicas have.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from runtime.core.errors import FailedPreconditionError, InvalidArgumentError, OpError
from runtime.core.graph import Graph, Node
from runtime.core.graph.context import current_graph
from runtime.core.graph.editing import Editor, copy_graph, nested_graphs
from runtime.core.graph.prune import CONTROL_FLOW
from runtime.core.graph.record import Op, get, register
from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types import nest
from runtime.core.types.identity import IdentitySet
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import convert_to_tensor
from runtime.ops.derivatives import Applied, linear
from runtime.ops.variables import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from runtime.passes.lowering.prepare import prepare
from runtime.passes.optimize.inlining import inline_calls
from runtime.staging.tracing.form import Results, flatten_results
from runtime.staging.tracing.subgraph import set_outputs, trace_subgraph
from runtime.training.distribute.mesh import Mesh

#: The name of the dimension of the mesh.
AXIS = "replica"


class ReduceOp(enum.Enum):
    """How the values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


@dataclass(frozen=True, eq=False, repr=False)
class PerReplica:
    """A value for each replica: results of `Strategy.run`, and elements of data sets.

    They are stacked: the first axis is over the replicas.
    """

    stacked: Any

    def __tf_flatten__(self) -> tuple[tuple[()], tuple[Any, ...]]:
        return (), (self.stacked,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> PerReplica:
        return cls(*components)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of the replicas of this process."""
        stacked = self.stacked
        if type(stacked) is not DeviceTensor:
            return tuple([stacked[place] for place in range(stacked.shape[0])])
        shards = {part.index[0].start or 0: part for part in _shards(stacked.held)}
        return tuple(
            [convert_to_tensor(np.asarray(shards[i].data)[0]) for i in sorted(shards)]
        )

    def __repr__(self) -> str:
        spec = self.stacked.spec
        return (
            f"PerReplica(replicas={spec.shape[0]}, {spec.dtype.name}{spec.shape[1:]})"
        )


def _shards(array: Any) -> Sequence[Any]:
    found: Sequence[Any] = array.addressable_shards
    return found


def apply_to_replicas(function: Callable[[PerReplica], Any], value: Any) -> Any:
    """A structure with what the function gives for each `PerReplica` in it."""
    if isinstance(value, PerReplica):
        return function(value)
    inside = nest.children(value)
    if inside is None:
        return value
    parts = [apply_to_replicas(function, part) for _, part in inside]
    return nest.rebuild(value, parts)


# --- tracing --------------------------------------------------------------------------

#: The strategy whose replica function is being traced.
_running: ContextVar[Any] = ContextVar("strategy that runs", default=None)


def inside() -> Any:
    """The strategy whose replica function is being traced; None outside of them."""
    return _running.get()


@contextmanager
def _within(strategy: Any) -> Iterator[None]:
    token = _running.set(strategy)
    try:
        yield
    finally:
        _running.reset(token)


def run(strategy: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Add the node that runs a function on all replicas; gives a `PerReplica`."""
    graph = current_graph()
    assert graph is not None
    count = strategy.num_replicas_in_sync
    stacked: list[Tensor] = []

    def collect(value: PerReplica) -> None:
        if value.stacked.shape[0] != count:
            raise InvalidArgumentError(
                f"strategy.run: {value!r} is for {value.stacked.shape[0]} replicas, "
                f"and the strategy has {count}"
            )
        stacked.append(value.stacked)

    apply_to_replicas(collect, (args, kwargs))
    found: list[Results] = []

    def local(*parts: Tensor) -> list[Tensor]:
        items = iter(parts)
        own_args, own_kwargs = apply_to_replicas(lambda _: next(items), (args, kwargs))
        with _within(strategy):
            tensors, results = flatten_results(fn(*own_args, **own_kwargs), name)
        found.append(results)
        return tensors

    name = getattr(fn, "__name__", "replica")
    specs = [TensorSpec(tensor.shape[1:], tensor.dtype) for tensor in stacked]
    traced, tensors = trace_subgraph(local, specs, name)
    set_outputs(traced, tensors)
    replicas = Replicas(traced, strategy, len(stacked))
    inputs = [*stacked, *traced.captures]
    outputs = graph.add(
        "ReplicaRun", inputs, {"program": replicas}, replicas.specs(), name
    )
    return found[0].pack([PerReplica(output) for output in outputs])


class Replicas:
    """The program of one replica: the traced one, and that which XLA is given."""

    def __init__(self, traced: Graph, strategy: Any, count: int) -> None:
        self.traced = _aggregated(traced, count)
        self.mesh: Mesh = strategy.mesh
        #: How many of the inputs each replica has a part of; the others it has whole.
        self.count = count

    def __repr__(self) -> str:
        return f"{self.traced.name} on {self.mesh}"

    def specs(self) -> list[TensorSpec]:
        """The specs of the results, with the axis of the replicas."""
        size = self.mesh.size
        return [
            TensorSpec([size, *tensor.shape], tensor.dtype)
            for tensor in self.traced.outputs
        ]

    @cached_property
    def prepared(self) -> Graph:
        """What runs on each device. Raises ValueError for what may differ there."""
        from runtime.engines.xla.executable import variables_of
        from runtime.engines.xla.rules.buffers import BUFFERS

        graph = prepare(self.traced, holds_state=True, keep=BUFFERS)
        _check(graph, self.count)
        for variable in [name for names in variables_of(graph) for name in names]:
            layout = variable.layout
            if layout is None or layout.mesh != self.mesh:
                raise ValueError(
                    f"the variable {variable.name!r} was not made for the devices of "
                    "this strategy: make it within `with strategy.scope():`"
                )
        return graph

    @cached_property
    def variables(self) -> tuple[list[Any], list[Any]]:
        """The variables that are assigned, and those that are only read."""
        from runtime.engines.xla.executable import variables_of

        return variables_of(self.prepared)


def _aggregated(traced: Graph, count: int) -> Graph:
    """The program with what replicas make of aggregated variables, and no calls.

    What is assigned is the sum or the mean of what all replicas give. A variable of
    sums that is synchronised when it is read has the part of each replica: that of the
    first one is the value, and the others begin at zero.

    Raises ValueError for what replicas cannot do.
    """
    graph = copy_graph(traced)
    inline_calls(graph)
    for inner in nested_graphs(graph):
        for node in inner.nodes:
            _refuse_in_replicas(node, is_inside=inner is not graph)
    editor, varying = Editor(graph), IdentitySet(graph.inputs[:count])
    for node in graph.nodes:
        node.inputs = editor.resolve(node.inputs)
        varies = _varies(node, varying)
        variable = node.attrs.get("variable")
        if isinstance(variable, Variable):
            if node.op == "ReadVariableOp":
                if _has_parts(variable):
                    part = _part_of_replica(node, editor)
                    editor.replace(node.outputs, (part,))
                    varying.add(part)
                    continue
            elif node.inputs:
                _reduce_assigned(node, variable, varies, editor)
        editor.nodes.append(node)
        if varies and node.op != "AllReduce":
            varying.update(node.outputs)
    graph.nodes, graph.outputs = editor.nodes, list(editor.resolve(graph.outputs))
    return graph


def _refuse_in_replicas(node: Node, is_inside: bool) -> None:
    if node.op not in CONTROL_FLOW and _draws(get(node.op)):
        raise _refused(
            node,
            "replicas draw no random numbers, which would be the same in each: "
            "draw them in the data set, or by a tf.random.stateless function",
        )
    variable = node.attrs.get("variable")
    if not isinstance(variable, Variable):
        return
    is_read = node.op == "ReadVariableOp"
    is_sum = variable.aggregation is VariableAggregation.SUM
    if is_sum and (
        (is_inside and (not is_read or _has_parts(variable)))
        or not (is_read or node.inputs)
    ):
        raise _refused(
            node,
            f"the variable {variable.name!r}, which is a sum over replicas, can be "
            "assigned neither in a branch or a loop nor in parts, nor read there if it "
            "is synchronised when it is read; use VariableAggregation.NONE and "
            "all_reduce",
        )


def _reduce_assigned(
    node: Node, variable: Variable, varies: bool, editor: Editor
) -> None:
    """Have an assignment take the sum or the mean of the values of the replicas."""
    how, value = variable.aggregation, node.inputs[0]
    is_mean = how is VariableAggregation.MEAN and varies
    if not (is_mean or how is VariableAggregation.SUM):
        return
    if is_mean and not value.dtype.is_floating:
        raise _refused(node, "integers have no mean that is an integer")
    attrs = {"reduce_op": how.name}
    total = editor.add("AllReduce", (value,), attrs, value.spec, node)
    node.inputs = (total, *node.inputs[1:])


def _has_parts(variable: Variable) -> bool:
    """Whether each replica adds to a part of its own."""
    return (
        variable.aggregation is VariableAggregation.SUM
        and variable.synchronization is VariableSynchronization.ON_READ
    )


def _part_of_replica(node: Node, editor: Editor) -> SymbolicTensor:
    """What a read gives: the value to the first replica, and zeros to the others."""
    editor.nodes.append(node)
    (value,) = node.outputs
    scalar = TensorSpec([], np.int32)
    first = editor.add("ReplicaId", (), {}, scalar, node)
    zero = editor.constant(np.array(0, np.int32), node)
    is_first = editor.add("Equal", (first, zero), {}, TensorSpec([], np.bool_), node)
    nothing = editor.constant(np.zeros((), value.dtype.np_dtype), node)
    return editor.add("SelectV2", (is_first, value, nothing), {}, value.spec, node)


def _varies(node: Node, varying: IdentitySet[SymbolicTensor]) -> bool:
    """Whether the results of a node may differ between replicas."""
    return any(tensor in varying for tensor in node.inputs) or any(
        inner.op == "ReplicaId" for inner in _with_inner_nodes(node)
    )


def _with_inner_nodes(node: Node) -> list[Node]:
    bodies = [graph for _, graph in node.subgraphs()]
    return [node, *(n for body in bodies for g in nested_graphs(body) for n in g.nodes)]


def _check(graph: Graph, count: int) -> None:
    """Raise unless all replicas assign the same value to each variable."""
    varying = IdentitySet(graph.inputs[:count])
    for node in graph.nodes:
        nodes, varies = _with_inner_nodes(node), _varies(node, varying)
        if any(n.op == "AllReduce" for n in nodes[1:]):
            raise _refused(node, "all_reduce cannot be in a branch or a loop")
        for n in nodes:
            if varies and n.op == "AssignVariableOp":
                variable = n.attrs["variable"]
                if variable.aggregation is not VariableAggregation.ONLY_FIRST_REPLICA:
                    raise _refused(
                        n,
                        f"replicas may assign different values to {variable.name!r}: "
                        "assign what tf.distribute.get_replica_context().all_reduce "
                        "gives, or what strategy.reduce gives outside",
                    )
                raise _refused(n, "ONLY_FIRST_REPLICA is for values that are equal")
        if varies and node.op != "AllReduce":
            varying.update(node.outputs)


def _draws(op: Op) -> bool:
    return op.family == "random" and op.stateful


def _refused(node: Node, reason: str) -> ValueError:
    return ValueError(node.where + reason)


# --- ops ------------------------------------------------------------------------------


def all_reduce(reduce_op: ReduceOp, value: Any) -> Any:
    """The sum or the mean over all replicas of each tensor in a structure."""
    how = ReduceOp(reduce_op).name
    graph = current_graph()
    assert graph is not None

    def reduced(leaf: Any) -> Any:
        tensor = convert_to_tensor(leaf)
        kinds = tensor.dtype.is_floating or tensor.dtype.is_complex
        if not (kinds or (how == "SUM" and tensor.dtype.is_integer)):
            raise InvalidArgumentError(f"there is no {how} of {tensor.dtype.name}")
        spec = TensorSpec(tensor.shape, tensor.dtype)
        return graph.add("AllReduce", [tensor], {"reduce_op": how}, [spec])[0]

    return nest.map_structure(reduced, value)


def _not_here(*arrays: Any, **attrs: Any) -> OpError:
    raise FailedPreconditionError(
        "strategy.run runs on XLA, as in tf.function(executor='xla'); where it did, a "
        "check in the function of the replicas has failed: an assert, an index, a "
        "raise. Call that without the strategy to see which"
    )


register(
    Op(
        "ReplicaRun",
        _not_here,
        lambda *specs, program: tuple(program.specs()),
        stateful=True,
        calls_python=True,  # so that it may assign any variable
        strong=True,
        family="structure",
    )
)
register(
    Op(
        "AllReduce",
        _not_here,
        lambda x, reduce_op: TensorSpec(x.shape, x.dtype),
        strong=True,
        family="structure",
    )
)
register(
    Op(
        "ReplicaId",
        _not_here,
        lambda: TensorSpec([], np.int32),
        strong=True,
        family="structure",
    )
)


@linear("AllReduce")
def _all_reduce_gradient(node: Applied, g: Any) -> Any:
    return [all_reduce(ReduceOp(node.attrs["reduce_op"]), g)]
