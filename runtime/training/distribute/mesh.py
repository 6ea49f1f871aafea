"""Meshes of devices, and layouts: which part of a tensor lies on which device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor.device import DeviceTensor
from runtime.engines.xla.library import load
from runtime.files.saving.parts import Divided

#: In a layout: this axis is whole on every device.
UNSHARDED = "unsharded"
#: In `relayout`: this axis as it is.
MATCH = "match"

MeshDims = Sequence[tuple[str, int]] | Mapping[str, int]


class MeshDimension(NamedTuple):
    """A dimension of a mesh."""

    name: str
    size: int


class Mesh:
    """Devices in a grid whose dimensions have names: made by `create_mesh`."""

    def __init__(self, jax_mesh: Any, name: str = "") -> None:
        #: The mesh as JAX has it.
        self.jax_mesh = jax_mesh
        self._name = name

    @property
    def name(self) -> str:
        """The name of the mesh."""
        return self._name

    @property
    def dim_names(self) -> list[str]:
        """The names of the dimensions."""
        return list(self.jax_mesh.axis_names)

    @property
    def size(self) -> int:
        """The number of devices, those of other processes among them."""
        return int(self.jax_mesh.size)

    def shape(self) -> list[int]:
        """The sizes of the dimensions."""
        return list(self.jax_mesh.devices.shape)

    def contains_dim(self, dim_name: str) -> bool:
        """Whether there is a dimension of that name."""
        return dim_name in self.jax_mesh.axis_names

    def dim_size(self, dim_name: str) -> int:
        """The size of a dimension. Raises ValueError if there is none of the name."""
        if not self.contains_dim(dim_name):
            raise ValueError(
                f"the mesh {self} has no dimension {dim_name!r}: its dimensions are "
                f"{', '.join(map(repr, self.dim_names))}"
            )
        return int(self.jax_mesh.shape[dim_name])

    def __getitem__(self, dim_name: str) -> MeshDimension:
        return MeshDimension(dim_name, self.dim_size(dim_name))

    def device_type(self) -> str:
        """``CPU``, ``GPU`` or ``TPU``."""
        return str(self.jax_mesh.devices.flat[0].platform).upper()

    def local_devices(self) -> list[str]:
        """The names of the devices of this process."""
        return [device_name(device) for device in self.jax_mesh.local_devices]

    def num_local_devices(self) -> int:
        """How many of the devices are of this process."""
        return len(self.jax_mesh.local_devices)

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that have the devices."""
        return sorted({device.process_index for device in self.jax_mesh.devices.flat})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self.jax_mesh == other.jax_mesh

    def __hash__(self) -> int:
        return hash(self.jax_mesh)

    def __repr__(self) -> str:
        dims = ", ".join(f"{n!r}: {self.dim_size(n)}" for n in self.dim_names)
        return f"Mesh({{{dims}}}, {self.device_type()})"


def device_name(device: Any) -> str:
    """A device of JAX by the full name that TensorFlow would give it."""
    kind, task = device.platform.upper(), device.process_index
    return f"/job:worker/replica:0/task:{task}/device:{kind}:{device.id}"


def make_mesh(mesh_dims: MeshDims, devices: Sequence[Any], name: str) -> Mesh:
    """A mesh of these devices of JAX, in their order.

    Raises ValueError unless there are as many as the dimensions say.
    """
    items = mesh_dims.items() if isinstance(mesh_dims, Mapping) else mesh_dims
    dims = [MeshDimension(*item) for item in items]
    names = [dim.name for dim in dims]
    if not dims or len(set(names)) < len(names) or {UNSHARDED, MATCH} & set(names):
        raise ValueError(
            f"a mesh has dimensions of different names, which are not {UNSHARDED!r} or "
            f"{MATCH!r}: not {names}"
        )
    sizes = [dim.size for dim in dims]
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ValueError(f"the dimensions of a mesh are positive ints, not {sizes}")
    if math.prod(sizes) != len(devices):
        raise ValueError(
            f"a mesh of shape {sizes} has {math.prod(sizes)} devices, and "
            f"{len(devices)} are there: {', '.join(map(device_name, devices))}"
        )
    grid = np.empty(len(devices), object)
    grid[:] = devices
    return Mesh(load().sharding.Mesh(grid.reshape(sizes), names), name)


