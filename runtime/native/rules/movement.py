"""Elements moved, and made of attributes."""

from __future__ import annotations

from typing import Any

from runtime.native.flow import Step, rule
from runtime.native.nests import elementwise, moved, same_shape
from runtime.native.rules.shapes import asked_shape, bounds, widened
from runtime.native.types import constant, number
from runtime.native.values import Register, Scalar, Value
from runtime.ops.define import Slice

__all__ = ["widened"]


@rule("Const")
def _const(step: Step, *, value: Any, **_: Any) -> Value:
    if value.ndim == 0:
        return Scalar(constant(value.item(), step.dtype), step.dtype)
    return step.flow.held_array(value, step.output.spec)


@rule("Identity", "StopGradient")
def _identity(step: Step, x: Value, **_: Any) -> Value:
    return x


@rule("BroadcastTo")
def _broadcast_to(step: Step, x: Value, shape: Any) -> Value:
    builder, dims = step.builder, asked_shape(step, shape)
    if len(dims) < len(x.shape):
        raise step.refused("an array of more axes than it is broadcast to")
    for own, dim in zip(x.shape[::-1], dims[::-1]):
        if not ((isinstance(own, int) and own == 1) or same_shape((own,), (dim,))):
            is_same = builder.ir.icmp_signed("==", builder.dim(own), builder.dim(dim))
            builder.check(is_same)
    return elementwise(builder, dims, x.dtype, lambda v: v, [x])


@rule("Transpose")
def _transpose(
    step: Step, x: Value, perm: Any = None, conjugate: bool = False
) -> Value:
    rank = len(x.shape)
    order = tuple(range(rank))[::-1] if perm is None else perm
    if type(order) is not tuple or not all(type(axis) is int for axis in order):
        raise step.refused("the order of axes is not known")

    def place(axes: tuple[Register, ...]) -> tuple[Register, ...]:
        found: list[Any] = [None] * rank
        for at, axis in zip(axes, order):
            found[axis % rank] = at
        return tuple(found)

    return moved(step.builder, tuple([x.shape[axis] for axis in order]), x, place)


@rule("StridedSlice")
def _strided_slice(step: Step, x: Value, key: tuple[Any, ...]) -> Value:
    builder = step.builder
    given = sum(item is not None and item is not Ellipsis for item in key)
    parts: list[Any] = []  # per axis of x: (start, step) or a register
    kept: list[int | None] = []  # per axis of the result: the axis of x
    shape: list[Any] = []
    for item in key if Ellipsis in key else (*key, Ellipsis):
        if item is None:
            kept.append(None)
            shape.append(1)
        elif item is Ellipsis:
            for _ in range(len(x.shape) - given):
                kept.append(len(parts))
                shape.append(x.shape[len(parts)])
                parts.append((0, 1))
        elif isinstance(item, Slice):
            start, count, stride = bounds(step, item, x.shape[len(parts)])
            kept.append(len(parts))
            shape.append(count)
            parts.append((start, stride))
        else:
            parts.append(_place(step, item, x.shape[len(parts)]))

    def place(axes: tuple[Register, ...]) -> tuple[Register, ...]:
        found = [None if isinstance(part, tuple) else part for part in parts]
        for at, axis in zip(axes, kept):
            if axis is None:
                continue
            start, stride = parts[axis]
            at = at if stride == 1 else builder.ir.mul(at, number(stride))
            is_first = isinstance(start, int) and start == 0
            found[axis] = at if is_first else builder.ir.add(at, builder.dim(start))
        return tuple(found)

    return moved(builder, tuple(shape), x, place)


def _place(step: Step, item: Any, length: Any) -> Register:
    """An index of an axis, counted from its begin, after a check."""
    builder = step.builder
    if type(item) is int and type(length) is int:
        if not -length <= item < length:
            raise step.refused("an index out of range")
        return number(item % length)
    at = number(item) if type(item) is int else widened(step, item)
    wrapped = builder.ir.add(at, builder.dim(length))
    is_negative = builder.ir.icmp_signed("<", at, number(0))
    at = builder.ir.select(is_negative, wrapped, at)
    step.builder.check(builder.ir.icmp_unsigned("<", at, builder.dim(length)))
    return at
