"""Keys in order, as functions of LLVM.

Numbers are sorted by keys: integers without a sign that have the order of the numbers,
with NaN behind all others as in NumPy. Short arrays are sorted by counting for each key
those that come before it, in loops without branches; longer ones digit by digit, from
the last one on (Knuth, "The Art of Computer Programming", volume 3, 5.2.5). Both are
stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.types import (
    BIT,
    I32,
    I64,
    POINTER,
    in_register,
    is_signed,
    number,
    size_of,
)
from runtime.engines.native.values import Buffer, Register

#: Up to so many keys are counted.
FEW = 40
#: The bits of a digit, and how many there are.
_BITS = 8
_DIGITS = 1 << _BITS


# --- keys -----------------------------------------------------------------------------


def key_dtype(dtype: DType) -> DType:
    """The dtype of the keys of numbers."""
    found: DType = getattr(dtypes, f"uint{8 * size_of(dtype)}")
    return found


def key_of(
    builder: Builder,
    dtype: DType,
    value: Register,
    *,
    descending: bool = False,
    merges_zeros: bool = True,
) -> Register:
    """The key of a number; all NaNs have one key, and both zeros if wanted."""
    b, typ = builder.ir, in_register(key_dtype(dtype))
    if dtype is dtypes.bool:
        key = b.zext(value, typ)
    elif is_signed(dtype):
        key = b.xor(value, _sign(typ))
    elif dtype.is_floating:
        if merges_zeros:
            value = b.fadd(value, value.type(0.0))  # -0.0 becomes 0.0
        whole = b.bitcast(value, typ)
        is_negative = b.ashr(whole, typ(typ.width - 1))
        key = b.xor(whole, b.or_(is_negative, _sign(typ)))
        key = b.select(b.fcmp_unordered("uno", value, value), typ(-1), key)
    else:
        key = value
    return b.not_(key) if descending else key


def number_of(
    builder: Builder, dtype: DType, key: Register, *, descending: bool = False
) -> Register:
    """The number that has a key, if zeros were not merged."""
    b, typ = builder.ir, key.type
    key = b.not_(key) if descending else key
    if dtype is dtypes.bool:
        return b.trunc(key, BIT)
    if is_signed(dtype):
        return b.xor(key, _sign(typ))
    if not dtype.is_floating:
        return key
    is_positive = b.ashr(key, typ(typ.width - 1))
    whole = b.xor(key, b.or_(b.not_(is_positive), _sign(typ)))
    return b.bitcast(whole, in_register(dtype))


def _sign(typ: Any) -> Any:
    return typ(1 << (typ.width - 1))


# --- sorting --------------------------------------------------------------------------


def sort(
    builder: Builder, keys: Sequence[Buffer], places: Sequence[Buffer], count: Register
) -> None:
    """Sort the first keys, and with them their places, if there are any.

    Each is given with another array as long, which is overwritten.
    """
    bits = 8 * size_of(keys[0].dtype)
    function = _function(builder.module, bits, bool(places))
    with builder.ir.goto_entry_block():
        given = builder.ir.alloca(POINTER, ir.Constant(I32, 5), "given")
    pointers = [part.pointer for part in (*keys, *places)]
    values = [builder.ir.inttoptr(count, POINTER), *pointers]
    for place, value in enumerate(values):
        at = builder.ir.gep(given, [number(place)], source_etype=POINTER)
        builder.ir.store(value, at)
    builder.ir.call(function, [given])


def _function(module: Any, bits: int, with_places: bool) -> Any:
    """The function that sorts keys of so many bits; the module has it once."""
    name = f"sort{bits}_with_places" if with_places else f"sort{bits}"
    found = module.globals.get(name)
    if found is None:
        builder = Builder(module, name)
        found = builder.function
        found.linkage = "internal"
        types = [ir.IntType(bits), I32] if with_places else [ir.IntType(bits)]
        _write(builder, types)
        builder.end()
    return found


class _Column:
    """An array that is sorted, and the one that its elements are moved to."""

    def __init__(self, builder: Builder, typ: Any, source: Any, target: Any) -> None:
        self._b, self.typ = builder.ir, typ
        self.source, self.target = source, target

    def load(self, place: Register) -> Register:
        at = self._b.gep(self.source, [place], source_etype=self.typ)
        return self._b.load(at, typ=self.typ)

    def move(self, value: Register, place: Register) -> None:
        at = self._b.gep(self.target, [place], source_etype=self.typ)
        self._b.store(value, at)


def _write(builder: Builder, types: Sequence[Any]) -> None:
    b, count = builder.ir, builder.slot(0, I64)
    columns = [
        _Column(builder, typ, builder.slot(1 + 2 * i), builder.slot(2 + 2 * i))
        for i, typ in enumerate(types)
    ]
    with b.if_then(b.icmp_unsigned("<=", count, number(FEW))):
        _sort_few(builder, columns, count)
        _copy_back(builder, columns, count, [column.target for column in columns])
        builder.end()
    ends = _sort_by_digits(builder, columns, count)
    is_elsewhere = b.icmp_unsigned("!=", ends[0], columns[0].source)
    with b.if_then(is_elsewhere):
        _copy_back(builder, columns, count, ends)


def _copy_back(
    builder: Builder, columns: Sequence[_Column], count: Register, found: Sequence[Any]
) -> None:
    for column, pointer in zip(columns, found):
        size = builder.ir.mul(count, number(column.typ.width // 8))
        builder.copy_bytes(pointer, column.source, size)


def _sort_few(builder: Builder, columns: Sequence[_Column], count: Register) -> None:
    """Move each key behind those that are smaller, or equal and before it."""
    b, keys = builder.ir, columns[0]

    def place(i: Register, _: Any) -> Sequence[Register]:
        own = keys.load(i)

        def compared(sign: str, start: Register) -> Any:
            def body(j: Register, found: Any) -> Sequence[Register]:
                other = keys.load(b.add(start, j))
                is_before = b.icmp_unsigned(sign, other, own)
                return (b.add(found[0], b.zext(is_before, I64)),)

            return body

        (before,) = builder.loop(i, compared("<=", number(0)), [number(0)])
        rest = b.sub(count, i)
        (at,) = builder.loop(rest, compared("<", i), [before])
        for column in columns:
            column.move(column.load(i), at)
        return ()

    builder.loop(count, place)


def _sort_by_digits(
    builder: Builder, columns: Sequence[_Column], count: Register
) -> list[Any]:
    """Where the columns lie in order: in their own memory, or in the other one."""
    b, keys = builder.ir, columns[0]
    digits = keys.typ.width // _BITS
    with b.goto_entry_block():
        table = b.alloca(I64, size=ir.Constant(I32, digits * _DIGITS))
    builder.clear(table, digits * _DIGITS * 8)

    def entry(digit: Register, value: Register) -> Register:
        """Where the number of keys is whose digit has a value."""
        at = b.add(b.mul(digit, number(_DIGITS)), value)
        return b.gep(table, [at], source_etype=I64)

    def tally(i: Register, _: Any) -> Sequence[Register]:
        key = keys.load(i)
        for digit in range(digits):
            at = entry(number(digit), _digit(b, key, number(digit)))
            b.store(b.add(b.load(at, typ=I64), number(1)), at)
        return ()

    builder.loop(count, tally)

    def sort_by(digit: Register, pointers: Any) -> Sequence[Register]:
        half = len(columns)
        moved = [
            _Column(builder, column.typ, source, target)
            for column, source, target in zip(columns, pointers, pointers[half:])
        ]
        first = entry(digit, _digit(b, moved[0].load(number(0)), digit))
        # One that all keys have in common is left out.
        is_same = b.icmp_unsigned("==", b.load(first, typ=I64), count)

        def start(value: Register, total: Any) -> Sequence[Register]:
            at = entry(digit, value)
            own = b.load(at, typ=I64)
            b.store(total[0], at)
            return (b.add(total[0], own),)

        values = b.select(is_same, number(0), number(_DIGITS))
        builder.loop(values, start, [number(0)])

        def move(i: Register, _: Any) -> Sequence[Register]:
            at = entry(digit, _digit(b, moved[0].load(i), digit))
            place = b.load(at, typ=I64)
            b.store(b.add(place, number(1)), at)
            for column in moved:
                column.move(column.load(i), place)
            return ()

        builder.loop(b.select(is_same, number(0), count), move)
        swapped = [*pointers[half:], *pointers[:half]]
        return [b.select(is_same, p, q) for p, q in zip(pointers, swapped)]

    begin = [column.source for column in columns]
    begin += [column.target for column in columns]
    return builder.loop(digits, sort_by, begin)[: len(columns)]


def _digit(b: Any, key: Register, digit: Register) -> Register:
    """A digit of a key, the last one being the first."""
    wide = key if key.type == I64 else b.zext(key, I64)
    shifted = b.lshr(wide, b.mul(digit, number(_BITS)))
    return b.and_(shifted, number(_DIGITS - 1))
