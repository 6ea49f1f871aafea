"""Arrays of tensors: memory with a row for each element."""

from __future__ import annotations

from typing import Any

from runtime.core.types import dtypes
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.lengths import check_size
from runtime.engines.native.nests import fill, force, moved, same_shape
from runtime.engines.native.rules.gather import check_places
from runtime.engines.native.rules.gather import widened as of_64_bits
from runtime.engines.native.rules.movement import widened
from runtime.engines.native.types import (
    BIT,
    I32,
    I64,
    POINTER,
    constant,
    number,
)
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
from runtime.ops.python_ints import is_exact

#: The rows of an array that grows are fewer, so that twice as many can be counted.
_MOST_ROWS = 1 << 60


def zeros(shape: Shape, dtype: Any) -> Value:
    """An array of zeros."""
    return Lazy(shape, dtype, lambda index: constant(0, dtype), is_flat=True)


def row_of(step: Step, buffer: Buffer, place: Register) -> Buffer:
    """A row of an array, in the memory of the array."""
    builder, shape = step.builder, buffer.shape[1:]
    start = builder.ir.mul(place, builder.count(shape))
    pointer = builder.pointer_to(buffer, Index((place,)), start)
    return Buffer(shape, buffer.dtype, pointer)


def _place(step: Step, index: Any, count: Any) -> Register:
    """The index of an element, after a check."""
    builder = step.builder
    at = number(index) if type(index) is int else widened(step, index)
    step.check(builder.ir.icmp_unsigned("<", at, builder.dim(count)))
    return at


def _check_element(step: Step, buffer: Value, value: Value) -> None:
    if not same_shape(buffer.shape[1:], value.shape):
        raise step.refused("an element of another shape")


def roomy(step: Step, buffer: Value, needed: Register) -> Buffer:
    """The first input in memory to write to, with at least so many rows."""
    builder, memory = step.builder, step.scope.granted.get(0)
    step.scope.own(step.output)
    if memory is not None:
        builder.check_room(memory, needed)
        return memory
    rows, *element = buffer.shape
    count = builder.intrinsic("smax", builder.dim(rows), needed)
    found = step.new_buffer((builder.as_dim(count), *element))
    fill(builder, [(buffer, Buffer(buffer.shape, buffer.dtype, found.pointer))])
    builder.clear_rows(found, rows, count)
    return found


@rule("TensorArrayV3")
def _new(step: Step, *, size: Any, dtype: Any, element_shape: Any) -> Value:
    if element_shape is None or None in element_shape:
        raise step.refused("an array of elements of no known shape")
    if type(size) is int:
        return zeros((step.known_shape[0], *element_shape), dtype)
    shape = (step.builder.as_dim(widened(step, size)), *element_shape)
    check_size(step.builder, shape, dtype)
    return zeros(shape, dtype)


@rule("TensorArrayWriteV3")
def _write(step: Step, buffer: Value, value: Value, *, index: Any) -> Value:
    _check_element(step, buffer, value)
    place = _place(step, index, buffer.shape[0])
    found = step.writable(buffer)
    fill(step.builder, [(value, row_of(step, found, place))])
    return found


@rule("TensorArrayGrowV3")
def _grow(
    step: Step, buffer: Value, count: Value, value: Value, *, index: Any
) -> tuple[Value, Value]:
    builder = step.builder
    _check_element(step, buffer, value)
    place = number(index) if type(index) is int else widened(step, index)
    step.check(builder.ir.icmp_unsigned("<", place, number(_MOST_ROWS)))
    end = builder.ir.add(place, number(1))
    found = roomy(step, buffer, end)
    fill(builder, [(value, row_of(step, found, place))])
    before = widened(step, count)
    size = builder.intrinsic("smax", before, end)
    return found, Scalar(builder.ir.trunc(size, I32), dtypes.int32)


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


# --- lists ----------------------------------------------------------------------------


def _wrapped(step: Step, index: Value, count: Value) -> Register:
    """An index counted from the front, after a check."""
    b = step.builder.ir
    at, size = widened(step, index), widened(step, count)
    at = b.select(b.icmp_signed("<", at, number(0)), b.add(at, size), at)
    step.check(b.icmp_unsigned("<", at, size))
    return at


def _rows_of(step: Step, buffer: Buffer, start: Register, rows: Dim) -> Buffer:
    """Rows of an array, in the memory of the array."""
    pointer = row_of(step, buffer, start).pointer
    return Buffer((rows, *buffer.shape[1:]), buffer.dtype, pointer)


def _shift(
    step: Step, buffer: Buffer, source: Register, target: Register, end: Register
) -> None:
    """Move the rows from one up to another to a place; none if that is before it."""
    builder, b = step.builder, step.builder.ir
    size = builder.bytes_of(buffer.shape[1:], buffer.dtype)
    rows = builder.intrinsic("smax", b.sub(end, source), number(0))
    count = b.mul(rows, size)
    pointers = [row_of(step, buffer, place).pointer for place in (target, source)]
    move = builder.module.declare_intrinsic("llvm.memmove", [POINTER, POINTER, I64])
    b.call(move, [*pointers, count, BIT(0)])


