"""Elements and rows picked by indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.types import dtypes
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.nests import elementwise, force, same_shape
from runtime.engines.native.types import I64, number
from runtime.engines.native.values import (
    Buffer,
    Dim,
    Index,
    Lazy,
    Register,
    Scalar,
    Value,
)
from runtime.ops.shapes import normal_axis


def widened(builder: Builder, value: Register, source: Any) -> Register:
    """An integer of a dtype as one of 64 bits."""
    if value.type == I64:
        return value
    extend = builder.ir.zext if source.is_unsigned else builder.ir.sext
    return extend(value, I64)


def lazy(
    step: Step, shape: Sequence[Dim], compute: Callable[[Index], Register]
) -> Value:
    """An array of the step's dtype, or the one number where it has no axes."""
    if not shape:
        return Scalar(compute(Index(())), step.dtype)
    return Lazy(tuple(shape), step.dtype, compute)


def check_places(step: Step, indices: Value, length: Dim) -> None:
    """Have the interpreter run the graph unless all indices lie within an axis."""
    builder, limit = step.builder, step.builder.dim(length)

    def is_within(value: Register) -> Register:
        at = widened(builder, value, indices.dtype)
        return builder.ir.icmp_unsigned("<", at, limit)

    step.check(elementwise(builder, indices.shape, dtypes.bool, is_within, [indices]))


@rule("GatherV2")
def _gather(
    step: Step, x: Value, indices: Value, axis: Any = 0, batch_dims: int = 0
) -> Value:
    if type(axis) is not int:
        raise step.refused("the axis is not known")
    builder = step.builder
    axis = normal_axis(axis, len(x.shape))
    batch = normal_axis(batch_dims, len(indices.shape) + 1)
    if not same_shape(x.shape[:batch], indices.shape[:batch]):
        raise step.refused("batches whose shapes are not known to be the same")
    if isinstance(indices, Lazy):
        indices = force(builder, indices)
    check_places(step, indices, x.shape[axis])
    x = force(builder, x)
    if axis == 0 and isinstance(indices, Scalar) and len(x.shape) > 1:
        return row_of(builder, x, widened(builder, indices.value, indices.dtype))
    end = axis + len(indices.shape) - batch
    shape = (*x.shape[:axis], *indices.shape[batch:], *x.shape[axis + 1 :])

    def compute(index: Index) -> Register:
        axes = index.axes
        assert axes is not None
        which = builder.at(indices, Index((*axes[:batch], *axes[axis:end])))
        at = widened(builder, which, indices.dtype)
        return builder.at(x, Index((*axes[:axis], at, *axes[end:])))

    return lazy(step, shape, compute)


def row_of(builder: Builder, x: Buffer, at: Register) -> Buffer:
    """An array of the first axis: a part of the memory of all."""
    shape = x.shape[1:]
    place = builder.ir.mul(at, builder.count(shape))
    size = number(int(x.dtype.np_dtype.itemsize))
    pointer = builder.byte_offset(x.pointer, builder.ir.mul(place, size))
    return Buffer(shape, x.dtype, pointer)


@rule("GatherNd")
def _gather_nd(step: Step, x: Value, indices: Value, batch_dims: int = 0) -> Value:
    builder = step.builder
    depth = indices.shape[-1]
    if type(depth) is not int:
        raise step.refused("how deep indices go is not known")
    if not same_shape(x.shape[:batch_dims], indices.shape[:batch_dims]):
        raise step.refused("batches whose shapes are not known to be the same")
    indices, x = force(builder, indices), force(builder, x)
    outer = len(indices.shape) - 1
    for level in range(depth):
        check_places(step, column(builder, indices, level), x.shape[batch_dims + level])
    shape = (*indices.shape[:-1], *x.shape[batch_dims + depth :])

    def compute(index: Index) -> Register:
        axes = index.axes
        assert axes is not None
        found = []
        for level in range(depth):
            which = builder.at(indices, Index((*axes[:outer], number(level))))
            found.append(widened(builder, which, indices.dtype))
        return builder.at(x, Index((*axes[:batch_dims], *found, *axes[outer:])))

    return lazy(step, shape, compute)


def column(builder: Builder, indices: Value, level: int) -> Value:
    """One number of each row of indices."""

    def compute(index: Index) -> Register:
        assert index.axes is not None
        return builder.at(indices, Index((*index.axes, number(level))))

    if len(indices.shape) == 1:
        return Scalar(compute(Index(())), indices.dtype)
    return Lazy(indices.shape[:-1], indices.dtype, compute)
