"""Arrays joined, padded, turned round and counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.engines.native.flow import Step, rule
from runtime.engines.native.lengths import added, check_known, check_size
from runtime.engines.native.nest_plans import visit
from runtime.engines.native.nests import elementwise, fill, moved
from runtime.engines.native.rules.gather import widened
from runtime.engines.native.types import F64, I64, in_register, number
from runtime.engines.native.values import (
    Buffer,
    Dim,
    Index,
    Lazy,
    Register,
    Scalar,
    Shape,
    Value,
)
from runtime.ops.shapes import normal_axis


@rule("EnsureShape")
def _ensure_shape(step: Step, x: Value, shape: Any) -> Value:
    if check_known(step.builder, x.shape, shape) is None:
        raise step.refused("a shape of another rank")
    return x


@rule("AssertShape")
def _assert_shape(step: Step, x: Value, shape: Any) -> tuple[()]:
    if check_known(step.builder, x.shape, shape) is None:
        raise step.refused("a shape of another rank")
    return ()


@rule("ReverseV2")
def _reverse(step: Step, x: Value, axis: Any) -> Value:
    builder, rank = step.builder, len(x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if not all(type(item) is int for item in axes):
        raise step.refused("the axes are not known")
    turned = {normal_axis(item, rank) for item in axes}

    def place(axes: tuple[Register, ...]) -> tuple[Register, ...]:
        return tuple(
            builder.ir.sub(builder.ir.sub(builder.dim(dim), number(1)), at)
            if i in turned
            else at
            for i, (dim, at) in enumerate(zip(x.shape, axes))
        )

    return moved(builder, x.shape, x, place)


@rule("ConcatV2")
def _concat(step: Step, *values: Value, axis: Any) -> Value:
    if type(axis) is not int:
        raise step.refused("the axis is not known")
    builder = step.builder
    axis = normal_axis(axis, len(values[0].shape))
    shape = _joined(step, values, axis)
    found, start = step.new_buffer(shape), builder.dim(0)
    for value in values:
        _write_part(step, value, found, axis, start)
        start = builder.ir.add(start, builder.dim(value.shape[axis]))
    return found


def _joined(step: Step, values: tuple[Value, ...], axis: int) -> Shape:
    """The shape of arrays next to each other, after a check that the rest is equal."""
    builder = step.builder
    shape: list[Dim] = list(values[0].shape)
    for value in values[1:]:
        for i, dim in enumerate(value.shape):
            if i == axis or dim is shape[i] or dim == shape[i]:
                continue
            if type(dim) is int and type(shape[i]) is int:
                raise step.refused("shapes that do not fit")
            one, other = builder.dim(dim), builder.dim(shape[i])
            builder.check(builder.ir.icmp_unsigned("==", one, other))
            shape[i] = dim if type(dim) is int else shape[i]
    shape[axis] = added(builder, [value.shape[axis] for value in values])
    return tuple(shape)


def _write_part(
    step: Step, value: Value, into: Buffer, axis: int, start: Register
) -> None:
    """Store an array as a part of another, from a place of an axis on."""
    builder = step.builder
    if axis == 0:
        size = number(int(into.dtype.np_dtype.itemsize))
        rows = builder.ir.mul(start, builder.count(into.shape[1:]))
        pointer = builder.byte_offset(into.pointer, builder.ir.mul(rows, size))
        fill(builder, [(value, Buffer(value.shape, into.dtype, pointer))])
        return

    def body(index: Index) -> None:
        assert index.axes is not None
        at = list(index.axes)
        at[axis] = builder.ir.add(at[axis], start)
        builder.store(into, Index(tuple(at)), builder.at(value, index))

    visit(builder, value.shape, [value], body)


@rule("PadV2")
def _pad(step: Step, x: Value, paddings: Any, value: Any = 0, **_: Any) -> Value:
    builder = step.builder
    if not isinstance(paddings, (tuple, list)):
        raise step.refused("the widths of a border are not known")
    pairs = [tuple(pair) for pair in paddings]
    if not all(type(width) is int for pair in pairs for width in pair):
        raise step.refused("the widths of a border are not known")
    if not pairs:
        return x
    if isinstance(value, Scalar):
        border: Any = value.value
    elif isinstance(value, Lazy | Buffer):
        raise step.refused("a border that is no number")
    else:
        typ = in_register(step.dtype)
        border = typ(value)
    shape = tuple(
        added(builder, (dim, before, after))
        for dim, (before, after) in zip(x.shape, pairs)
    )
    found = step.new_buffer(shape)
    full = Scalar(border, step.dtype)
    fill(
        builder, [(elementwise(builder, shape, step.dtype, lambda v: v, [full]), found)]
    )

    def body(index: Index) -> None:
        assert index.axes is not None
        at = [
            builder.ir.add(place, number(before)) if before else place
            for place, (before, _) in zip(index.axes, pairs)
        ]
        builder.store(found, Index(tuple(at)), builder.at(x, index))

    visit(builder, x.shape, [x], body)
    return found


# --- ranges ---------------------------------------------------------------------------


@rule("Range")
def _range(step: Step, start: Any, limit: Any, delta: Any, **_: Any) -> Value:
    builder, dtype = step.builder, step.dtype
    of_dtype = _range_of_floats if dtype.is_floating else _range_of_integers
    length, element = of_dtype(step, start, limit, delta)
    check_size(builder, (length,), dtype)
    shape = step.known((length,))

    def compute(index: Index) -> Register:
        return element(index.flat if index.axes is None else index.axes[0])

    return Lazy(shape, dtype, compute, is_flat=True)


#: The length of a range, and what gives the number at a place.
Numbers = tuple[Dim, Callable[[Register], Register]]


def _range_of_integers(step: Step, start: Any, limit: Any, delta: Any) -> Numbers:
    builder = step.builder
    first, end, by = (_integer(step, part) for part in (start, limit, delta))
    zero = number(0)
    rises = builder.ir.icmp_signed(">", by, zero)
    builder.check(builder.ir.icmp_signed("!=", by, zero))
    upwards = builder.ir.icmp_signed("<=", first, end)
    downwards = builder.ir.icmp_signed(">=", first, end)
    builder.check(builder.ir.select(rises, upwards, downwards))
    # Both without a sign: the first may be further from the end than 63 bits tell.
    size = builder.ir.select(rises, by, builder.ir.neg(by))
    least, most = (
        builder.ir.select(rises, one, other)
        for one, other in ((first, end), (end, first))
    )
    width = builder.ir.sub(most, least)
    before_last = builder.ir.udiv(builder.ir.sub(width, number(1)), size)
    is_empty = builder.ir.icmp_unsigned("==", width, zero)
    following = builder.ir.add(before_last, number(1))
    typ = in_register(step.dtype)

    def element(at: Register) -> Register:
        value = builder.ir.add(first, builder.ir.mul(at, by))
        return value if value.type == typ else builder.ir.trunc(value, typ)

    return builder.ir.select(is_empty, zero, following), element


def _integer(step: Step, part: Any) -> Register:
    """A part of a range as an integer of 64 bits."""
    if type(part) is int:
        return number(part)
    if not isinstance(part, Scalar) or not part.dtype.is_integer:
        raise step.refused("a range whose ends are no integers")
    return widened(step.builder, part.value, part.dtype)


#: Ranges of more floats have no length that a float tells.
_LONGEST = 2.0**53


def _range_of_floats(step: Step, start: Any, limit: Any, delta: Any) -> Numbers:
    """NumPy counts with float64, and has the second number say what to add."""
    builder, write, typ = step.builder, step.builder.ir, in_register(step.dtype)
    first, end, by = (_float(step, part) for part in (start, limit, delta))
    length = write.fdiv(write.fsub(end, first), by)
    upwards = write.fcmp_ordered(">=", end, first)
    downwards = write.fcmp_ordered("<=", end, first)
    rises = write.fcmp_ordered(">", by, F64(0))
    builder.check(write.select(rises, upwards, downwards))
    builder.check(write.fcmp_ordered("<", length, F64(_LONGEST)))
    count = write.fptosi(builder.intrinsic("ceil", length), I64)
    begin, following = (
        value if typ == F64 else write.fptrunc(value, typ)
        for value in (first, write.fadd(first, by))
    )
    distance = write.fsub(following, begin)

    def element(at: Register) -> Register:
        value = write.fadd(begin, write.fmul(write.sitofp(at, typ), distance))
        is_second = write.icmp_signed("==", at, number(1))
        is_first = write.icmp_signed("==", at, number(0))
        return write.select(is_first, begin, write.select(is_second, following, value))

    return count, element


def _float(step: Step, part: Any) -> Register:
    """A part of a range as a float of 64 bits."""
    if type(part) in (int, float):
        return F64(float(part))
    if not isinstance(part, Scalar) or not part.dtype.is_floating:
        raise step.refused("a range whose ends are no floats")
    return (
        part.value if part.value.type == F64 else step.builder.ir.fpext(part.value, F64)
    )
