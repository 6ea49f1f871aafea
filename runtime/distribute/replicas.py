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

from runtime.distribute.mesh import Mesh
from runtime.errors import FailedPreconditionError, InvalidArgumentError, OpError
from runtime.execute.prune import CONTROL_FLOW
from runtime.gradients.registry import Applied, linear
from runtime.graph import Graph, Node
from runtime.graph.context import current_graph
from runtime.lowering.prepare import prepare
from runtime.ops.convert import convert_to_tensor
from runtime.ops.record import Op, get, register
from runtime.optimize.editing import nested_graphs
from runtime.tensor import Tensor
from runtime.tensor.device import DeviceTensor
from runtime.tracing.form import Results, flatten_results
from runtime.tracing.subgraph import set_outputs, trace_subgraph
from runtime.types import nest
from runtime.types.specs import TensorSpec
from runtime.variable import Variable, VariableAggregation

__all__ = ["PerReplica", "ReduceOp", "Replicas", "apply_to_replicas", "inside", "run"]

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
        self.traced = traced
        self.mesh: Mesh = strategy.mesh
        #: How many of the inputs each replica has a part of; the others it has whole.
        self.count = count
        _aggregate(traced)

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
        from runtime.xla.executable import variables_of
        from runtime.xla.rules.buffers import BUFFERS

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
        from runtime.xla.executable import variables_of

        return variables_of(self.prepared)


def _aggregate(traced: Graph) -> None:
    """Have assignments to aggregated variables assign what all replicas give.

    Raises ValueError for what replicas cannot do.
    """
    for graph in nested_graphs(traced):
        for node in list(graph.nodes):
            if node.op not in CONTROL_FLOW and _draws(get(node.op)):
                raise _refused(
                    node,
                    "replicas draw no random numbers, which would be the same in each: "
                    "draw them in the data set, or by a tf.random.stateless function",
                )
            variable = node.attrs.get("variable")
            if not isinstance(variable, Variable) or node.op == "ReadVariableOp":
                continue
            how = variable.aggregation
            if how.name not in ReduceOp.__members__:
                continue
            if graph is not traced or not node.inputs:
                raise _refused(
                    node,
                    f"the variable {variable.name!r}, which is aggregated, can be "
                    "assigned neither in a branch, a loop or a tf.function of replicas "
                    "nor in parts; use VariableAggregation.NONE and all_reduce",
                )
            value = node.inputs[0]
            if how is VariableAggregation.MEAN and not value.dtype.is_floating:
                raise _refused(node, "integers have no mean that is an integer")
            place = graph.nodes.index(node)
            attrs = {"reduce_op": how.name}
            (total,) = graph.add("AllReduce", [value], attrs, [value.spec])
            graph.nodes.insert(place, graph.nodes.pop())
            node.inputs = (total, *node.inputs[1:])


def _check(graph: Graph, count: int) -> None:
    """Raise unless all replicas assign the same value to each variable."""
    varying = set(graph.inputs[:count])
    for node in graph.nodes:
        bodies = [graph for _, graph in node.subgraphs()]
        inner = [n for body in bodies for g in nested_graphs(body) for n in g.nodes]
        nodes = [node, *inner]
        if any(n.op == "AllReduce" for n in inner):
            raise _refused(node, "all_reduce cannot be in a branch or a loop")
        varies = any(tensor in varying for tensor in node.inputs)
        varies = varies or any(n.op == "ReplicaId" for n in nodes)
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
    where = f"{node.location[0]}:{node.location[1]}: " if node.location else ""
    return ValueError(f"{where}{reason}")


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
