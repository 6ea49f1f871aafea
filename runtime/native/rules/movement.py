"""Elements moved, and made of attributes."""

from __future__ import annotations

from typing import Any

from runtime.native.flow import Step, rule
from runtime.native.nests import elementwise, force, moved, same_shape
from runtime.native.types import I64, constant, number
from runtime.native.values import Buffer, Register, Scalar, Value
from runtime.ops.define import Slice

__all__: list[str] = []


@rule("Const")
def _const(step: Step, *, value: Any, **_: Any) -> Value:
    if value.ndim == 0:
        return Scalar(constant(value.item(), step.dtype), step.dtype)
    return step.flow.held_array(value, step.output.spec)


@rule("Identity", "StopGradient")
def _identity(step: Step, x: Value, **_: Any) -> Value:
    return x


@rule("Reshape")
def _reshape(step: Step, x: Value, shape: Any) -> Value:
    target = step.known_shape
    if same_shape(x.shape, target):
        return x
    if isinstance(x, Scalar):
        return elementwise(step.builder, target, x.dtype, lambda v: v, [x])
    pointer = force(step.builder, x).pointer
    found = Buffer(target, x.dtype, pointer)
    if not target:
        return Scalar(step.builder.load_only(found), x.dtype)
    return found


@rule("BroadcastTo")
def _broadcast_to(step: Step, x: Value, shape: Any) -> Value:
    return elementwise(step.builder, step.known_shape, x.dtype, lambda v: v, [x])


@rule("Transpose")
def _transpose(
    step: Step, x: Value, perm: Any = None, conjugate: bool = False
) -> Value:
    rank = len(x.shape)
    order = tuple(range(rank))[::-1] if perm is None else tuple(perm)
    if not all(type(axis) is int for axis in order):
        raise step.refused("the order of axes is not known")

    def place(axes: tuple[Register, ...]) -> tuple[Register, ...]:
        found: list[Any] = [None] * rank
        for at, axis in zip(axes, order):
            found[axis % rank] = at
        return tuple(found)

    return moved(step.builder, step.known_shape, x, place)


@rule("StridedSlice")
def _strided_slice(step: Step, x: Value, key: tuple[Any, ...]) -> Value:
    builder = step.builder
    given = sum(item is not None and item is not Ellipsis for item in key)
    parts: list[Any] = []  # per axis of x: (start, step) or a register
    kept: list[int | None] = []  # per axis of the result: the axis of x
    for item in key if Ellipsis in key else (*key, Ellipsis):
        if item is None:
            kept.append(None)
        elif item is Ellipsis:
            for _ in range(len(x.shape) - given):
                kept.append(len(parts))
                parts.append((0, 1))
        elif isinstance(item, Slice):
            length = x.shape[len(parts)]
            if not all(part is None or type(part) is int for part in item):
                raise step.refused("the ends of a slice are not known")
            start, _, stride = slice(*item).indices(length)
            kept.append(len(parts))
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
            found[axis] = at if start == 0 else builder.ir.add(at, number(start))
        return tuple(found)

    return moved(builder, step.known_shape, x, place)


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


def widened(step: Step, item: Any) -> Register:
    """An integer as one of 64 bits."""
    if not isinstance(item, Scalar):
        raise step.refused("an index that is no number")
    extend = step.builder.ir.zext if item.dtype.is_unsigned else step.builder.ir.sext
    return item.value if item.value.type == I64 else extend(item.value, I64)
