"""Elements moved, and made of attributes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from runtime.engines.native.flow import Step, rule
from runtime.engines.native.nests import elementwise, force, moved, same_shape
from runtime.engines.native.rules.shapes import asked_shape, bounds, widened
from runtime.engines.native.types import constant, number
from runtime.engines.native.values import Buffer, Register, Scalar, Value
from runtime.engines.native.vectors import transpose
from runtime.ops.operands import Slice


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

    groups = _turned(x, order)
    if groups is not None:
        source = force(step.builder, x)
        turned = step.new_buffer(tuple([x.shape[axis] for axis in order]))
        flat = Buffer(groups, x.dtype, source.pointer)
        *batch, rows, columns = groups
        into = Buffer((*batch, columns, rows), x.dtype, turned.pointer)
        transpose(step.builder, flat, into)
        return turned

    def place(axes: tuple[Register, ...]) -> tuple[Register, ...]:
        found: list[Any] = [None] * rank
        for at, axis in zip(axes, order):
            found[axis % rank] = at
        return tuple(found)

    return moved(step.builder, tuple([x.shape[axis] for axis in order]), x, place)


#: From so many elements on arrays are transposed in squares.
_LARGE = 1 << 12


def _turned(x: Value, order: Sequence[int]) -> tuple[int, ...] | None:
    """The batch, rows and columns of a large array two parts of whose axes change."""
    rank = len(order)
    start = next((i for i in range(rank) if order[i] % rank != i), rank)
    middle = order[start] % rank if start < rank else 0
    turned = [*range(start), *range(middle, rank), *range(start, middle)]
    if start == rank or [axis % rank for axis in order] != turned:
        return None
    if not all(isinstance(dim, int) for dim in x.shape) or x.dtype.is_bool:
        return None
    parts = (0, start), (start, middle), (middle, rank)
    found = tuple([prod(x.shape[begin:end]) for begin, end in parts])
    return found if prod(found) >= _LARGE and min(found[1:]) >= 8 else None


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
