"""Updates of variables as a read, ops, and an assignment: see `passes.lowering`.

The kernels hold the lock of the variable meanwhile, so that threads lose no updates. So
updates are only decomposed for executors that hold the state of variables themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.ops.apply import apply_one
from runtime.ops.arrays.dimensions import alike, length, lengths
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.joining import stack
from runtime.ops.arrays.rearrange import broadcast_to
from runtime.ops.arrays.scatter import (
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from runtime.ops.arrays.sequences import range as numbers_from
from runtime.ops.arrays.shape import expand_dims, reshape, shape, size
from runtime.ops.convert import cast, constant
from runtime.ops.define import run
from runtime.ops.reduce.reductions import reduce_prod

Update = Callable[[Any, Any, Any], Any]


def _read(variable: Any) -> Any:
    return apply_one("ReadVariableOp", variable=variable)


def _assign(value: Any, variable: Any) -> Any:
    return apply_one("AssignVariableOp", value, variable=variable)


def _replaced(part: Any, value: Any) -> Any:
    return value


def _plus(part: Any, value: Any) -> Any:
    one, other = alike(part, value)
    return one + other


def _minus(part: Any, value: Any) -> Any:
    one, other = alike(part, value)
    return one - other


# --- the whole value ------------------------------------------------------------------


@decomposes("AssignAddVariableOp")
def _assign_add(value: Any, *, variable: Any) -> Any:
    return _assign(_plus(_read(variable), value), variable)


@decomposes("AssignSubVariableOp")
def _assign_sub(value: Any, *, variable: Any) -> Any:
    return _assign(_minus(_read(variable), value), variable)


# --- slices that indices name ---------------------------------------------------------


def _nd_update(update: Update) -> Callable[..., Any]:
    def decomposition(indices: Any, updates: Any, *, variable: Any) -> Any:
        return _assign(update(_read(variable), indices, updates), variable)

    return decomposition


def _update(update: Update) -> Callable[..., Any]:
    """As `_nd_update`, for slices of the first axis; one number is for all of them."""

    def decomposition(indices: Any, updates: Any, *, variable: Any) -> Any:
        old = _read(variable)
        if None in (old.shape.rank, indices.shape.rank, updates.shape.rank):
            return NotImplemented
        if not updates.shape.rank:
            wanted = [*lengths(indices), *lengths(old)[1:]]
            updates = broadcast_to(updates, wanted)
        return _assign(update(old, expand_dims(indices, -1), updates), variable)

    return decomposition


def _scatter_multiply(old: Any, indices: Any, updates: Any) -> Any:
    """Each slice times all its updates; those of other slices count as ones."""
    inner = lengths(old)[1:]
    places = reshape(cast(indices, dtypes.int64), [-1])
    # Adding nothing refuses places that are outside, and updates of other shapes.
    old = tensor_scatter_nd_add(old, indices, updates - updates)
    own = expand_dims(numbers_from(0, length(old, 0), dtype=dtypes.int64), 1) == places
    for _ in inner:
        own = expand_dims(own, -1)
    rows = reshape(updates, [size(places), *inner])
    return old * reduce_prod(where(own, rows, constant(1, old.dtype)), 1)


for _name, _rule in {
    "Add": tensor_scatter_nd_add,
    "Sub": tensor_scatter_nd_sub,
    "Update": tensor_scatter_nd_update,
    "Min": tensor_scatter_nd_min,
    "Max": tensor_scatter_nd_max,
}.items():
    decomposes(f"ResourceScatterNd{_name}")(_nd_update(_rule))
    decomposes(f"ResourceScatter{_name}")(_update(_rule))
decomposes("ResourceScatterMul")(_update(_scatter_multiply))


@decomposes("ResourceBatchScatterUpdate")
def _batch_update(indices: Any, updates: Any, *, variable: Any) -> Any:
    if indices.shape.rank is None:
        return NotImplemented
    places = cast(indices, dtypes.int64)
    sizes = lengths(indices)
    parts = []
    for axis in range(len(sizes) - 1):
        along = [-1 if place == axis else 1 for place in range(len(sizes))]
        steps = numbers_from(0, sizes[axis], dtype=dtypes.int64)
        parts.append(broadcast_to(reshape(steps, along), sizes))
    found = stack([*parts, places], -1)
    return _assign(tensor_scatter_nd_update(_read(variable), found, updates), variable)


# --- slices ---------------------------------------------------------------------------


def _slice_update(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """``variable[key]`` becomes what `change` makes of it and of a value."""

    def decomposition(value: Any, *, variable: Any, key: Any) -> Any:
        old = _read(variable)
        # An Ellipsis is written as text.
        index = tuple(Ellipsis if type(item) is str else item for item in key)
        numbered = reshape(numbers_from(0, size(old), dtype=dtypes.int32), shape(old))
        places = run("StridedSlice", numbered, key=index)
        new = change(run("StridedSlice", old, key=index), value)
        flat = tensor_scatter_nd_update(
            reshape(old, [-1]), expand_dims(places, -1), new
        )
        return _assign(reshape(flat, shape(old)), variable)

    return decomposition


decomposes("ResourceStridedSliceAssign")(_slice_update(_replaced))
decomposes("ResourceStridedSliceAdd")(_slice_update(_plus))
decomposes("ResourceStridedSliceSub")(_slice_update(_minus))
