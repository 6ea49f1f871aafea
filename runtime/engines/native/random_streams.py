"""Random numbers as functions of LLVM: the generator Philox, and NumPy's draws.

All are drawn one after the other, from the words that NumPy takes, so that they are
the same numbers. A stream is an array of words of 64 bits, see `WORDS`.

Philox: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
2011. Integers: Lemire, "Fast random integer generation in an interval", 2019. Normal
numbers: Marsaglia and Tsang, "The ziggurat method for generating random variables",
2000, with the tables of NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import llvmlite.ir as ir
import numpy as np

from runtime.engines.native.types import F64, I32, I64, POINTER, number

#: What is where in a stream: the key, the counter that `PLACE` counts from, the number
#: of the next word of 64 bits, whether the upper half of one is left over, and which.
#: Then the words of the current block of four, and a word of 32 bits that is taken in
#: parts, behind the number of these that are left.
KEY, BASE, PLACE, HAS_HALF, HALF, BLOCK, PARTS_LEFT, PARTS = 0, 2, 4, 5, 6, 7, 11, 12
WORDS = 13

_FACTORS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_WEYL = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_I128 = ir.IntType(128)

Write = Callable[[Any, Any], None]


def _function(module: Any, name: str, typ: Any, write: Write, *more: Any) -> Any:
    """A function of a stream that the module has once; ``write(ir, function)``."""
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(typ, [POINTER, *more]), name)
        found.linkage = "internal"
        write(ir.IRBuilder(found.append_basic_block("entry")), found)
    return found


def _at(b: Any, stream: Any, place: Any) -> Any:
    place = number(place) if isinstance(place, int) else place
    return b.gep(stream, [place], source_etype=I64)


def _load(b: Any, stream: Any, place: Any) -> Any:
    return b.load(_at(b, stream, place), typ=I64)


def prepare_block(module: Any) -> Any:
    """The function that computes the block of words at the place of a stream."""

    def write(b: Any, function: Any) -> None:
        (stream,) = function.args
        low, high = _load(b, stream, BASE), _load(b, stream, BASE + 1)
        first = b.add(low, b.lshr(_load(b, stream, PLACE), number(2)))
        carry = b.zext(b.icmp_unsigned("<", first, low), I64)
        words = [first, b.add(high, carry), number(0), number(0)]
        key = [_load(b, stream, KEY), _load(b, stream, KEY + 1)]
        for _ in range(10):
            (high0, low0), (high1, low1) = (
                _product(b, factor, words[2 * i]) for i, factor in enumerate(_FACTORS)
            )
            words = [
                b.xor(b.xor(high1, words[1]), key[0]),
                low1,
                b.xor(b.xor(high0, words[3]), key[1]),
                low0,
            ]
            key = [b.add(k, I64(weyl)) for k, weyl in zip(key, _WEYL)]
        for i, value in enumerate(words):
            b.store(value, _at(b, stream, BLOCK + i))
        b.ret_void()

    return _function(module, "random_block", ir.VoidType(), write)


def _product(b: Any, factor: int, value: Any) -> tuple[Any, Any]:
    """The upper and the lower 64 bits of a product."""
    whole = b.mul(b.zext(value, _I128), _I128(factor))
    return b.trunc(b.lshr(whole, _I128(64)), I64), b.trunc(whole, I64)


def word(module: Any, bits: int) -> Any:
    """The function that draws a word of 64 or 32 bits."""
    return _word64(module) if bits == 64 else _word32(module)


def _word64(module: Any) -> Any:
    compute = prepare_block(module)

    def write(b: Any, function: Any) -> None:
        (stream,) = function.args
        place = _load(b, stream, PLACE)
        lane = b.and_(place, number(3))
        with b.if_then(b.icmp_unsigned("==", lane, number(0)), likely=False):
            b.call(compute, [stream])
        b.store(b.add(place, number(1)), _at(b, stream, PLACE))
        b.ret(_load(b, stream, b.add(lane, number(BLOCK))))

    return _function(module, "random_word64", I64, write)


def _word32(module: Any) -> Any:
    draw = _word64(module)

    def write(b: Any, function: Any) -> None:
        (stream,) = function.args
        is_left = b.icmp_unsigned("!=", _load(b, stream, HAS_HALF), number(0))
        with b.if_then(is_left):
            b.store(number(0), _at(b, stream, HAS_HALF))
            b.ret(b.trunc(_load(b, stream, HALF), I32))
        whole = b.call(draw, [stream])
        b.store(number(1), _at(b, stream, HAS_HALF))
        b.store(b.lshr(whole, number(32)), _at(b, stream, HALF))
        b.ret(b.trunc(whole, I32))

    return _function(module, "random_word32", I32, write)


def small_word(module: Any, bits: int) -> Any:
    """The function that draws a word of 8 or 16 bits, as 64; each is a part of one."""
    draw = _word32(module)

    def write(b: Any, function: Any) -> None:
        (stream,) = function.args
        left = _load(b, stream, PARTS_LEFT)
        parts, count = _at(b, stream, PARTS), _at(b, stream, PARTS_LEFT)
        with b.if_else(b.icmp_unsigned("==", left, number(0))) as (none, some):
            with none:
                b.store(b.zext(b.call(draw, [stream]), I64), parts)
                b.store(number(32 // bits - 1), count)
            with some:
                b.store(b.lshr(_load(b, stream, PARTS), number(bits)), parts)
                b.store(b.sub(left, number(1)), count)
        b.ret(b.and_(_load(b, stream, PARTS), number(2**bits - 1)))

    return _function(module, f"random_word{bits}", I64, write)


def unit(module: Any, typ: Any) -> Any:
    """The function that draws a float of [0, 1)."""
    bits, digits = (64, 53) if typ == F64 else (32, 24)
    draw = word(module, bits)

    def write(b: Any, function: Any) -> None:
        drawn = b.call(draw, function.args)
        whole = b.lshr(drawn, ir.Constant(drawn.type, bits - digits))
        b.ret(b.fmul(b.uitofp(whole, typ), ir.Constant(typ, 2.0**-digits)))

    return _function(module, f"random_unit{bits}", typ, write)


# --- integers -------------------------------------------------------------------------


def bounded(module: Any, bits: int) -> Any:
    """The function that draws a number from 0 to a second argument, of so many bits."""
    wide = _scaled(module, 64) if bits == 64 else None
    narrow = _scaled(module, min(bits, 32))

    def write(b: Any, function: Any) -> None:
        stream, span = function.args
        with b.if_then(b.icmp_unsigned("==", span, number(0))):
            b.ret(number(0))
        if wide is not None:
            with b.if_then(b.icmp_unsigned(">", span, number(2**32 - 1))):
                b.ret(b.call(wide, [stream, span]))
        b.ret(b.call(narrow, [stream, span]))

    return _function(module, f"random_below{bits}", I64, write, I64)


def _scaled(module: Any, bits: int) -> Any:
    """The function that scales words by a span, drawing unfair ones again."""
    draw = small_word(module, bits) if bits < 32 else word(module, bits)
    top = I64(2**bits - 1)

    def write(b: Any, function: Any) -> None:
        stream, span = function.args
        ends = b.add(span, number(1))
        again = function.append_basic_block("again")
        b.branch(again)
        b.position_at_end(again)
        drawn = b.call(draw, [stream])
        drawn = b.zext(drawn, I64) if bits == 32 else drawn
        if bits == 64:
            with b.if_then(b.icmp_unsigned("==", span, top), likely=False):
                b.ret(drawn)
        whole = b.mul(b.zext(drawn, _I128), b.zext(ends, _I128))
        found = b.trunc(b.lshr(whole, _I128(bits)), I64)
        rest = b.and_(b.trunc(whole, I64), top)
        with b.if_then(b.icmp_unsigned(">=", rest, ends), likely=True):
            b.ret(found)
        right = function.append_basic_block("right")
        least = b.urem(b.sub(top, span), ends)
        b.cbranch(b.icmp_unsigned(">=", rest, least), right, again)
        b.position_at_end(right)
        b.ret(found)

    return _function(module, f"random_scaled{bits}", I64, write, I64)


# --- normal numbers -------------------------------------------------------------------

#: Where the tail of the normal distribution begins, and the area of each layer.
_TAIL, _AREA = 3.6541528853610088, 0.0049286732339746519


@cache
def _layers() -> tuple[list[float], list[float]]:
    """The ends of the 256 layers of the ziggurat, and the density at these."""
    density = [math.exp(-0.5 * _TAIL * _TAIL)]
    ends = [_TAIL]
    while len(ends) < 255:
        ends.append(math.sqrt(-2 * math.log(_AREA / ends[-1] + density[-1])))
        found = math.exp(-0.5 * ends[-1] * ends[-1])
        if len(ends) == 218:
            # NumPy's table was made where this one was rounded up.
            found = math.nextafter(found, 1)
        density.append(found)
    return [_AREA / density[0], *ends[::-1]], [1.0, *density[::-1]]


def _table(module: Any, name: str, typ: Any, values: list[Any]) -> Any:
    found = module.globals.get(name)
    if found is None:
        found = ir.GlobalVariable(module, ir.ArrayType(typ, len(values)), name)
        found.initializer = ir.Constant(found.value_type, values)
        found.global_constant, found.linkage = True, "internal"
    return found


def normal(module: Any, typ: Any) -> Any:
    """The function that draws a normal number of mean 0 and deviation 1."""
    bits, digits, int_type = (64, 52, I64) if typ == F64 else (32, 23, I32)
    ends, density = _layers()
    limits = [round(_TAIL / ends[0] * 2**digits), 0]
    limits += [round(x / y * 2**digits) for x, y in pairwise(ends[1:])]
    tables = {
        "limit": (int_type, limits),
        "width": (typ, [_rounded(x, typ) / 2.0**digits for x in ends]),
        "density": (typ, [_rounded(x, typ) for x in density]),
    }
    draw, uniform = word(module, bits), unit(module, typ)

    def write(b: Any, function: Any) -> None:
        (stream,) = function.args

        def entry(name: str, layer: Any) -> Any:
            kind, values = tables[name]
            table = _table(module, f"normal_{name}{bits}", kind, values)
            return b.load(b.gep(table, [layer], source_etype=kind), typ=kind)

        again = function.append_basic_block("again")
        b.branch(again)
        b.position_at_end(again)
        drawn = b.call(draw, [stream])
        layer = b.and_(drawn, int_type(255))
        is_negative = b.trunc(b.lshr(drawn, int_type(8)), ir.IntType(1))
        places = b.and_(b.lshr(drawn, int_type(9)), int_type(2**digits - 1))
        place = b.zext(layer, I64) if bits == 32 else layer
        x = b.fmul(b.uitofp(places, typ), entry("width", place))
        x = b.select(is_negative, b.fneg(x), x)
        is_inside = b.icmp_unsigned("<", places, entry("limit", place))
        with b.if_then(is_inside, likely=True):
            b.ret(x)
        with b.if_then(b.icmp_unsigned("==", layer, int_type(0))):
            _write_tail(b, function, typ, uniform, b.lshr(places, int_type(8)))
        upper, lower = (
            entry("density", b.sub(place, number(1))),
            entry("density", place),
        )
        height = b.fmul(b.fsub(upper, lower), b.call(uniform, [stream]))
        height = _wide(b, b.fadd(height, lower))
        wide = _wide(b, x)
        curve = b.fmul(b.fmul(ir.Constant(F64, -0.5), wide), wide)
        below = b.fcmp_ordered("<", height, _intrinsic(b, module, "exp", curve))
        right = function.append_basic_block("right")
        b.cbranch(below, right, again)
        b.position_at_end(right)
        b.ret(x)

    return _function(module, f"random_normal{bits}", typ, write)


def _write_tail(b: Any, function: Any, typ: Any, uniform: Any, bits: Any) -> None:
    """Draw from behind the last layer, with the sign that the lowest bit says."""
    module, (stream,) = function.module, function.args
    one = ir.Constant(typ, 1)

    def logarithm() -> Any:
        rest = b.fsub(one, b.call(uniform, [stream]))
        return b.fneg(_intrinsic(b, module, "log", rest))

    again = function.append_basic_block("tail")
    right = function.append_basic_block("outside")
    b.branch(again)
    b.position_at_end(again)
    x = b.fmul(ir.Constant(typ, _rounded(1 / _TAIL, typ)), logarithm())
    y = logarithm()
    b.cbranch(b.fcmp_ordered(">", b.fadd(y, y), b.fmul(x, x)), right, again)
    b.position_at_end(right)
    x = b.fadd(ir.Constant(typ, _rounded(_TAIL, typ)), x)
    b.ret(b.select(b.trunc(bits, ir.IntType(1)), b.fneg(x), x))


def _rounded(value: float, typ: Any) -> float:
    """The number as one of the type."""
    if typ == F64:
        return value
    return float(np.float32(value))


def _wide(b: Any, value: Any) -> Any:
    return value if value.type == F64 else b.fpext(value, F64)


def _intrinsic(b: Any, module: Any, name: str, value: Any) -> Any:
    typ = ir.FunctionType(value.type, [value.type])
    function = module.declare_intrinsic(f"llvm.{name}", [value.type], typ)
    return b.call(function, [value])
