"""Quotients and remainders; powers and shifts of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite.ir.instructions import SelectInstr

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.rules.elementwise import (
    applied,
    call_function,
    check,
    is_float,
)
from runtime.engines.native.types import BIT, I32, I64, constant, is_signed
from runtime.engines.native.values import Register, Scalar, Value
from runtime.ops.python_ints import is_exact

Function = Callable[..., Register]


# --- division -------------------------------------------------------------------------


@rule("RealDiv")
def _quotient(step: Step, x: Value, y: Value) -> Value:
    if not is_float(step.dtype):
        raise step.refused("a quotient of integers")
    return applied(step, lambda b, _, p, q: b.ir.fdiv(p, q), x, y)


def _divides(op: str, of_integers: Function, of_floats: Function) -> None:
    @rule(op)
    def run(step: Step, x: Value, y: Value) -> Value:
        if is_float(step.dtype):
            return applied(step, of_floats, x, y)
        # A number that does not fit is left to the interpreter: to go on without it is
        # faster than to have another divisor. An array may well have some.
        is_number = isinstance(x, Scalar) and isinstance(y, Scalar)
        if is_exact(step.node) or (is_number and is_signed(step.dtype)):
            check(step, _quotient_fits, x, y)
        check(step, _is_divisor, x, y)
        found = applied(step, of_integers, x, y)
        if isinstance(found, Scalar) and isinstance(found.value, SelectInstr):
            # Numbers are mostly not negative: processors guess a branch right.
            weights = ["branch_weights", I32(1), I32(1000)]
            found.value.set_metadata("prof", step.builder.module.add_metadata(weights))
        return found


def _bits_of(y: Register) -> int | None:
    """The exponent of a divisor that is known to be a power of 2."""
    known = getattr(y, "constant", None)
    if isinstance(known, int) and known > 0 and known & (known - 1) == 0:
        return known.bit_length() - 1
    return None


def _is_divisor(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    return b.ir.icmp_unsigned("!=", y, constant(0, dtype))


def _quotient_fits(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    is_least = b.ir.icmp_unsigned("==", x, constant(dtype.min, dtype))
    is_minus = b.ir.icmp_unsigned("==", y, constant(-1, dtype))
    return b.ir.not_(b.ir.and_(is_least, is_minus))


def _safe(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    """The divisor, or 1 where it is 0 or the quotient does not fit."""
    wrong = b.ir.icmp_unsigned("==", y, constant(0, dtype))
    if is_signed(dtype):
        wrong = b.ir.or_(wrong, b.ir.not_(_quotient_fits(b, dtype, x, y)))
    return b.ir.select(wrong, constant(1, dtype), y)


def _moves(b: Builder, dtype: DType, rest: Register, y: Register) -> Register:
    """Whether the quotient has to be rounded down, and not to 0."""
    zero = constant(0, dtype)
    if is_float(dtype):
        one, other = (b.ir.fcmp_ordered("<", v, zero) for v in (rest, y))
        return b.ir.and_(b.ir.fcmp_unordered("!=", rest, zero), b.ir.xor(one, other))
    differs = b.ir.icmp_signed("<", b.ir.xor(rest, y), zero)
    return b.ir.and_(b.ir.icmp_signed("!=", rest, zero), differs)


def _floor_mod(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    if _bits_of(y) is not None:
        return b.ir.and_(x, constant(y.constant - 1, dtype))
    safe = _safe(b, dtype, x, y)
    if not is_signed(dtype):
        return b.ir.urem(x, safe)
    rest = b.ir.srem(x, safe)
    # The remainder of -1 is 0, for which the divisor may stand for another.
    moves = _moves(b, dtype, rest, safe)
    return b.ir.select(moves, b.ir.add(rest, safe), rest)


def _floor_div(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    bits = _bits_of(y)
    if bits is not None and is_signed(dtype):
        return b.ir.ashr(x, constant(bits, dtype))
    safe = _safe(b, dtype, x, y)
    if not is_signed(dtype):
        return b.ir.udiv(x, safe)
    whole = b.ir.sdiv(x, safe)
    rest = b.ir.sub(x, b.ir.mul(whole, safe))
    moves = _moves(b, dtype, rest, safe)
    return b.ir.select(moves, b.ir.sub(whole, constant(1, dtype)), whole)


def _truncate_mod(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    remainder = b.ir.srem if is_signed(dtype) else b.ir.urem
    return remainder(x, _safe(b, dtype, x, y))


def _truncate_div(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    divide = b.ir.sdiv if is_signed(dtype) else b.ir.udiv
    return divide(x, _safe(b, dtype, x, y))


def _float_mod(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    rest = b.ir.frem(x, y)
    found = b.ir.select(_moves(b, dtype, rest, y), b.ir.fadd(rest, y), rest)
    zero = constant(0, dtype)
    is_none = b.ir.fcmp_ordered("==", rest, zero)
    return b.ir.select(is_none, b.intrinsic("copysign", zero, y), found)


def _float_div(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    """As NumPy: a whole number, though ``x / y`` may be rounded to the next one."""
    zero, one = constant(0, dtype), constant(1, dtype)
    rest = b.ir.frem(x, y)
    near = b.ir.fdiv(b.ir.fsub(x, rest), y)
    near = b.ir.select(_moves(b, dtype, rest, y), b.ir.fsub(near, one), near)
    whole = b.intrinsic("floor", near)
    is_short = b.ir.fcmp_ordered(">", b.ir.fsub(near, whole), constant(0.5, dtype))
    whole = b.ir.select(is_short, b.ir.fadd(whole, one), whole)
    plain = b.ir.fdiv(x, y)
    is_none = b.ir.fcmp_ordered("==", near, zero)
    whole = b.ir.select(is_none, b.intrinsic("copysign", zero, plain), whole)
    return b.ir.select(b.ir.fcmp_ordered("==", y, zero), plain, whole)


def _float_truncated(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    return b.intrinsic("trunc", b.ir.fdiv(x, y))


_divides("FloorDiv", _floor_div, _float_div)
_divides("FloorMod", _floor_mod, _float_mod)
_divides("TruncateDiv", _truncate_div, _float_truncated)
_divides("TruncateMod", _truncate_mod, lambda b, dtype, x, y: b.ir.frem(x, y))


# --- powers ---------------------------------------------------------------------------


#: Exponents whose powers are products: of at most 3.5 units in the last place.
_PRODUCTS = range(2, 9)


@rule("Pow")
def _pow(step: Step, x: Value, y: Value, **_: Any) -> Value:
    if is_float(step.dtype):
        count = _small_exponent(y)
        if count:
            return applied(step, lambda b, _, p, q: _repeated(b, p, count), x, y)
        return call_function(step, "pow", x, y)
    if is_signed(step.dtype):
        check(step, _is_exponent, x, y)
    if is_exact(step.node):
        check(step, lambda b, t, p, q: b.ir.not_(_power(b, t, p, q)[1]), x, y)
    return applied(step, lambda b, t, p, q: _power(b, t, p, q)[0], x, y)


def _small_exponent(y: Value) -> int:
    """The exponent of floats, if it is known and that of a few products, or 0."""
    known: Any = getattr(y.value, "constant", None) if isinstance(y, Scalar) else None
    return int(known) if known in _PRODUCTS else 0


def _repeated(b: Builder, x: Register, count: int) -> Register:
    """The product of so many: the error grows with each."""
    if count == 1:
        return x
    half = _repeated(b, x, count // 2)
    square = b.ir.fmul(half, half)
    return b.ir.fmul(square, x) if count % 2 else square


def _is_exponent(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    return b.ir.icmp_signed(">=", y, constant(0, dtype))


def _power(
    b: Builder, dtype: DType, x: Register, y: Register
) -> tuple[Register, Register]:
    """The power modulo the width, and whether it does not fit: by squaring."""

    def bit(_: Register, carried: Sequence[Register]) -> Sequence[Register]:
        found, square, rest, wrong, later = carried
        times, spills = _product(b, found, square)
        following, spilt = _product(b, square, square)
        is_set = b.ir.trunc(rest, BIT)
        # What no longer fits matters where it is used.
        used = b.ir.and_(is_set, b.ir.or_(spills, later))
        return (
            b.ir.select(is_set, times, found),
            following,
            b.ir.lshr(rest, constant(1, dtype)),
            b.ir.or_(wrong, used),
            b.ir.or_(later, spilt),
        )

    begin = [constant(1, dtype), x, y, BIT(0), BIT(0)]
    used = b.ir.sub(constant(y.type.width, dtype), b.ir.ctlz(y, BIT(0)))
    bits = b.ir.zext(used, I64) if used.type != I64 else used
    found, _, _, wrong, _ = b.loop(bits, bit, begin)
    return found, wrong


def _product(b: Builder, x: Register, y: Register) -> tuple[Register, Register]:
    both = b.ir.smul_with_overflow(x, y)
    return b.ir.extract_value(both, 0), b.ir.extract_value(both, 1)


# --- shifts ---------------------------------------------------------------------------


def _count(b: Builder, dtype: DType, y: Register) -> Register:
    """A count of bits within the width."""
    zero, last = constant(0, dtype), constant(y.type.width - 1, dtype)
    compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
    least = b.ir.select(compare("<", y, zero), zero, y)
    return b.ir.select(compare(">", least, last), last, least)


def _left(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    return b.ir.shl(x, _count(b, dtype, y))


def _right(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    shift = b.ir.ashr if is_signed(dtype) else b.ir.lshr
    return shift(x, _count(b, dtype, y))


def _fits_left(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    count = _count(b, dtype, y)
    back = b.ir.ashr(b.ir.shl(x, count), count)
    is_narrow = b.ir.icmp_signed("<", y, constant(y.type.width, dtype))
    fits = b.ir.and_(is_narrow, b.ir.icmp_signed("==", back, x))
    return b.ir.or_(b.ir.icmp_signed("==", x, constant(0, dtype)), fits)


def _shifts(op: str, function: Function) -> None:
    @rule(op)
    def run(step: Step, x: Value, y: Value) -> Value:
        if is_exact(step.node):
            check(step, _is_exponent, x, y)
            if op == "LeftShift":
                check(step, _fits_left, x, y)
        return applied(step, function, x, y)


_shifts("LeftShift", _left)
_shifts("RightShift", _right)
