"""Sorting, the largest elements, searching, and the positions of true elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.nests import fill_with, force, same_shape
from runtime.engines.native.rules.elementwise import is_float
from runtime.engines.native.rules.shapes import as_dim
from runtime.engines.native.sorting import key_dtype, key_of, number_of, sort
from runtime.engines.native.types import (
    I32,
    I64,
    constant,
    in_memory,
    in_register,
    is_signed,
    number,
)
from runtime.engines.native.values import Buffer, Dim, Index, Register, Shape, Value
from runtime.ops.shapes import normal_axis

#: So many of the largest elements are kept in order while the others are looked at.
FEW_LARGEST = 16


def _element(buffer: Buffer, place: Register) -> tuple[Buffer, Index]:
    return buffer, Index(None, place)


class _Rows:
    """Memory for a row that is sorted: its keys, and the places of its elements."""

    def __init__(self, step: Step, x: Value, length: Dim, with_places: bool) -> None:
        builder = self.builder = step.builder
        self.dtype, self.length = x.dtype, length
        self.count = builder.dim(length)

        def two(dtype: DType) -> list[Buffer]:
            return [builder.new_buffer((length,), dtype) for _ in range(2)]

        if with_places:
            if isinstance(length, int) and length >= 2**31:
                raise step.refused("places that int32 does not hold")
            if not isinstance(length, int):
                limit = number(2**31)
                builder.check(builder.ir.icmp_unsigned("<", self.count, limit))
        self._keys = two(key_dtype(x.dtype))
        self._places = two(dtypes.int32) if with_places else []

    def put(self, at: Register, value: Register, **options: bool) -> None:
        """Let the key at a place be that of a number."""
        key = key_of(self.builder, self.dtype, value, **options)
        self.builder.store(*_element(self._keys[0], at), key)
        for places in self._places[:1]:
            self.builder.store(*_element(places, at), self.builder.ir.trunc(at, I32))

    def sort(self, count: Register | None = None) -> None:
        """Sort the keys, or so many of them, and their places."""
        sort(self.builder, self._keys, self._places, count or self.count)

    def key(self, at: Register) -> Register:
        """The key at a place."""
        return self.builder.load(*_element(self._keys[0], at))

    def place(self, at: Register) -> Register:
        """Where the element was whose key is at a place, in 32 bits."""
        return self.builder.load(*_element(self._places[0], at))

    def store(self, at: Register, key: Register, place: Register) -> None:
        """Let a key and its place be at a place."""
        self.builder.store(*_element(self._keys[0], at), key)
        self.builder.store(*_element(self._places[0], at), place)


def _along(axes: Sequence[Register], axis: int, at: Register) -> Index:
    """The index of a place of an axis, where those of the other axes are known."""
    return Index((*axes[:axis], at, *axes[axis:]))


# --- sort -----------------------------------------------------------------------------


def _sorts(op: str, gives_places: bool) -> None:
    @rule(op)
    def run(step: Step, x: Value, *, axis: int, descending: bool) -> Value:
        builder, axis = step.builder, normal_axis(axis, len(x.shape))
        found, length = step.new_buffer(x.shape), x.shape[axis]
        rows = _Rows(step, x, length, gives_places)
        options = {"descending": descending, "merges_zeros": gives_places}

        def row(index: Index) -> None:
            axes = index.axes
            assert axes is not None

            def put(at: Register, _: Any) -> Sequence[Register]:
                rows.put(at, builder.at(x, _along(axes, axis, at)), **options)
                return ()

            def take(at: Register, _: Any) -> Sequence[Register]:
                if gives_places:
                    value = rows.place(at)
                else:
                    key = rows.key(at)
                    value = number_of(builder, x.dtype, key, descending=descending)
                builder.store(found, _along(axes, axis, at), value)
                return ()

            builder.loop(length, put)
            rows.sort()
            builder.loop(length, take)

        others = (*x.shape[:axis], *x.shape[axis + 1 :])
        builder.nest(others, row, in_order=True)
        return found


_sorts("Sort", gives_places=False)
_sorts("ArgSort", gives_places=True)


# --- the largest ----------------------------------------------------------------------


@rule("TopKV2")
def _top_k(
    step: Step, x: Value, *, k: Any, sorted: bool, index_type: DType
) -> tuple[Value, Value]:
    builder, count = step.builder, as_dim(step, k)
    normal_axis(-1, len(x.shape))
    x, length = force(builder, x), x.shape[-1]
    if isinstance(count, int) and isinstance(length, int):
        if not 0 <= count <= length:
            raise step.refused("more elements than there are")
    else:
        sizes = builder.dim(count), builder.dim(length)
        builder.check(builder.ir.icmp_unsigned("<=", *sizes))
    shape = (*x.shape[:-1], count)
    values, indices = step.new_buffer(shape), step.new_buffer(shape, output=1)
    if isinstance(count, int) and count == 0:
        return values, indices
    rows = _Rows(step, x, length, with_places=True)
    is_few = isinstance(count, int) and count <= FEW_LARGEST

    def row(index: Index) -> None:
        axes = index.axes
        assert axes is not None

        def key(at: Register) -> Register:
            value = builder.load(x, Index((*axes, at)))
            return key_of(builder, x.dtype, value, descending=True)

        def put(at: Register, _: Any) -> Sequence[Register]:
            rows.store(at, key(at), builder.ir.trunc(at, I32))
            return ()

        def take(at: Register, _: Any) -> Sequence[Register]:
            place, here = rows.place(at), Index((*axes, at))
            wide = builder.ir.zext(place, I64)
            builder.store(values, here, builder.load(x, Index((*axes, wide))))
            typ = in_register(index_type)
            resize = builder.ir.zext if typ.width > 32 else builder.ir.trunc
            place = place if typ == I32 else resize(place, typ)
            builder.store(indices, here, place)
            return ()

        builder.loop(count if is_few else length, put)
        rows.sort(builder.dim(count) if is_few else None)
        if is_few:
            _look_at_rest(builder, rows, count, key)
        builder.loop(count, take)

    builder.nest(x.shape[:-1], row, in_order=True)
    return values, indices


def _look_at_rest(builder: Builder, rows: _Rows, count: int, key: Any) -> None:
    """Go through the keys behind the first `count`, which are sorted, and insert each
    key that is smaller than the last of these.
    """
    b, last = builder.ir, number(count - 1)

    def look(i: Register, _: Any) -> Sequence[Register]:
        at = b.add(i, number(count))
        own, place = key(at), b.trunc(at, I32)
        is_better = b.icmp_unsigned("<", own, rows.key(last))
        with b.if_then(is_better, likely=False), builder.memo.block():
            _insert(builder, rows, count, own, place)
        return ()

    builder.loop(builder.dim(b.sub(rows.count, number(count))), look)


def _insert(
    builder: Builder, rows: _Rows, count: int, key: Register, place: Register
) -> None:
    """Insert a key into the first `count`, behind equal ones, and drop the last key."""
    b = builder.ir

    def shift(i: Register, _: Any) -> Sequence[Register]:
        at = b.sub(number(count - 1), i)
        before = b.sub(at, number(1))
        own, left = rows.key(at), rows.key(before)
        moves, goes = (b.icmp_unsigned(">", other, key) for other in (left, own))
        pairs = ((left, key, own), (rows.place(before), place, rows.place(at)))
        new = [b.select(moves, p, b.select(goes, q, r)) for p, q, r in pairs]
        rows.store(at, *new)
        return ()

    builder.loop(count - 1, shift)
    first = number(0)
    own = rows.key(first)
    goes = b.icmp_unsigned(">", own, key)
    pairs = (key, own), (place, rows.place(first))
    rows.store(first, *[b.select(goes, p, q) for p, q in pairs])


# --- places in rows -------------------------------------------------------------------


@rule("SearchSorted")
def _search(
    step: Step, rows: Value, values: Value, *, side: str, out_type: DType
) -> Value:
    builder, b = step.builder, step.builder.ir
    _check_same(step, rows.shape[:-1], values.shape[:-1])
    rows, length = force(builder, rows), builder.dim(rows.shape[-1])
    found, typ = step.new_buffer(values.shape), in_register(out_type)
    # Each step halves what is left.
    zeros = builder.module.declare_intrinsic(
        "llvm.ctlz", [I64], ir.FunctionType(I64, [I64, ir.IntType(1)])
    )
    steps = b.sub(number(64), b.call(zeros, [length, ir.Constant(ir.IntType(1), 0)]))

    def search(index: Index) -> None:
        assert index.axes is not None
        outer, value = index.axes[:-1], builder.at(values, index)

        def halve(_: Register, ends: Any) -> Sequence[Register]:
            # Of what is left the larger half goes, or what is behind the smaller one.
            start, left = ends
            half = b.lshr(b.add(left, number(1)), number(1))
            after = b.add(start, half)
            middle = b.sub(after, number(1))
            other = builder.load(rows, Index((*outer, middle)))
            if side == "left":
                is_before = _is_less(builder, rows.dtype, other, value)
            else:
                is_before = b.not_(_is_less(builder, rows.dtype, value, other))
            return b.select(is_before, after, start), b.sub(left, half)

        place = builder.loop(steps, halve, [number(0), length])[0]
        builder.store(found, index, place if typ == I64 else b.trunc(place, typ))

    builder.nest(values.shape, search, into=[found])
    return found


def _check_same(step: Step, one: Shape, other: Shape) -> None:
    if len(one) != len(other):
        raise step.refused("rows of another rank")
    for a, b in zip(one, other):
        if same_shape((a,), (b,)):
            continue
        if isinstance(a, int) and isinstance(b, int):
            raise step.refused("another number of rows")
        builder = step.builder
        same = builder.ir.icmp_unsigned("==", builder.dim(a), builder.dim(b))
        builder.check(same)


def _is_less(builder: Builder, dtype: DType, x: Register, y: Register) -> Register:
    """Whether a number comes before another one: NaN after all others."""
    b = builder.ir
    if not is_float(dtype):
        compare = b.icmp_signed if is_signed(dtype) else b.icmp_unsigned
        return compare("<", x, y)
    is_last = b.and_(b.fcmp_unordered("uno", y, y), b.fcmp_ordered("ord", x, x))
    return b.or_(b.fcmp_ordered("<", x, y), is_last)


# --- what is true, what is different --------------------------------------------------


@rule("Where")
def _where(step: Step, condition: Value) -> Value:
    builder, b = step.builder, step.builder.ir
    if not condition.shape:
        raise step.refused("the places of one number")
    condition, rank = force(builder, condition), len(condition.shape)
    whole = builder.product(condition.shape)

    def is_true(index: Index) -> Register:
        value = builder.load(condition, index)
        if condition.dtype is dtypes.bool:
            return value
        zero = constant(0, condition.dtype)
        if is_float(condition.dtype):
            return b.fcmp_unordered("!=", value, zero)
        return b.icmp_unsigned("!=", value, zero)

    def tally(i: Register, found: Any) -> Sequence[Register]:
        return (b.add(found[0], b.zext(is_true(Index(None, i)), I64)),)

    (count,) = builder.loop(whole, tally, [number(0)])
    found = step.new_buffer((count, rank))
    with b.goto_entry_block():
        nowhere = b.alloca(I64, size=ir.Constant(I32, rank))

    def write(axes: tuple[Register, ...], row: Register) -> Register:
        if len(axes) == rank:
            # All are written, and the next ones over those that are not true.
            at = builder.byte_offset(found.pointer, b.mul(row, number(8 * rank)))
            at = b.select(b.icmp_unsigned("<", row, count), at, nowhere)
            for i, place in enumerate(axes):
                b.store(place, b.gep(at, [number(i)], source_etype=I64))
            return b.add(row, b.zext(is_true(Index(axes)), I64))

        def body(i: Register, carried: Any) -> Sequence[Register]:
            return (write((*axes, i), carried[0]),)

        return builder.loop(condition.shape[len(axes)], body, [row])[0]

    write((), number(0))
    return found


@rule("UniqueWithCounts")
def _unique(step: Step, x: Value, *, out_idx: DType) -> tuple[Value, Value, Value]:
    if len(x.shape) != 1:
        raise step.refused("an array that is no vector")
    builder, b = step.builder, step.builder.ir
    x, (length,) = force(builder, x), x.shape
    rows = _Rows(step, x, length, with_places=True)

    def put(at: Register, _: Any) -> Sequence[Register]:
        rows.put(at, builder.load(*_element(x, at)))
        return ()

    builder.loop(length, put)
    rows.sort()
    #: For each element the first one that is equal.
    owners = builder.new_buffer((length,), dtypes.int32)
    key_type = in_memory(key_dtype(x.dtype))

    def own(at: Register, carried: Any) -> Sequence[Register]:
        before, first, count = carried
        key, place = rows.key(at), rows.place(at)
        is_other = b.icmp_unsigned("!=", key, before)
        is_new = b.or_(is_other, b.icmp_unsigned("==", at, number(0)))
        first = b.select(is_new, place, first)
        builder.store(*_element(owners, b.zext(place, I64)), first)
        return key, first, b.add(count, b.zext(is_new, I64))

    begin = [key_type(0), I32(0), number(0)]
    count = builder.loop(length, own, begin)[2]
    found = step.new_buffer((count,))
    indices = step.new_buffer((length,), output=1)
    counts = step.new_buffer((count,), output=2)
    typ = in_register(out_idx)
    fill_with(builder, counts, typ(0))

    def class_of(i: Register, carried: Any) -> Sequence[Register]:
        owner = b.zext(builder.load(*_element(owners, i)), I64)
        is_first = b.icmp_unsigned("==", owner, i)
        known = builder.load(*_element(indices, owner))
        known = known if typ == I64 else b.zext(known, I64)
        place = b.select(is_first, carried[0], known)
        narrow = place if typ == I64 else b.trunc(place, typ)
        builder.store(*_element(indices, i), narrow)
        builder.store(*_element(found, place), builder.load(*_element(x, owner)))
        so_far = builder.load(*_element(counts, place))
        builder.store(*_element(counts, place), b.add(so_far, typ(1)))
        return (b.add(carried[0], b.zext(is_first, I64)),)

    builder.loop(length, class_of, [number(0)])
    return found, indices, counts