@rule("ListAppend")
def _append(step: Step, buffer: Value, count: Value, value: Value) -> Value:
    _check_element(step, buffer, value)
    place = widened(step, count)
    found = roomy(step, buffer, step.builder.ir.add(place, number(1)))
    fill(step.builder, [(value, row_of(step, found, place))])
    return found


@rule("ListExtend")
def _extend(step: Step, buffer: Value, count: Value, values: Value) -> Value:
    _check_element(step, buffer, Lazy(values.shape[1:], values.dtype, _no_element))
    builder, place = step.builder, widened(step, count)
    rows = values.shape[0]
    found = roomy(step, buffer, builder.ir.add(place, builder.dim(rows)))
    fill(builder, [(values, _rows_of(step, found, place, rows))])
    return found


def _no_element(index: Index) -> Register:
    raise NotImplementedError


@rule("ListInsert")
def _insert(
    step: Step, buffer: Value, count: Value, index: Value, value: Value
) -> Value:
    _check_element(step, buffer, value)
    builder, b = step.builder, step.builder.ir
    place, size = widened(step, index), widened(step, count)
    wrapped = builder.intrinsic("smax", b.add(place, size), number(0))
    least = builder.intrinsic("smin", place, size)
    place = b.select(b.icmp_signed("<", place, number(0)), wrapped, least)
    found = roomy(step, buffer, b.add(size, number(1)))
    _shift(step, found, place, b.add(place, number(1)), size)
    fill(builder, [(value, row_of(step, found, place))])
    return found


@rule("ListSet")
def _set(step: Step, buffer: Value, count: Value, index: Value, value: Value) -> Value:
    _check_element(step, buffer, value)
    place = _wrapped(step, index, count)
    found = step.writable(buffer)
    fill(step.builder, [(value, row_of(step, found, place))])
    return found


@rule("ListDelete")
def _delete(step: Step, buffer: Value, count: Value, index: Value) -> Value:
    place = widened(step, index)
    step.check(step.builder.ir.icmp_unsigned("<", place, widened(step, count)))
    after = step.builder.ir.add(place, number(1))
    found = step.writable(buffer)
    _shift(step, found, after, place, widened(step, count))
    return found


@rule("ListSetRows")
def _set_rows(step: Step, buffer: Value, places: Value, rows: Value) -> Value:
    _check_element(step, buffer, Lazy(rows.shape[1:], rows.dtype, _no_element))
    builder = step.builder
    count, given = (builder.dim(value.shape[0]) for value in (places, rows))
    step.check(builder.ir.icmp_unsigned("==", count, given))
    check_places(step, places, buffer.shape[0])
    found, rows = step.new_buffer(buffer.shape), force(builder, rows)
    fill(builder, [(buffer, found)])

    def write(index: Index) -> None:
        assert index.axes is not None
        which = builder.at(places, Index(index.axes))
        row = row_of(step, found, of_64_bits(builder, which, places.dtype))
        builder.copy(row_of(step, rows, *index.axes), row)

    builder.nest(places.shape, write, in_order=True)
    return found


@rule("ListSum")
def _sum(step: Step, start: Value, values: Value) -> Value:
    """Of Python's integers; the interpreter says which sum needs more than 64 bits."""
    if not is_exact(step.node) or not start.dtype is values.dtype is dtypes.int64:
        raise step.refused("a sum of other numbers than integers of Python")
    builder, b, shape = step.builder, step.builder.ir, values.shape[1:]
    if not same_shape(start.shape, shape) and start.shape:
        raise step.refused("a sum that begins with another shape")

    def add(index: Index) -> Register:
        axes = index.axes
        assert axes is not None

        def body(i: Register, total: Any) -> Any:
            value = builder.at(values, Index((i, *axes)))
            both = b.sadd_with_overflow(total[0], value)
            step.check(b.not_(b.extract_value(both, 1)))
            return (b.extract_value(both, 0),)

        begin = builder.at(start, index if start.shape else Index(()))
        return builder.loop(values.shape[0], body, [begin])[0]

    if not shape:
        return Scalar(add(Index(())), dtypes.int64)
    found = step.new_buffer(shape)
    builder.nest(shape, lambda index: builder.store(found, index, add(index)))
    return found


@rule("ListGet")
def _get(step: Step, buffer: Value, count: Value, index: Value) -> Value:
    return picked(step, buffer, _wrapped(step, index, count))


@rule("ListPlace")
def _list_place(step: Step, count: Value, index: Value, use: str) -> Value:
    place = _wrapped(step, index, count)
    return Scalar(step.builder.ir.trunc(place, I32), dtypes.int32)


@rule("ListFind")
def _find(step: Step, found: Value, message: str) -> Value:
    builder, b = step.builder, step.builder.ir
    end = builder.dim(found.shape[0])

    def earlier(i: Register, first: Any) -> Any:
        is_here = builder.at(found, Index((i,), i))
        is_first = b.and_(is_here, b.icmp_unsigned("<", i, first[0]))
        return (b.select(is_first, i, first[0]),)

    (place,) = builder.loop(found.shape[0], earlier, [end])
    step.check(b.icmp_unsigned("<", place, end))
    return Scalar(b.trunc(place, I32), dtypes.int32)
