"""Elements moved, and made of attributes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from runtime.graph import Node
from runtime.ops.define import Operand, Slice
from runtime.xla.flow import Step, Value, is_known, rule

__all__: list[str] = []


def ints(step: Step, values: Any, what: str) -> tuple[int, ...]:
    """Integers that must be known when the program is compiled."""
    if is_known(values):
        values = np.asarray(values).ravel().tolist()
    found = []
    for value in values:
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


@rule("Identity", "EnsureShape")
def _identity(step: Step, x: Value, **_: Any) -> Value:
    return x


@rule("StopGradient")
def _stop_gradient(step: Step, x: Value) -> Value:
    from jax import lax

    return lax.stop_gradient(x)


@rule("Shape")
def _shape(step: Step, x: Value, **_: Any) -> Value:
    return np.array(np.shape(x), step.dtype)


@rule("Reshape")
def _reshape(step: Step, x: Value, shape: Any) -> Value:
    return jnp.reshape(x, ints(step, shape, "the shape of a result"))


@rule("BroadcastTo")
def _broadcast_to(step: Step, x: Value, shape: Any) -> Value:
    return jnp.broadcast_to(x, ints(step, shape, "the shape of a result"))


@rule("Transpose")
def _transpose(step: Step, x: Value, perm: Any = None) -> Value:
    return jnp.transpose(x, None if perm is None else ints(step, perm, "the axes"))


@rule("ConcatV2")
def _concat(step: Step, *values: Value, axis: Any) -> Value:
    (axis,) = ints(step, (axis,), "the axis")
    return jnp.concatenate([jnp.asarray(v, step.dtype) for v in values], axis)


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
        if item is None:
            index.append(None)
        elif item is Ellipsis:
            index.append(item)
            axis += jnp.ndim(x) - given
        else:
            if isinstance(item, Slice):
                parts = [
                    None if part is None else ints(step, (part,), "the ends of a slice")
                    for part in item
                ]
                index.append(slice(*[part and part[0] for part in parts]))
            elif is_known(item) or isinstance(item, int):
                index.append(int(item))
            else:
                length = jnp.shape(x)[axis]
                step.check((item >= -length) & (item < length))
                index.append(item)
            axis += 1
    return jnp.asarray(x)[tuple(index)]


@rule("GatherV2", checks=True)
def _gather(
    step: Step, x: Value, indices: Value, axis: Any = 0, batch_dims: int = 0
) -> Value:
    (axis,) = ints(step, (axis,), "the axis")
    x = jnp.asarray(x)
    length = x.shape[axis]
    step.check((indices >= 0) & (indices < length))
    if not batch_dims:
        return jnp.take(x, indices, axis, mode="clip")
    raise step.refused("gather with batch_dims")
