"""Sums of products in tiles of vectors, which stay in registers while they are summed.

A tile is a few rows and a few vectors of columns of the result. Each step of a sum
loads a vector for each of its columns, and one number for each of its rows, by which
they are multiplied. (The idea is that of K. Goto and R. van de Geijn, "Anatomy of
High-Performance Matrix Multiplication", 2008, for operands that are in the cache.)

Rows and columns that are left over are not written apart: the last tile begins earlier,
and has some elements computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import llvmlite.ir as ir

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.types import BIT, constant, in_memory, number, size_of
from runtime.engines.native.values import Register
from runtime.engines.native.vectors import (
    added_product,
    first_of,
    lanes_of,
    load_vector,
    registers,
    repeated,
    shifted,
    store_vector,
    vector_type,
)

#: How much of a long sum is computed at once: its operands stay in the nearest cache.
_DEEP = 256
#: The same for one or two rows: the other operand is read once, along its rows.
_FLAT = 8
#: The bytes of the nearest cache that the other operand may take as it is.
_NEAR = 1 << 15


class Level(NamedTuple):
    """A loop of a sum, and by how many elements it moves on in both operands."""

    times: Any
    left: int
    right: int


class Sums(NamedTuple):
    """A matrix of sums: each row goes with one in `left`, each column with one in
    `right`, where columns are neighbours, as in the result.
    """

    dtype: DType
    rows: int
    columns: int
    #: From one row to the next: elements of the left operand, and of the result.
    left_step: int
    into_step: int
    #: The loops of each sum, outermost first.
    levels: Sequence[Level]
    #: Whether the sums are added to what is in the result.
    adds: bool = False
    #: Whether the columns of a tile are put together first; there is one level then.
    packs: bool = False
    #: How many of the first rows have their sums already.
    done: Any = None


def strip_of(dtype: DType) -> int:
    """The columns of a tile of many rows and many columns."""
    return _size_of_tile(1000, 1000)[1] * lanes_of(dtype)


# --- tiles ----------------------------------------------------------------------------


def add_products(
    builder: Builder, sums: Sums, left: Register, right: Register, into: Register
) -> None:
    """Compute all sums from the pointers to the first elements."""
    if not sums.rows or not sums.columns:
        return
    depth = sums.levels[0].times
    if len(sums.levels) > 1 or not isinstance(depth, int):
        _add_tiles(builder, sums, left, right, into)
        return
    size = _FLAT if sums.rows <= 2 else _DEEP
    is_far = sums.columns * depth * size_of(sums.dtype) > _NEAR
    if depth <= size and is_far:
        sums = sums._replace(packs=size == _DEEP)
    if depth <= size or not is_far:
        _add_tiles(builder, sums, left, right, into)
        return
    if not sums.adds:
        _clear(builder, sums, into)

    def block(i: Register, _: Any) -> Sequence[Register]:
        begin = builder.ir.mul(i, number(size))
        times: Any = size
        if depth % size:
            rest = builder.ir.sub(number(depth), begin)
            is_less = builder.ir.icmp_signed("<", rest, number(size))
            times = builder.ir.select(is_less, rest, number(size))
        _, *steps = sums.levels[0]
        x, y = (
            shifted(builder, pointer, sums.dtype, (begin, step))
            for pointer, step in zip((left, right), steps)
        )
        levels = [Level(times, *steps)]
        part = sums._replace(levels=levels, adds=True, packs=size == _DEEP)
        _add_tiles(builder, part, x, y, into)
        return ()

    builder.loop(-(-depth // size), block, is_final=True)


def _clear(builder: Builder, sums: Sums, into: Register) -> None:
    """Let all sums be 0."""

    def row(i: Register, _: Any) -> Sequence[Register]:
        pointer = shifted(builder, into, sums.dtype, (i, sums.into_step))
        builder.clear(pointer, sums.columns * size_of(sums.dtype))
        return ()

    builder.loop(sums.rows, row, is_final=True)


def _add_tiles(
    builder: Builder, sums: Sums, left: Register, right: Register, into: Register
) -> None:
    width = min(lanes_of(sums.dtype), sums.columns)
    vectors = -(-sums.columns // width)
    high, wide = _size_of_tile(sums.rows, vectors)
    full = sums.columns // (width * wide)
    tile = sums._replace(rows=high)

    def columns(
        tile: Sums, right: Register, into: Register, offsets: list[int]
    ) -> None:
        def rows(place: Register, _: Any) -> Sequence[Register]:
            first = first_of(builder, place, high, sums.rows)
            pointers = [
                shifted(builder, pointer, sums.dtype, (first, step))
                for pointer, step in ((left, sums.left_step), (into, sums.into_step))
            ]
            part = tile
            if sums.adds and sums.rows % high:
                part = tile._replace(done=_done(builder, place, high, sums.rows))
            _tile(builder, part, pointers[0], right, pointers[1], width, offsets)
            return ()

        builder.loop(-(-sums.rows // high), rows, is_final=True)

    def strip(place: Register, _: Any) -> Sequence[Register]:
        begin = builder.ir.mul(place, number(wide * width))
        here, there = (
            shifted(builder, pointer, sums.dtype, (begin, 1))
            for pointer in (right, into)
        )
        part = tile
        if sums.packs and full > 1 and sums.rows > 2 * high:
            part, here = _packed(builder, tile, here, wide * width)
        columns(part, here, there, [width * vector for vector in range(wide)])
        return ()

    builder.loop(full, strip, is_final=True)
    rest = range(full * wide, vectors)
    if rest:
        last = sums.columns - width
        columns(tile, right, into, [min(vector * width, last) for vector in rest])


def _packed(
    builder: Builder, sums: Sums, right: Register, width: int
) -> tuple[Sums, Register]:
    """The first columns of the right operand as a matrix of their own.

    Rows that are far from each other get in each other's way in the nearest cache.
    """
    (times, left_step, step), *_ = sums.levels
    scratch = builder.new_buffer((_DEEP, width), sums.dtype)

    def row(i: Register, _: Any) -> Sequence[Register]:
        source = shifted(builder, right, sums.dtype, (i, step))
        target = shifted(builder, scratch.pointer, sums.dtype, (i, width))
        vector = load_vector(builder, source, sums.dtype, width)
        store_vector(builder, vector, target, sums.dtype)
        return ()

    builder.loop(times, row, is_final=True)
    levels = [Level(times, left_step, width)]
    return sums._replace(levels=levels), scratch.pointer


def _done(builder: Builder, tile: Register, size: int, count: int) -> Register:
    """How many rows of a tile are also in the one before: see `_begin`."""
    is_last = builder.ir.icmp_signed("==", tile, number(count // size))
    return builder.ir.select(is_last, number(-count % size), number(0))


def _size_of_tile(rows: int, vectors: int) -> tuple[int, int]:
    """The rows and vectors of a tile for which the processor needs the least time."""
    return _quickest_tile(rows, vectors, registers()[0])


@cache
def _quickest_tile(rows: int, vectors: int, most: int) -> tuple[int, int]:
    """The same for a processor that holds `most` vectors."""

    def time(high: int, wide: int) -> int:
        # Two products are begun at once, and ready 4 cycles later; so are two loads.
        # Some more is for the begin and the end.
        return max(high * wide, high + wide, 8) + 1 if wide else 0

    def total(size: tuple[int, int]) -> tuple[int, int]:
        high, wide = size
        strips, rest = divmod(vectors, wide)
        each = strips * time(high, wide) + time(high, rest)
        return -(-rows // high) * each, -high * wide

    sizes = [
        (high, wide)
        for high in range(1, min(rows, most) + 1)
        for wide in range(1, min(vectors, most) + 1)
        if high * wide + wide + 1 <= most
    ]
    return min(sizes, key=total)


def _tile(
    builder: Builder,
    sums: Sums,
    left: Register,
    right: Register,
    into: Register,
    width: int,
    offsets: list[int],
) -> None:
    """One tile, whose vectors of columns are at some offsets."""
    dtype, rows = sums.dtype, range(sums.rows)
    typ = vector_type(dtype, width)

    def target(row: int, offset: int) -> Register:
        return shifted(builder, into, dtype, (row, sums.into_step), (offset, 1))

    def step(left: Register, right: Register, totals: Sequence[Any]) -> list[Any]:
        vectors = [
            load_vector(builder, shifted(builder, right, dtype, (at, 1)), dtype, width)
            for at in offsets
        ]
        found: list[Any] = []
        for row in rows:
            place = shifted(builder, left, dtype, (row, sums.left_step))
            value = builder.ir.load(place, typ=in_memory(dtype))
            factor = repeated(builder, value, width)
            for vector in vectors:
                total = totals[len(found)]
                found.append(added_product(builder, total, factor, vector, dtype))
        return found

    if sums.adds:
        begin = [
            load_vector(builder, target(row, at), dtype, width)
            for row in rows
            for at in offsets
        ]
    else:
        begin = [ir.Constant(typ, None) for _ in rows for _ in offsets]
    totals = _levels(builder, sums, left, right, begin, step)
    if sums.adds:
        totals = _added_once(builder, sums, width, offsets, begin, totals)
    for place, total in enumerate(totals):
        row, vector = divmod(place, len(offsets))
        store_vector(builder, total, target(row, offsets[vector]), dtype)


def _added_once(
    builder: Builder,
    sums: Sums,
    width: int,
    offsets: list[int],
    begin: list[Any],
    totals: list[Any],
) -> list[Any]:
    """The sums, but what was there already where the tiles before added up the same."""
    found = []
    for place, (old, new) in enumerate(zip(begin, totals)):
        row, vector = divmod(place, len(offsets))
        again = -offsets[vector] % width if len(offsets) == 1 else 0
        if again:
            bits = [lane >= again for lane in range(width)]
            mask = ir.Constant(ir.VectorType(BIT, width), bits)
            new = builder.ir.select(mask, new, old)
        if sums.done is not None:
            is_new = builder.ir.icmp_signed("<=", sums.done, number(row))
            new = builder.ir.select(is_new, new, old)
        found.append(new)
    return found


def _levels(
    builder: Builder,
    sums: Sums,
    left: Register,
    right: Register | None,
    begin: Sequence[Any],
    step: Callable[[Register, Any, Sequence[Any]], list[Any]],
) -> list[Any]:
    """What the loops of a sum carry to their end."""

    def level(depth: int, left: Any, right: Any, totals: Sequence[Any]) -> list[Any]:
        if depth == len(sums.levels):
            return step(left, right, totals)
        times, along_left, along_right = sums.levels[depth]

        def body(i: Register, carried: list[Any]) -> list[Any]:
            return level(
                depth + 1,
                shifted(builder, left, sums.dtype, (i, along_left)),
                right and shifted(builder, right, sums.dtype, (i, along_right)),
                carried,
            )

        return builder.loop(times, body, totals, is_final=True)

    return level(0, left, right, begin)


# --- vectors with vectors -------------------------------------------------------------


def add_lanes(
    builder: Builder,
    sums: Sums,
    left: Register,
    right: Register | None,
    into: Register,
    start: Any,
    combine: Callable[[Any, Any, Any], Any],
    finish: Callable[[Any, Any], Any] = lambda total, row: total,
) -> None:
    """Sums whose columns are neighbours in both operands: each column of the left one
    goes with the same one of the right one.

    ``combine(total, x, y)`` begins with `start`; what it gives goes through
    ``finish(total, row)``.
    """
    dtype = sums.dtype
    width = min(lanes_of(dtype), sums.columns)
    vectors = -(-sums.columns // width)
    high, wide = _size_of_lanes(sums.rows, vectors)
    element = constant(start, dtype)
    begin = [ir.Constant(vector_type(dtype, width), [element] * width)] * high * wide
    offsets = [width * vector for vector in range(wide)]
    if sums.columns < wide * width:
        offsets[-1] = sums.columns - width

    def loaded(pointer: Register, row: int, offset: int) -> Any:
        place = shifted(builder, pointer, dtype, (row, sums.left_step), (offset, 1))
        return load_vector(builder, place, dtype, width)

    def step(left: Register, right: Any, totals: Sequence[Any]) -> list[Any]:
        others = [None if right is None else loaded(right, 0, at) for at in offsets]
        return [
            combine(totals[row * wide + i], loaded(left, row, offset), others[i])
            for row in range(high)
            for i, offset in enumerate(offsets)
        ]

    def rows(place: Register, _: Any) -> Sequence[Register]:
        top = first_of(builder, place, high, sums.rows)

        def columns(place: Register, _: Any) -> Sequence[Register]:
            first = 0
            if sums.columns > wide * width:
                first = first_of(builder, place, wide * width, sums.columns)
            here = shifted(builder, left, dtype, (top, sums.left_step), (first, 1))
            there = right and shifted(builder, right, dtype, (first, 1))
            target = shifted(builder, into, dtype, (top, sums.into_step), (first, 1))
            totals = _levels(builder, sums, here, there, begin, step)
            for i, total in enumerate(totals):
                row, offset = i // wide, offsets[i % wide]
                at = shifted(builder, target, dtype, (row, sums.into_step), (offset, 1))
                found = finish(total, builder.ir.add(top, number(row)))
                store_vector(builder, found, at, dtype)
            return ()

        builder.loop(-(-sums.columns // (wide * width)), columns, is_final=True)
        return ()

    builder.loop(-(-sums.rows // high), rows, is_final=True)


def _size_of_lanes(rows: int, vectors: int) -> tuple[int, int]:
    """The rows and vectors of a tile of `add_lanes`, whose sums are in registers."""
    most = registers()[0] // 2
    wide = min(vectors, most // 4)
    return min(rows, most // wide), wide


# --- products of rows with rows -------------------------------------------------------


def add_dots(
    builder: Builder, sums: Sums, left: Register, right: Register, into: Register
) -> None:
    """As `add_products` with one level, along which both operands are neighbours; it
    says how far the columns of `right` are from each other.
    """
    dtype, (depth, _, right_step) = sums.dtype, sums.levels[0]
    width = min(lanes_of(dtype), depth)
    high = min(sums.rows, 2)
    wide = min(sums.columns, 8 // high)

    def rows(tile: Register, _: Any) -> Sequence[Register]:
        top = first_of(builder, tile, high, sums.rows)

        def columns(tile: Register, _: Any) -> Sequence[Register]:
            first = first_of(builder, tile, wide, sums.columns)
            xs = [
                shifted(
                    builder, left, dtype, (top, sums.left_step), (i, sums.left_step)
                )
                for i in range(high)
            ]
            ys = [
                shifted(builder, right, dtype, (first, right_step), (j, right_step))
                for j in range(wide)
            ]
            found = iter(_dots(builder, dtype, xs, ys, depth, width))
            for i in range(high):
                target = shifted(
                    builder, into, dtype, (top, sums.into_step), (first, 1)
                )
                for j in range(wide):
                    place = shifted(builder, target, dtype, (i, sums.into_step), (j, 1))
                    builder.ir.store(next(found), place)
            return ()

        builder.loop(-(-sums.columns // wide), columns, is_final=True)
        return ()

    builder.loop(-(-sums.rows // high), rows, is_final=True)


def _dots(
    builder: Builder, dtype: DType, xs: list[Any], ys: list[Any], depth: int, width: int
) -> Iterator[Any]:
    """The sums of the products of all pairs of rows."""

    def step(at: Any, width: int, totals: Sequence[Any]) -> list[Any]:
        def loaded(row: Register) -> Any:
            return load_vector(
                builder, shifted(builder, row, dtype, (at, 1)), dtype, width
            )

        lefts, rights = [loaded(x) for x in xs], [loaded(y) for y in ys]
        pairs = [(x, y) for x in lefts for y in rights]
        return [
            added_product(builder, total, x, y, dtype)
            for total, (x, y) in zip(totals, pairs)
        ]

    def body(i: Register, totals: list[Any]) -> list[Any]:
        return step(builder.ir.mul(i, number(width)), width, totals)

    def zeros(width: int) -> list[Any]:
        return [ir.Constant(vector_type(dtype, width), None) for _ in xs for _ in ys]

    totals = builder.loop(depth // width, body, zeros(width), is_final=True)
    found = [_total(builder, total, dtype) for total in totals]
    rest = depth % width
    if rest:
        more = step(depth - rest, rest, zeros(rest))
        add = builder.ir.fadd if dtype.is_floating else builder.ir.add
        found = [add(a, _total(builder, b, dtype)) for a, b in zip(found, more)]
    return iter(found)


def _total(builder: Builder, vector: Register, dtype: DType) -> Register:
    """The sum of the numbers of a vector."""
    typ, element = vector.type, vector.type.element
    kind = "fadd" if dtype.is_floating else "add"
    letter = "f" if dtype.is_floating else "i"
    bits = size_of(dtype) * 8
    name = f"llvm.vector.reduce.{kind}.v{typ.count}{letter}{bits}"
    first = [ir.Constant(element, -0.0)] if dtype.is_floating else []
    types = [value.type for value in (*first, vector)]
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(element, types), name
    )
    flags = ("reassoc",) if dtype.is_floating else ()
    return builder.ir.call(function, [*first, vector], fastmath=flags)
