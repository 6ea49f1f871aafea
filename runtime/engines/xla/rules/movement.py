"""Elements moved, made of attributes, and written where indices say."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from runtime.core.graph import Node
from runtime.core.types.shapes import TensorShape
from runtime.engines.xla.dimensions import is_symbolic_dim
from runtime.engines.xla.flow import Step, Value, is_known, rule
from runtime.ops.operands import Operand, Slice
from runtime.ops.shapes import normal_axis


def ints(step: Step, values: Any, what: str) -> tuple[int, ...]:
    """Integers that must be known when the program is compiled."""
    if is_known(values):
        values = np.asarray(values).ravel().tolist()
    found = []
    for value in values:
        if isinstance(value, np.ndarray):
            value = value.item()
        if is_symbolic_dim(value):
            found.append(value)
            continue
        if not is_known(value) and not isinstance(value, int):
            raise step.refused(
                f"XLA needs to know {what} when it compiles, and here a value of the "
                "program decides it"
            )
        found.append(int(value))
    return tuple(found)


@rule("Const")
def _const(step: Step, *, value: Any, **_: Any) -> Value:
    return value


@rule("Identity")
def _identity(step: Step, x: Value, **_: Any) -> Value:
    return x


@rule("EnsureShape")
def _ensure_shape(step: Step, x: Value, shape: Any) -> Value:
    if not TensorShape(shape).is_compatible_with(jnp.shape(x)):
        raise ValueError
    return x


@rule("AssertShape", checks=True)
def _assert_shape(step: Step, x: Value, shape: Any) -> tuple[()]:
    _ensure_shape(step, x, shape)
    return ()


@rule("StopGradient")
def _stop_gradient(step: Step, x: Value) -> Value:
    return lax.stop_gradient(x)


@rule("Shape")
def _shape(step: Step, x: Value, **_: Any) -> Value:
    dims = np.shape(x)
    is_open = any(map(is_symbolic_dim, dims))
    return np.array(dims, object if is_open else step.dtype)


@rule("Range")
def _range(step: Step, **_: Any) -> Value:
    raise step.refused(
        "XLA needs to know how long a range is when it compiles, and here a value of "
        "the program decides it"
    )


# --- shapes and axes ------------------------------------------------------------------


@rule("Reshape")
def _reshape(step: Step, x: Value, shape: Any) -> Value:
    return jnp.reshape(x, ints(step, shape, "the shape of a result"))


@rule("BroadcastTo")
def _broadcast_to(step: Step, x: Value, shape: Any) -> Value:
    return jnp.broadcast_to(x, ints(step, shape, "the shape of a result"))


@rule("Transpose")
def _transpose(
    step: Step, x: Value, perm: Any = None, conjugate: bool = False
) -> Value:
    x = jnp.transpose(x, None if perm is None else ints(step, perm, "the axes"))
    return jnp.conj(x) if conjugate else x


@rule("ConcatV2")
def _concat(step: Step, *values: Value, axis: Any) -> Value:
    (axis,) = ints(step, (axis,), "the axis")
    return jnp.concatenate([jnp.asarray(v, step.dtype) for v in values], axis)


@rule("PadV2")
def _pad(step: Step, x: Value, paddings: Any, value: Any = 0, **_: Any) -> Value:
    pairs = [ints(step, pair, "the widths of a border") for pair in paddings]
    if any(min(pair) < 0 for pair in pairs):
        raise ValueError
    value = jnp.asarray(value, step.dtype)
    return lax.pad(jnp.asarray(x), value, [(*pair, 0) for pair in pairs])


@rule("ReverseV2")
def _reverse(step: Step, x: Value, axis: Any) -> Value:
    axes = axis if np.ndim(axis) else (axis,)
    return jnp.flip(x, ints(step, axes, "the axes"))


# --- elements that are picked ---------------------------------------------------------


def in_bounds(step: Step, indices: Value, length: int, lowest: int = 0) -> Value:
    """Indices as int32 or int64, after a check that they lie within an axis."""
    indices = jnp.asarray(indices)
    wide = indices.astype(int)
    lowest = 0 if indices.dtype.kind == "u" else lowest
    step.check((wide >= lowest) & (wide < length))
    is_short = not is_symbolic_dim(length) and length < 2**31
    return indices.astype(jnp.int32 if is_short else jnp.int64)


def _has_operand(node: Node) -> bool:
    def within(item: Any) -> bool:
        if isinstance(item, tuple):
            return any(map(within, item))
        return isinstance(item, Operand)

    return within(node.attrs["key"])


@rule("StridedSlice", checks=_has_operand)
def _strided_slice(step: Step, x: Value, key: tuple[Any, ...]) -> Value:
    given = sum(item is not None and item is not Ellipsis for item in key)
    index: list[Any] = []
    axis = 0
    for item in key:
        if item is None or item is Ellipsis:
            index.append(item)
            axis += 0 if item is None else jnp.ndim(x) - given
            continue
        if isinstance(item, Slice):
            parts = [
                None if part is None else ints(step, (part,), "the ends of a slice")[0]
                for part in item
            ]
            index.append(slice(*parts))
        elif isinstance(item, int):
            range(jnp.shape(x)[axis])[item]  # JAX would not mind.
            index.append(item)
        else:
            length = jnp.shape(x)[axis]
            index.append(in_bounds(step, item, length, -length))
        axis += 1
    return jnp.asarray(x)[tuple(index)]


@rule("GatherV2", checks=True)
def _gather(
    step: Step, x: Value, indices: Value, axis: Any = 0, batch_dims: int = 0
) -> Value:
    (axis,) = ints(step, (axis,), "the axis")
    x = jnp.asarray(x)
    axis = normal_axis(axis, x.ndim)
    indices = in_bounds(step, indices, x.shape[axis])
    batch = normal_axis(batch_dims, indices.ndim + 1)
    shape = (*x.shape[:axis], *indices.shape[batch:], *x.shape[axis + 1 :])
    if not x.shape[axis]:
        return jnp.zeros(shape, x.dtype)
    take = partial(jnp.take, axis=axis - batch, mode="clip")
    for _ in range(batch):
        take = jax.vmap(take)
    return take(x, indices)


def places(
    step: Step, shape: tuple[int, ...], indices: Value, batch: int = 0
) -> tuple[Value, ...]:
    """The index of NumPy that rows of indices are, after a check of each."""
    indices = jnp.asarray(indices)
    depth = indices.shape[-1]
    if depth > len(shape) - batch or shape[:batch] != indices.shape[:batch]:
        raise ValueError
    found = [
        in_bounds(step, indices[..., level], shape[batch + level])
        for level in range(depth)
    ]
    return (*jnp.indices(indices.shape[:-1], sparse=True)[:batch], *found)


@rule("GatherNd", checks=True)
def _gather_nd(step: Step, x: Value, indices: Value, batch_dims: int = 0) -> Value:
    x = jnp.asarray(x)
    index = places(step, x.shape, indices, batch_dims)
    shape = (*jnp.shape(indices)[:-1], *x.shape[len(index) :])
    if not index or 0 in x.shape:
        return jnp.broadcast_to(x, shape) if not index else jnp.zeros(shape, x.dtype)
    return x.at[index].get(mode="clip")


# --- writes at indices ----------------------------------------------------------------


def _write(how: str, x: Value, index: tuple[Value, ...], updates: Value) -> Value:
    if how == "set" and jax.default_backend() != "cpu":
        index, updates = _without_duplicates(x, index, updates)
    return getattr(x.at[index], how)(updates, mode="drop")


def _without_duplicates(x: Value, index: tuple[Value, ...], updates: Value) -> Any:
    """Where the last update of each place goes, since only CPUs write in order."""
    numbers = jnp.arange(index[0].size).reshape(index[0].shape)
    target = jnp.full(x.shape[: len(index)], -1)
    last = target.at[index].max(numbers, mode="drop")
    is_last = last.at[index].get(mode="clip") == numbers
    return tuple([jnp.where(is_last, i, n) for i, n in zip(index, x.shape)]), updates


def _scattered(step: Step, how: str, x: Value, indices: Value, updates: Value) -> Value:
    updates = jnp.asarray(updates)
    index = places(step, x.shape, indices)
    if updates.shape != (*np.shape(indices)[:-1], *x.shape[len(index) :]):
        raise ValueError
    if not index:
        # The update is of the whole.
        return getattr(x.at[...], how)(updates.reshape(x.shape))
    return x if 0 in updates.shape else _write(how, x, index, updates)


@rule("ScatterNd", checks=True)
def _scatter_nd(step: Step, indices: Value, updates: Value, shape: Any) -> Value:
    zeros = jnp.zeros(ints(step, shape, "the shape of a result"), step.dtype)
    return _scattered(step, "add", zeros, indices, updates)


def _scatters(op: str, how: str) -> None:
    @rule(op, checks=True)
    def run(step: Step, x: Value, indices: Value, updates: Value, **_: Any) -> Value:
        return _scattered(step, how, jnp.asarray(x), indices, updates)


for _op, _how in (("Add", "add"), ("Update", "set"), ("Max", "max"), ("Min", "min")):
    _scatters(f"TensorScatter{_op}", _how)
