"""Strategies: who computes what when one program trains on many devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph, enclosing, placing_variables
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.data.dataset import Dataset
from runtime.engines.xla.library import load
from runtime.function.function import BoundFunction, Function, function
from runtime.ops.arrays.joining import concat
from runtime.ops.convert import convert_to_tensor
from runtime.ops.reduce.reductions import reduce_mean, reduce_sum
from runtime.ops.variables import Variable
from runtime.staging import compiler
from runtime.training.distribute import replicas
from runtime.training.distribute.dtensor import know_rules, relayout
from runtime.training.distribute.mesh import Layout, Mesh, make_mesh
from runtime.training.distribute.processes import (
    Cluster,
    client_id,
    connect,
    devices_of,
)
from runtime.training.distribute.replicas import AXIS, PerReplica, ReduceOp

#: Strategies whose scopes these are, and contexts of what `Strategy.run` runs.
_scopes: ContextVar[tuple[Any, ...]] = ContextVar("strategies", default=())


class InputContext(NamedTuple):
    """Which part of the data a process reads: an argument of functions of users."""

    num_input_pipelines: int
    input_pipeline_id: int
    num_replicas_in_sync: int

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The share of one replica. Raises ValueError if it is no whole number."""
        size, rest = divmod(global_batch_size, self.num_replicas_in_sync)
        if rest:
            raise ValueError(
                f"a batch of {global_batch_size} cannot be divided among "
                f"{self.num_replicas_in_sync} replicas"
            )
        return size


class ValueContext(NamedTuple):
    """Of which replica a value is: an argument of functions of users."""

    replica_id_in_sync_group: int
    num_replicas_in_sync: int


class ReplicaContext:
    """What a function that `Strategy.run` runs can ask: `get_replica_context()`."""

    def __init__(self, strategy: Strategy) -> None:
        #: The strategy that runs the function.
        self.strategy = strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self.strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica: a tensor."""
        graph = current_graph()
        if replicas.inside() is None or graph is None:
            return convert_to_tensor(0)
        return graph.add("ReplicaId", [], {}, [TensorSpec([], np.int32)])[0]

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or the mean of each tensor in a structure over all replicas.

        The gradient of it is the same of the gradients.
        """
        if replicas.inside() is None:
            ReduceOp(_name(reduce_op))
            return nest.map_structure(convert_to_tensor, value)
        return replicas.all_reduce(ReduceOp(_name(reduce_op)), value)

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Refused: replicas run on, and none can speak for all."""
        raise NotImplementedError(
            "merge_call is not supported; all_reduce gives what all replicas need"
        )


def _name(reduce_op: Any) -> str:
    return str(getattr(reduce_op, "name", reduce_op)).upper()


class Strategy:
    """How a program is run on several devices. This one knows a single device.

    >>> strategy = Strategy()
    >>> strategy.run(lambda x: x * 2, args=(21,))
    42
    >>> strategy.num_replicas_in_sync
    1
    """

    @property
    def num_replicas_in_sync(self) -> int:
        """How many copies of the function `run` runs."""
        return 1

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Within the block variables are made for this strategy."""
        token = _scopes.set((*_scopes.get(), self))
        try:
            yield self
        finally:
            _scopes.reset(token)

    def run(
        self,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        options: Any = None,
    ) -> Any:
        """Call `fn` once for each replica, with its part of the arguments.

        Parts are those of `PerReplica` values; other arguments are the same for all.
        Tensors of the result are `PerReplica` values.
        """
        token = _scopes.set((*_scopes.get(), ReplicaContext(self)))
        try:
            return fn(*args, **(kwargs or {}))
        finally:
            _scopes.reset(token)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """One value of those of the replicas, also over an axis of each of them.

        Raises ValueError for the sum of a value that is not that of replicas.
        """
        combine = (
            reduce_sum if ReduceOp(_name(reduce_op)) is ReduceOp.SUM else reduce_mean
        )
        return value if axis is None else combine(value, axis)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process."""
        return value.values if isinstance(value, PerReplica) else (value,)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The elements of a data set of batches, each divided among the replicas."""
        return dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """The elements of the data set that a function gives, one for each replica."""
        return dataset_fn(InputContext(1, 0, 1))

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """The values that a function gives for the replicas of this process."""
        return value_fn(ValueContext(0, 1))

    def gather(self, value: Any, axis: int) -> Any:
        """The values of the replicas of this process, concatenated along an axis."""
        if not isinstance(value, PerReplica):
            return value
        return concat(list(value.values), axis)


