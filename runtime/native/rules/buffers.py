"""Arrays of tensors: memory with a row for each element."""

from __future__ import annotations

from typing import Any

from runtime.native.flow import Step, rule
from runtime.native.nests import fill, moved, same_shape
from runtime.native.rules.movement import widened
from runtime.native.types import constant, in_memory, number
from runtime.native.values import Buffer, Lazy, Register, Scalar, Shape, Value

__all__: list[str] = []


def zeros(shape: Shape, dtype: Any) -> Value:
    """An array of zeros."""
    return Lazy(shape, dtype, lambda index: constant(0, dtype), is_flat=True)


def row_of(step: Step, buffer: Buffer, place: Register) -> Buffer:
    """A row of an array, in the memory of the array."""
    builder, shape = step.builder, buffer.shape[1:]
    start = builder.ir.mul(place, builder.count(shape))
    pointer = builder.ir.gep(
        buffer.pointer, [start], source_etype=in_memory(buffer.dtype)
    )
    return Buffer(shape, buffer.dtype, pointer)


def _place(step: Step, index: Any, count: Any) -> Register:
    """The index of an element, after a check."""
    builder = step.builder
    at = number(index) if type(index) is int else widened(step, index)
    step.check(builder.ir.icmp_unsigned("<", at, builder.dim(count)))
    return at


@rule("TensorArrayV3")
def _new(step: Step, *, size: Any, dtype: Any, element_shape: Any) -> Value:
    if element_shape is None or None in element_shape:
        raise step.refused("an array of elements of no known shape")
    if type(size) is not int:
        raise step.refused("an array of a size that is not known")
    if size < 0:
        raise step.refused("an array of negative size")
    return zeros((size, *element_shape), dtype)


@rule("TensorArrayWriteV3")
def _write(step: Step, buffer: Value, value: Value, *, index: Any) -> Value:
    if not same_shape(buffer.shape[1:], value.shape):
        raise step.refused("an element of another shape")
    place = _place(step, index, buffer.shape[0])
    found = step.writable(buffer)
    fill(step.builder, [(value, row_of(step, found, place))])
    return found


@rule("TensorArrayReadV3")
def _read(
    step: Step, buffer: Value, *, index: Any, size: Any = None, element_shape: Any
) -> Value:
    place = _place(step, index, buffer.shape[0] if size is None else size)
    return picked(step, buffer, place)


def picked(step: Step, buffer: Value, place: Register) -> Value:
    """A row of an array: where it lies, if the array lies in memory."""
    if not isinstance(buffer, Buffer):
        return moved(step.builder, buffer.shape[1:], buffer, lambda at: (place, *at))
    row = row_of(step, buffer, place)
    if row.shape:
        return row
    return Scalar(step.builder.load_only(row), row.dtype)
