"""Vectors of numbers: in registers, in memory, and as rows of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import llvmlite.ir as ir

from runtime.core.types.dtypes import DType
from runtime.engines.native import machine
from runtime.engines.native.builder import Builder
from runtime.engines.native.types import I32, in_memory, number, size_of
from runtime.engines.native.values import Buffer, Register

#: Sums may be added in any order, and products be added without being rounded.
_SUMMED = ("reassoc", "contract")

# --- vectors --------------------------------------------------------------------------


def registers() -> tuple[int, int]:
    """How many vectors the processor holds in registers, and how many bytes in each."""
    has = machine.processor().features
    if has.get("avx512f"):
        return 32, 64
    if has.get("avx"):
        return 16, 32
    return (32 if has.get("neon") else 16), 16


def lanes_of(dtype: DType) -> int:
    """How many numbers are in a vector."""
    return registers()[1] // size_of(dtype)


def vector_type(dtype: DType, width: int) -> Any:
    """The type of so many numbers, which are not bools."""
    return ir.VectorType(in_memory(dtype), width)


def load_vector(builder: Builder, pointer: Register, dtype: DType, width: int) -> Any:
    """The numbers from a pointer on."""
    typ = vector_type(dtype, width)
    return builder.ir.load(pointer, typ=typ, align=size_of(dtype))


def store_vector(
    builder: Builder, value: Register, pointer: Register, dtype: DType
) -> None:
    """Write numbers from a pointer on."""
    builder.ir.store(value, pointer, align=size_of(dtype))


def repeated(builder: Builder, value: Register, width: int) -> Register:
    """The vector of one number."""
    typ = ir.VectorType(value.type, width)
    nothing = ir.Constant(typ, ir.Undefined)
    first = builder.ir.insert_element(nothing, value, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, width), [0] * width)
    return builder.ir.shuffle_vector(first, nothing, zeros)


def shifted(
    builder: Builder, pointer: Register, dtype: DType, *parts: tuple[Any, int]
) -> Register:
    """The pointer so many elements further: the sum of the products of pairs."""
    place: Any = None
    known = 0
    for at, step in parts:
        if isinstance(at, int):
            known += at * step
        elif step:
            part = at if step == 1 else builder.ir.mul(at, number(step))
            place = part if place is None else builder.ir.add(place, part)
    for each in (place, number(known) if known else None):
        if each is not None:
            pointer = builder.ir.gep(pointer, [each], source_etype=in_memory(dtype))
    return pointer


def added_product(builder: Builder, total: Any, x: Any, y: Any, dtype: DType) -> Any:
    """``total + x * y``, of floats rounded once where the processor can."""
    if not dtype.is_floating:
        return builder.ir.add(total, builder.ir.mul(x, y))
    product = builder.ir.fmul(x, y, flags=_SUMMED)
    return builder.ir.fadd(total, product, flags=_SUMMED)


def first_of(builder: Builder, tile: Register, size: int, count: int) -> Any:
    """Where a tile begins, so that it ends with the last of `count` rows."""
    begin = builder.ir.mul(tile, number(size))
    if count % size == 0:
        return begin
    last = number(count - size)
    is_less = builder.ir.icmp_signed("<", begin, last)
    return builder.ir.select(is_less, begin, last)


def each_row(
    builder: Builder, pointer: Register, dtype: DType, first: Any, count: int, step: int
) -> list[Register]:
    """The pointers to so many rows, from the one called `first` on."""
    return [
        shifted(builder, pointer, dtype, (first, step), (i, step)) for i in range(count)
    ]


# --- transposed matrices --------------------------------------------------------------


def transpose(builder: Builder, x: Buffer, into: Buffer | None = None) -> Buffer:
    """The matrices of a batch, each transposed, in memory: in `into`, or anywhere."""
    *batch, rows, columns = x.shape
    found = into or builder.new_buffer((*batch, columns, rows), x.dtype)
    size = min(lanes_of(x.dtype), 8)

    def matrix(place: Register, _: Any) -> Sequence[Register]:
        at = (place, rows * columns)
        source = shifted(builder, x.pointer, x.dtype, at)
        target = shifted(builder, found.pointer, x.dtype, at)
        side = size if min(rows, columns) >= size else 1

        def block(i: Register, _: Any) -> Sequence[Register]:
            row = first_of(builder, i, side, rows)

            def inner(j: Register, _: Any) -> Sequence[Register]:
                column = first_of(builder, j, side, columns)
                here = shifted(builder, source, x.dtype, (row, columns), (column, 1))
                there = shifted(builder, target, x.dtype, (column, rows), (row, 1))
                _turn(builder, x.dtype, side, here, columns, there, rows)
                return ()

            builder.loop(-(-columns // side), inner, is_final=True)
            return ()

        builder.loop(-(-rows // side), block, is_final=True)
        return ()

    if 0 not in x.shape:
        builder.loop(builder.product(batch), matrix, is_final=True)
    return found


def _turn(
    builder: Builder,
    dtype: DType,
    side: int,
    source: Register,
    source_step: int,
    target: Register,
    target_step: int,
) -> None:
    """Write a square transposed: rows are shuffled with those half a square below."""
    rows = [
        load_vector(builder, pointer, dtype, side)
        for pointer in each_row(builder, source, dtype, 0, side, source_step)
    ]
    half = side // 2
    masks = [
        ir.Constant(ir.VectorType(I32, side), list(chain(*zip(one, other))))
        for one, other in (
            (range(half), range(side, side + half)),
            (range(half, side), range(side + half, 2 * side)),
        )
        if half
    ]
    for _ in range(side.bit_length() - 1):
        rows = [
            builder.ir.shuffle_vector(one, other, mask)
            for one, other in zip(rows[:half], rows[half:])
            for mask in masks
        ]
    places = each_row(builder, target, dtype, 0, side, target_step)
    for row, pointer in zip(rows, places):
        store_vector(builder, row, pointer, dtype)