class OneDeviceStrategy(Strategy):
    """A strategy of one device: functions run as they are, on ordinary variables.

    The device that computes is that of `tf.device`, whatever ``device`` says.
    """

    def __init__(self, device: str = "CPU:0") -> None:
        self.device = device


class CentralStorageStrategy(OneDeviceStrategy):
    """A strategy with all variables on the CPU, which alone computes here.

    Raises NotImplementedError where several devices are to compute.
    """

    def __init__(self, compute_devices: Any = None, parameter_device: Any = None):
        if len(compute_devices or ()) > 1:
            raise NotImplementedError("for several devices see MirroredStrategy")
        super().__init__(*compute_devices or ())


class OnMesh(Strategy):
    """A strategy with a replica on each device of a mesh of one dimension."""

    def __init__(self, devices: Sequence[Any]) -> None:
        know_rules()
        #: The devices.
        self.mesh: Mesh = make_mesh(
            [(AXIS, len(devices))], devices, type(self).__name__
        )
        #: What runs outside of functions, by the function or the way of reducing.
        self._program: Any = lru_cache(maxsize=128)(
            lambda run, *key: function(
                partial(run, *key), executor="xla", autograph=False
            )
        )

    @property
    def num_replicas_in_sync(self) -> int:
        """How many copies of the function `run` runs: one on each device."""
        return self.mesh.size

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Within the block each variable that is made has a copy on each device."""
        if replicas.inside() is not None:
            raise RuntimeError("the function of replicas cannot enter a scope")
        with super().scope(), placing_variables(self.place):
            yield self

    def place(self, variable: Variable) -> None:
        """Put a copy of a variable on each device: of the first process's value."""
        if not isinstance(variable, Variable) or variable.dtype.name == "string":
            return
        if not variable.shape.is_fully_defined():
            raise ValueError(
                f"the shape of {variable.name!r}, {variable.shape}, is open: variables "
                "of a strategy have one shape"
            )
        array = variable._array
        if len(self.mesh.processes) > 1:
            from jax.experimental.multihost_utils import broadcast_one_to_all

            array = np.asarray(broadcast_one_to_all(array))
        variable.layout = Layout.replicated(self.mesh, array.ndim)
        variable.keep_on_device(variable.layout.place(array))

    def run(
        self,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        options: Any = None,
    ) -> Any:
        """Run `fn` on each device: see `Strategy.run`."""
        if replicas.inside() is not None:
            raise RuntimeError("the function of replicas cannot call strategy.run")
        graph = current_graph()
        if graph is None:
            return self._program(self._staged, fn)(tuple(args), dict(kwargs or {}))
        root = list(enclosing(graph))[-1]
        if root.executor in (None, "jit"):
            root.executor = "xla"
        return self._staged(fn, tuple(args), dict(kwargs or {}))

    def _staged(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if not isinstance(fn, (Function, BoundFunction)):
            fn = compiler.conversion.convert(fn)
        return replicas.run(self, fn, args, kwargs)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """One value of those of the replicas: see `Strategy.reduce`."""
        how = ReduceOp(_name(reduce_op))

        def reduced(leaf: Any) -> Any:
            if isinstance(leaf, PerReplica):
                if current_graph() is not None:
                    return self._reduced(how.name, axis, leaf.stacked)
                return self._program(self._reduced, how.name, axis)(leaf.stacked)
            if how is ReduceOp.MEAN and axis is None:
                return leaf
            raise ValueError(
                f"{leaf!r} is no value of replicas, and has no {how.name} over them"
            )

        if isinstance(value, PerReplica) or not nest.is_nested(value):
            return reduced(value)
        parts = [self.reduce(how, part, axis) for _, part in nest.children(value) or ()]
        return nest.rebuild(value, parts)

    def _reduced(self, how: str, axis: int | None, stacked: Any) -> Any:
        rank = len(stacked.shape) - 1
        axes = [0]
        if axis is not None:
            if not -rank <= axis < rank:
                raise InvalidArgumentError(f"values of {rank} axes have no axis {axis}")
            axes.append(1 + axis % rank)
        total = (reduce_sum if how == "SUM" else reduce_mean)(stacked, axes)
        return relayout(total, Layout.replicated(self.mesh, len(total.shape)))

    # --- data -------------------------------------------------------------------------

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The batches of a data set, each divided among the replicas.

        All processes have the same data set, of batches for all replicas, and each
        keeps its rows of each batch. A batch that cannot be divided is an error.
        """
        return DistributedDataset(self, dataset, is_global=True)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """The batches of a data set of this process, each for one replica.

        `dataset_fn` is given the `InputContext`, by which it chooses what to read.
        Where processes have different numbers of batches, the shortest one ends all.
        """
        processes = self.mesh.processes
        place = processes.index(client_id())
        context = InputContext(len(processes), place, self.num_replicas_in_sync)
        return DistributedDataset(self, dataset_fn(context), is_global=False)

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> PerReplica:
        """The values that a function gives for the replicas of this process."""
        count, local = self.num_replicas_in_sync, self.mesh.num_local_devices()
        first = self.mesh.processes.index(client_id()) * local
        values = [value_fn(ValueContext(first + i, count)) for i in range(local)]
        return stacked(self.mesh, values)


class DistributedDataset:
    """A data set whose elements are `PerReplica` values; made by strategies."""

    def __init__(self, strategy: OnMesh, dataset: Any, is_global: bool) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"a strategy divides data sets, not {dataset!r}")
        self._strategy, self._dataset, self._is_global = strategy, dataset, is_global

    def __iter__(self) -> Iterator[Any]:
        if current_graph() is not None:
            raise NotImplementedError(
                "the data of a strategy cannot be gone through within a tf.function: "
                "call the function in a loop over the data"
            )
        return self._batches() if self._is_global else self._grouped()

    def _batches(self) -> Iterator[Any]:
        mesh = self._strategy.mesh
        count, local = len(mesh.processes), mesh.num_local_devices()
        index = mesh.processes.index(client_id())

        def own(leaf: Any) -> Any:
            array = np.asarray(leaf)
            if not array.ndim or not array.shape[0] or array.shape[0] % mesh.size:
                raise InvalidArgumentError(
                    f"a batch of shape {array.shape} cannot be divided among "
                    f"{mesh.size} replicas: batch(size, drop_remainder=True), with a "
                    "size that is a multiple of them"
                )
            rows = array.shape[0] // count
            part = array[index * rows : (index + 1) * rows]
            parts = part.reshape(local, rows // local, *array.shape[1:])
            return _placed(mesh, parts)

        for element in self._dataset:
            yield nest.map_structure(own, element)

    def _grouped(self) -> Iterator[Any]:
        mesh = self._strategy.mesh
        local = mesh.num_local_devices()
        elements = iter(self._dataset)
        while True:
            group = [element for _, element in zip(range(local), elements)]
            if not self._all_have(len(group) == local):
                return
            yield nest.map_structure(lambda *leaves: stacked(mesh, leaves), *group)

    def _all_have(self, own: bool) -> bool:
        """Whether it is so in all processes."""
        if len(self._strategy.mesh.processes) == 1:
            return own
        from jax.experimental.multihost_utils import process_allgather

        return bool(np.all(process_allgather(np.asarray(own))))


def stacked(mesh: Mesh, leaves: Sequence[Any]) -> PerReplica:
    """The values of the replicas of this process. Raises InvalidArgumentError."""
    arrays = [np.asarray(leaf) for leaf in leaves]
    if len({array.shape for array in arrays}) > 1:
        raise InvalidArgumentError(
            f"replicas have values of one shape, not {[a.shape for a in arrays]}: "
            "batch(size, drop_remainder=True)"
        )
    return _placed(mesh, np.stack(arrays))


def _placed(mesh: Mesh, array: Any) -> PerReplica:
    """The values of the replicas of this process, beside those of the others."""
    sharding = Layout.batch_sharded(mesh, AXIS, array.ndim).sharding
    made = load().make_array_from_process_local_data(sharding, array)
    return PerReplica(DeviceTensor(made))


# --- by names of devices --------------------------------------------------------------


class MirroredStrategy(OnMesh):
    """A replica on each device of this process: all, or those of these names.

    Where that is the CPU alone, this gives a `OneDeviceStrategy`, whose functions are
    ordinary ones. `cross_device_ops` are TensorFlow's, and mean nothing here: XLA
    chooses.
    """

    def __new__(cls, devices: Any = None, cross_device_ops: Any = None) -> Any:
        """The strategy, of several devices or of one."""
        if cls is MirroredStrategy:
            return _strategy_of(cls, _devices_named(devices))
        return super().__new__(cls)

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        super().__init__(_devices_named(devices))


def _strategy_of(cls: type[OnMesh], devices: Sequence[Any]) -> Strategy:
    if [device.platform for device in devices] == ["cpu"]:
        return OneDeviceStrategy()
    return object.__new__(cls)


def _devices_named(devices: Sequence[Any] | None) -> list[Any]:
    """Devices of JAX: all of this process, or those that TensorFlow names so."""
    found = devices_of(None, local=True)
    if not devices:
        return found
    known = {f"{d.platform}:{place}": d for place, d in enumerate(found)}
    names = [str(getattr(d, "name", d)).lower().rpartition("/")[2] for d in devices]
    names = [name.removeprefix("device:") for name in names]
    if missing := [name for name in names if name not in known]:
        raise ValueError(f"there is no device {missing[0]!r}: there are {list(known)}")
    return [known[name] for name in names]


class MultiWorkerMirroredStrategy(OnMesh):
    """A replica on each device of all processes, which the environment says.

    See `training.distribute.processes.Cluster.from_environment`. To be made before
    anything is computed by XLA. Of a `cluster_resolver` its ``cluster_spec()``,
    ``task_type`` and ``task_id`` are not asked: it is refused. Where there is one CPU
    alone, this gives a `OneDeviceStrategy`.
    """

    def __new__(
        cls, cluster_resolver: Any = None, communication_options: Any = None
    ) -> Any:
        """The strategy, of several devices or of one."""
        if cluster_resolver is not None:
            raise NotImplementedError(
                "there are no cluster resolvers: set TF_CONFIG, or "
                "JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES and JAX_PROCESS_ID"
            )
        connect(Cluster.from_environment())
        if cls is MultiWorkerMirroredStrategy:
            return _strategy_of(cls, devices_of(None, local=False))
        return super().__new__(cls)

    def __init__(
        self, cluster_resolver: Any = None, communication_options: Any = None
    ) -> None:
        found = devices_of(None, local=False)
        super().__init__(sorted(found, key=lambda d: (d.process_index, d.id)))


# --- which one is in force ------------------------------------------------------------

_default = Strategy()


def _innermost() -> Any:
    return replicas.inside() or (_scopes.get() or (_default,))[-1]


def get_strategy() -> Strategy:
    """The strategy in whose scope or `run` this is; else that of one device."""
    found = _innermost()
    strategy: Strategy = getattr(found, "strategy", found)
    return strategy


def has_strategy() -> bool:
    """Whether this is in the scope or in `run` of a strategy that was made."""
    return get_strategy() is not _default


def mesh_strategy() -> OnMesh | None:
    """The strategy in force, if it has replicas on the devices of a mesh."""
    found = get_strategy()
    return found if isinstance(found, OnMesh) else None


@contextmanager
def as_one_device() -> Iterator[None]:
    """Within the block no strategy is in force: the program sees all of the data."""
    token = _scopes.set(())
    try:
        yield
    finally:
        _scopes.reset(token)


def in_cross_replica_context() -> bool:
    """Whether this is in the scope of a strategy, but not in what its `run` runs."""
    is_replica = replicas.inside() or isinstance(_innermost(), ReplicaContext)
    return has_strategy() and not is_replica


def get_replica_context() -> ReplicaContext | None:
    """What a function of replicas can ask; None in the scope of a strategy outside."""
    return None if in_cross_replica_context() else ReplicaContext(get_strategy())
