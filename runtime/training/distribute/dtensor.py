"""``tf.experimental.dtensor``: tensors that are divided over the devices of a mesh.

Such a tensor holds an array of JAX with a sharding. Functions with ``executor="xla"``
run on the devices that have the parts, and XLA says which results are divided how, and
moves what has to be moved. Single operations outside of functions bring the whole value
to this process. See docs/scaling.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Op, register
from runtime.core.tensor import EagerTensor
from runtime.core.tensor.device import DeviceTensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.engines.xla.library import load
from runtime.ops.convert import convert_to_tensor
from runtime.ops.derivatives import Applied, linear
from runtime.ops.variables import Variable
from runtime.training.distribute.mesh import (
    MATCH,
    UNSHARDED,
    Layout,
    Mesh,
    MeshDimension,
    MeshDims,
    device_name,
    make_mesh,
)
from runtime.training.distribute.processes import (
    Cluster,
    client_id,
    connect,
    devices_of,
    num_clients,
)

__all__ = [
    "MATCH", "UNSHARDED", "DVariable", "Layout", "Mesh", "MeshDimension", "barrier",
    "call_with_layout", "client_id", "copy_to_mesh", "create_distributed_mesh",
    "create_mesh", "fetch_layout", "initialize_accelerator_system", "is_dtensor",
    "know_rules", "local_devices", "num_clients", "num_global_devices",
    "num_local_devices", "pack", "relayout", "relayout_like", "unpack",
]  # fmt: skip

# --- processes and devices ------------------------------------------------------------


def initialize_accelerator_system(
    device_type: str | None = None,
    enable_coordination_service: bool = True,
    num_logical_cpu_devices: int | None = None,
    experimental_reset_context: bool = False,
    experimental_enable_megcore: bool = False,
) -> str:
    """Meet the other processes, as the environment says; gives the type of devices.

    To be called before anything is computed by XLA. `num_logical_cpu_devices` divides
    the CPU into that many devices. The environment says which processes there are:
    see `training.distribute.processes.Cluster`; without that, this one is alone.
    Megacores and a reset are refused.
    """
    if experimental_reset_context or experimental_enable_megcore:
        raise NotImplementedError(
            "initialize_accelerator_system can neither reset what was computed nor "
            "enable megacores"
        )
    jax = load()
    if num_logical_cpu_devices is not None:
        jax.config.update("jax_num_cpu_devices", num_logical_cpu_devices)
    if enable_coordination_service:
        connect(Cluster.from_environment())
    return str(devices_of(device_type, local=True)[0].platform).upper()


def local_devices(device_type: str, for_client_id: int | None = None) -> list[str]:
    """The names of the devices of a process, of this one if none is given."""
    wanted = client_id() if for_client_id is None else for_client_id
    devices = devices_of(device_type, local=False)
    return [device_name(found) for found in devices if found.process_index == wanted]


def num_local_devices(device_type: str) -> int:
    """How many devices of a type this process has."""
    return len(devices_of(device_type, local=True))


def num_global_devices(device_type: str) -> int:
    """How many devices of a type all processes have."""
    return len(devices_of(device_type, local=False))


def barrier(mesh: Mesh, barrier_name: str = "barrier", timeout: Any = None) -> None:
    """Wait until all processes have come to here."""
    if num_clients() > 1:
        from jax.experimental.multihost_utils import sync_global_devices

        sync_global_devices(barrier_name)


def create_mesh(
    mesh_dims: MeshDims | None = None,
    mesh_name: str = "",
    devices: Sequence[str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = True,
) -> Mesh:
    """A mesh of devices of this process: all, or those of these names.

    `mesh_dims` are names and sizes: ``[("batch", 4), ("model", 2)]``, or a dict; None:
    one dimension ``x``. XLA runs what runs on meshes, whatever `use_xla_spmd` says.
    Raises ValueError unless the sizes and the number of devices fit.
    """
    found = _named(devices_of(device_type, local=True), devices)
    return make_mesh(mesh_dims or [("x", len(found))], found, mesh_name)


def create_distributed_mesh(
    mesh_dims: MeshDims,
    mesh_name: str = "",
    local_devices: Sequence[str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = True,
) -> Mesh:
    """A mesh of the devices of all processes, in the order of the processes.

    All processes make the same mesh. Otherwise as `create_mesh`; only meshes of all
    devices are made: `local_devices` are refused where they are less.
    """
    if local_devices is not None:
        own = devices_of(device_type, local=True)
        if len(_named(own, local_devices)) != len(own):
            raise NotImplementedError("a distributed mesh has all devices of a process")
    found = devices_of(device_type, local=False)
    found = sorted(found, key=lambda device: (device.process_index, device.id))
    return make_mesh(mesh_dims, found, mesh_name)


def _named(devices: list[Any], names: Sequence[str] | None) -> list[Any]:
    """The devices of these names: full ones, or such as ``CPU:2`` by their place."""
    if names is None:
        return devices
    known = {device_name(device): device for device in devices}
    known |= {f"{d.platform.upper()}:{i}": d for i, d in enumerate(devices)}
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(f"there is no device {missing[0]!r}: there are {list(known)}")
    return [known[name] for name in names]


# --- tensors --------------------------------------------------------------------------


def copy_to_mesh(
    tensor: Any, layout: Layout, source_layout: Layout | None = None
) -> DeviceTensor:
    """A tensor divided over a mesh; all processes give the same value.

    Raises InvalidArgumentError if it cannot be divided so.
    """
    if current_graph() is not None:
        raise NotImplementedError(
            "copy_to_mesh is for tensors outside of functions; within one use relayout"
        )
    return DeviceTensor(layout.placed(convert_to_tensor(tensor)))


def relayout(tensor: Any, layout: Layout, name: str | None = None) -> Any:
    """The tensor, divided in another way; `MATCH` leaves an axis as it is.

    Within a function it says how XLA is to divide a value.
    """
    graph = current_graph()
    if MATCH in layout.sharding_specs:
        if graph is not None:
            raise NotImplementedError("MATCH is for tensors outside of functions")
        specs, old = layout.sharding_specs, fetch_layout(tensor).sharding_specs
        specs = [b if a == MATCH else a for a, b in zip(specs, old, strict=True)]
        layout = Layout(specs, layout.mesh)
    if graph is None:
        return copy_to_mesh(tensor, layout)
    found = convert_to_tensor(tensor)
    if found.shape.is_fully_defined():
        layout.check(found.shape.as_list())
    know_rules()
    spec = TensorSpec(found.shape, found.dtype)
    (result,) = graph.add("Relayout", [found], {"layout": layout}, [spec], name)
    return result


def relayout_like(tensor: Any, layout_tensor: Any, name: str | None = None) -> Any:
    """The tensor, divided as another one is."""
    return relayout(tensor, fetch_layout(layout_tensor), name)


def is_dtensor(tensor: Any) -> bool:
    """Whether a tensor or a variable is on a mesh."""
    return _sharding(tensor) is not None


def _sharding(tensor: Any) -> Any:
    value = tensor.on_device() if isinstance(tensor, Variable) else None
    if type(tensor) is DeviceTensor:
        value = tensor.held
    sharding = getattr(value, "sharding", None)
    return sharding if hasattr(sharding, "mesh") else None


def fetch_layout(tensor: Any) -> Layout:
    """How a tensor or a variable is divided. Raises ValueError if it is on no mesh."""
    sharding = _sharding(tensor)
    if sharding is None:
        raise ValueError(f"it is on no mesh: {tensor!r}; see copy_to_mesh")
    rank = len(tensor.shape)
    names = [*sharding.spec, *[None] * (rank - len(sharding.spec))]
    if any(isinstance(name, tuple) and len(name) != 1 for name in names):
        raise ValueError(f"no layout says how it is divided: {sharding.spec}")
    flat = [name[0] if isinstance(name, tuple) else name for name in names]
    return Layout([UNSHARDED if n is None else n for n in flat], Mesh(sharding.mesh))


def unpack(tensor: Any) -> list[EagerTensor]:
    """The parts of a tensor that the devices of this process have."""
    fetch_layout(tensor)
    held = tensor.on_device() if isinstance(tensor, Variable) else tensor.held
    return [EagerTensor(np.asarray(part.data)) for part in held.addressable_shards]


def pack(tensors: Sequence[Any], layout: Layout) -> DeviceTensor:
    """A tensor of its parts: one for each device of this process, in their order."""
    arrays = [np.asarray(tensor) for tensor in tensors]
    devices = layout.mesh.jax_mesh.local_devices
    if len(arrays) != len(devices):
        raise InvalidArgumentError(
            f"{len(arrays)} parts for {len(devices)} devices of {layout.mesh}"
        )
    kinds = {(array.shape, array.dtype) for array in arrays}
    if len(kinds) > 1 or len(arrays[0].shape) != layout.rank:
        raise InvalidArgumentError(f"parts of {sorted(map(str, kinds))} for {layout}")
    jax = load()
    parts = [jax.device_put(a, device) for a, device in zip(arrays, devices)]
    shape = tuple(layout.global_shape_from_local_shape(arrays[0].shape))
    made = jax.make_array_from_single_device_arrays(shape, layout.sharding, parts)
    return DeviceTensor(made)


def call_with_layout(
    fn: Callable[..., Any], layout: Layout | None, *args: Any, **kwargs: Any
) -> Any:
    """The result of a call, each tensor in it divided in this way."""
    result = fn(*args, **kwargs)
    if layout is None:
        return result
    return nest.map_structure(lambda tensor: relayout(tensor, layout), result)


class DVariable(Variable):
    """A variable that is divided over a mesh: all its values have one layout.

    The layout is that of the initial value, or `layout`.
    """

    def __init__(
        self,
        initial_value: Any,
        *,
        layout: Layout | None = None,
        dtype: Any = None,
        trainable: bool | None = None,
        name: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
    ) -> None:
        if callable(initial_value):
            initial_value = initial_value()
        if layout is None:
            layout = fetch_layout(initial_value)
        placed = copy_to_mesh(convert_to_tensor(initial_value, dtype), layout)
        # The value that the class asks for, and drops, takes no memory of a large one.
        zero = np.zeros((), placed.dtype.np_dtype)
        empty = EagerTensor(np.broadcast_to(zero, placed.held.shape))
        super().__init__(empty, trainable, name=name, constraint=constraint)
        self.layout = layout
        self.keep_on_device(placed.held)

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, "
            f"layout={list(self.layout.sharding_specs)}>"
        )


# --- relayout within graphs -----------------------------------------------------------

register(
    Op(
        "Relayout",
        lambda x, layout=None: x,
        lambda x, layout: TensorSpec(x.shape, x.dtype),
        strong=True,
        family="structure",
        is_alias=True,
    )
)


@linear("Relayout")
def _relayout_gradient(node: Applied, g: Any) -> Any:
    return [relayout(g, node.attrs["layout"])]


def know_rules() -> None:
    """Let the executor of XLA know the op; graphs of NumPy take it for nothing."""
    load()
    from runtime.training.distribute import rules  # noqa: F401