@dataclass(frozen=True)
class Layout:
    """How the axes of a tensor are divided over a mesh.

    `sharding_specs` has for each axis the name of a dimension of the mesh, over which
    the axis is divided, or `UNSHARDED`. Dimensions that are not named hold copies.

    Raises ValueError for an unknown dimension, or one that is named twice.
    """

    sharding_specs: Sequence[str]
    mesh: Mesh

    def __post_init__(self) -> None:
        object.__setattr__(self, "sharding_specs", tuple(self.sharding_specs))
        named = [spec for spec in self.sharding_specs if spec != UNSHARDED]
        for name in named:
            if name != MATCH:
                self.mesh.dim_size(name)
            if name != MATCH and named.count(name) > 1:
                raise ValueError(
                    f"the layout {list(self.sharding_specs)} divides two axes over the "
                    f"dimension {name!r}"
                )

    @classmethod
    def replicated(cls, mesh: Mesh, rank: int) -> Layout:
        """The whole tensor on every device."""
        return cls([UNSHARDED] * rank, mesh)

    @classmethod
    def batch_sharded(
        cls, mesh: Mesh, batch_dim: str, rank: int, axis: int = 0
    ) -> Layout:
        """One axis, the first one, is divided over a dimension of the mesh."""
        specs = [UNSHARDED] * rank
        if not -rank <= axis < rank:
            raise ValueError(f"a tensor of {rank} axes has no axis {axis}")
        specs[axis] = batch_dim
        return cls(specs, mesh)

    @classmethod
    def inner_sharded(cls, mesh: Mesh, inner_dim: str, rank: int) -> Layout:
        """The last axis is divided over a dimension of the mesh."""
        return cls.batch_sharded(mesh, inner_dim, rank, axis=-1)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.sharding_specs)

    def delete(self, dims: Sequence[int]) -> Layout:
        """The layout without some of its axes."""
        axes = {axis % self.rank for axis in dims}
        specs = [s for axis, s in enumerate(self.sharding_specs) if axis not in axes]
        return Layout(specs, self.mesh)

    def num_shards(self, idx: int) -> int:
        """Into how many parts an axis is divided."""
        name = self.sharding_specs[idx]
        return 1 if name == UNSHARDED else self.mesh.dim_size(name)

    def is_fully_replicated(self) -> bool:
        """Whether the whole tensor is on every device."""
        return all(self.num_shards(axis) == 1 for axis in range(self.rank))

    def local_shape_from_global_shape(self, global_shape: Any) -> list[int]:
        """The shape of the part of each device. Raises InvalidArgumentError as `fit`"""
        shape = [int(size) for size in global_shape]
        self.check(shape)
        return [size // self.num_shards(axis) for axis, size in enumerate(shape)]

    def global_shape_from_local_shape(self, local_shape: Any) -> list[int]:
        """The shape of a tensor whose parts have this shape."""
        return [int(n) * self.num_shards(axis) for axis, n in enumerate(local_shape)]

    # --- for arrays of JAX --------------------------------------------------------

    @cached_property
    def sharding(self) -> Any:
        """The layout as JAX has it."""
        jax = load()
        names = [None if name == UNSHARDED else name for name in self.sharding_specs]
        spec = jax.sharding.PartitionSpec(*names)
        return jax.sharding.NamedSharding(self.mesh.jax_mesh, spec)

    def check(self, shape: Sequence[Any]) -> None:
        """Raise InvalidArgumentError unless arrays of a shape can be divided so."""
        if len(shape) != self.rank:
            raise InvalidArgumentError(
                f"the layout {self} is for tensors of {self.rank} axes, not of shape "
                f"{tuple(shape)}"
            )
        for axis, size in enumerate(shape):
            if size % self.num_shards(axis):
                raise InvalidArgumentError(
                    f"axis {axis} of a tensor of shape {tuple(shape)} cannot be "
                    f"divided into {self.num_shards(axis)} equal parts, over the "
                    f"dimension {self.sharding_specs[axis]!r} of {self.mesh}"
                )

    def place(self, value: Any) -> Any:
        """An array, which is the same in all processes, divided over the devices."""
        self.check(value.shape)
        jax = load()
        # Copies: XLA writes to the values of variables, and tensors keep theirs.
        if isinstance(value, np.ndarray):
            return jax.make_array_from_callback(
                value.shape, self.sharding, lambda index: np.array(value[index])
            )
        return jax.jit(jax.numpy.copy, out_shardings=self.sharding)(value)

    def placed(self, tensor: Any) -> Any:
        """The value of an eager tensor as an array that is divided so."""
        if tensor.dtype.name == "string":
            raise InvalidArgumentError("strings stay where they are: XLA has none")
        is_held = type(tensor) is DeviceTensor
        return self.place(tensor.held if is_held else tensor._array)

    def pin(self, value: Any) -> Any:
        """Within a program of XLA: a value that is divided so."""
        return load().lax.with_sharding_constraint(value, self.sharding)

    def to_save(self, value: Any) -> Any:
        """An array for a file, or the part of it that this process is to write."""
        if value.is_fully_addressable or value.is_fully_replicated:
            return np.asarray(value)
        parts: list[tuple[int, Any]] = []
        own = {}
        for shard in sorted(value.global_shards, key=lambda shard: shard.device.id):
            if shard.replica_id == 0:
                cuts = zip(shard.index, value.shape)
                bounds = [cut.indices(size)[:2] for cut, size in cuts]
                if shard.data is not None:
                    own[len(parts)] = np.asarray(shard.data)
                parts.append((shard.device.process_index, bounds))
        return Divided(value.shape, value.dtype, parts, own)

    def __repr__(self) -> str:
        return f"Layout({list(self.sharding_specs)}, {self.mesh})"
