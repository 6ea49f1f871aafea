"""Numbers element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.ir as ir

from runtime.native.builder import Builder
from runtime.native.flow import Step, rule
from runtime.native.nests import elementwise
from runtime.native.types import constant, in_register, is_signed
from runtime.native.values import Register, Value
from runtime.ops.python_ints import is_exact
from runtime.types import dtypes
from runtime.types.dtypes import DType

__all__ = ["maximum", "minimum"]

#: Computes one number: of the builder, the dtype of the operands, and these.
Function = Callable[..., Register]


def _applies(op: str, function: Function) -> None:
    @rule(op)
    def run(step: Step, *values: Value, **_: Any) -> Value:
        if is_exact(step.node):
            raise step.refused("integers of Python")
        return applied(step, function, *values)


def applied(step: Step, function: Function, *values: Value) -> Value:
    """The values of a function of numbers; it takes the dtype of the last operand."""
    builder, dtype = step.builder, values[-1].dtype

    def element(*numbers: Register) -> Register:
        return function(builder, dtype, *numbers)

    return elementwise(builder, step.known_shape, step.dtype, element, values)


def check(step: Step, function: Function, *values: Value) -> None:
    """Have the interpreter run the graph unless a function is true of all numbers."""
    builder, dtype = step.builder, values[-1].dtype

    def element(*numbers: Register) -> Register:
        return function(builder, dtype, *numbers)

    step.check(elementwise(builder, step.known_shape, dtypes.bool, element, values))


# --- arithmetic -----------------------------------------------------------------------


def _of_floats(dtype: DType) -> bool:
    return not isinstance(in_register(dtype), ir.IntType)


def _arithmetic(op: str, of_integers: str, of_floats: str) -> None:
    def function(b: Builder, dtype: DType, *numbers: Register) -> Register:
        name = of_floats if _of_floats(dtype) else of_integers
        found: Register = getattr(b.ir, name)(*numbers)
        return found

    _applies(op, function)


_arithmetic("Neg", "neg", "fneg")


def _checked_arithmetic(op: str, of_integers: str, of_floats: str) -> None:
    """Integers wrap around, but for those of Python, which have to fit."""

    def plain(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
        name = of_floats if _of_floats(dtype) else of_integers
        found: Register = getattr(b.ir, name)(x, y)
        return found

    def both(b: Builder, x: Register, y: Register) -> Register:
        return getattr(b.ir, f"s{of_integers}_with_overflow")(x, y)

    def exact(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
        return b.ir.extract_value(both(b, x, y), 0)

    def fits(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
        return b.ir.not_(b.ir.extract_value(both(b, x, y), 1))

    @rule(op)
    def run(step: Step, x: Value, y: Value) -> Value:
        if not is_exact(step.node):
            return applied(step, plain, x, y)
        check(step, fits, x, y)
        return applied(step, exact, x, y)


_checked_arithmetic("AddV2", "add", "fadd")
_checked_arithmetic("Sub", "sub", "fsub")
_checked_arithmetic("Mul", "mul", "fmul")


def _compares(op: str, sign: str) -> None:
    def function(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
        if _of_floats(dtype):
            compare = b.ir.fcmp_unordered if sign == "!=" else b.ir.fcmp_ordered
        else:
            compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        found: Register = compare(sign, x, y)
        return found

    _applies(op, function)


for _op, _sign in {
    "Equal": "==",
    "Greater": ">",
    "GreaterEqual": ">=",
    "Less": "<",
    "LessEqual": "<=",
    "NotEqual": "!=",
}.items():
    _compares(_op, _sign)


def _bits(op: str, name: str) -> None:
    _applies(op, lambda b, dtype, *numbers: getattr(b.ir, name)(*numbers))


_bits("BitwiseAnd", "and_")
_bits("BitwiseOr", "or_")
_bits("BitwiseXor", "xor")
_bits("Invert", "not_")
_bits("LogicalAnd", "and_")
_bits("LogicalOr", "or_")
_bits("LogicalNot", "not_")


@rule("SelectV2")
def _select(step: Step, test: Value, x: Value, y: Value) -> Value:
    return applied(step, lambda b, _, t, p, q: b.ir.select(t, p, q), test, x, y)


def maximum(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    """The larger number, or NaN if one is."""
    if not _of_floats(dtype):
        compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        return b.ir.select(compare(">=", x, y), x, y)
    first = b.ir.or_(b.ir.fcmp_ordered(">=", x, y), b.ir.fcmp_unordered("uno", x, x))
    return b.ir.select(first, x, y)


def minimum(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    """The smaller number, or NaN if one is."""
    if not _of_floats(dtype):
        compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        return b.ir.select(compare("<=", x, y), x, y)
    first = b.ir.or_(b.ir.fcmp_ordered("<=", x, y), b.ir.fcmp_unordered("uno", x, x))
    return b.ir.select(first, x, y)


_applies("Maximum", maximum)
_applies("Minimum", minimum)


def _abs(b: Builder, dtype: DType, x: Register) -> Register:
    if _of_floats(dtype):
        return b.intrinsic("fabs", x)
    if not is_signed(dtype):
        return x
    is_negative = b.ir.icmp_signed("<", x, constant(0, dtype))
    return b.ir.select(is_negative, b.ir.neg(x), x)


_applies("Abs", _abs)


# --- division -------------------------------------------------------------------------


@rule("RealDiv")
def _quotient(step: Step, x: Value, y: Value) -> Value:
    if not _of_floats(step.dtype):
        raise step.refused("a quotient of integers")
    return applied(step, lambda b, _, p, q: b.ir.fdiv(p, q), x, y)


def _divides(op: str, of_integers: Function) -> None:
    @rule(op)
    def run(step: Step, x: Value, y: Value) -> Value:
        if _of_floats(step.dtype):
            raise step.refused("a quotient of floats that is rounded")
        if is_exact(step.node):
            check(step, _quotient_fits, x, y)
        check(step, _is_divisor, x, y)
        return applied(step, of_integers, x, y)


def _is_divisor(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    return b.ir.icmp_unsigned("!=", y, constant(0, dtype))


def _quotient_fits(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    is_least = b.ir.icmp_unsigned("==", x, constant(dtype.min, dtype))
    is_minus = b.ir.icmp_unsigned("==", y, constant(-1, dtype))
    return b.ir.not_(b.ir.and_(is_least, is_minus))


def _safe(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    """The divisor, or 1 where it is 0 or the quotient does not fit."""
    one = constant(1, dtype)
    wrong = b.ir.icmp_unsigned("==", y, constant(0, dtype))
    if is_signed(dtype):
        least = b.ir.icmp_unsigned("==", x, constant(dtype.min, dtype))
        minus = b.ir.icmp_unsigned("==", y, constant(-1, dtype))
        wrong = b.ir.or_(wrong, b.ir.and_(least, minus))
    return b.ir.select(wrong, one, y)


def _floor_mod(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    y = _safe(b, dtype, x, y)
    if not is_signed(dtype):
        return b.ir.urem(x, y)
    zero = constant(0, dtype)
    rest = b.ir.srem(x, y)
    differs = b.ir.icmp_signed("<", b.ir.xor(rest, y), zero)
    moves = b.ir.and_(b.ir.icmp_signed("!=", rest, zero), differs)
    return b.ir.select(moves, b.ir.add(rest, y), rest)


def _floor_div(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    y = _safe(b, dtype, x, y)
    if not is_signed(dtype):
        return b.ir.udiv(x, y)
    zero, one = constant(0, dtype), constant(1, dtype)
    whole = b.ir.sdiv(x, y)
    rest = b.ir.sub(x, b.ir.mul(whole, y))
    differs = b.ir.icmp_signed("<", b.ir.xor(rest, y), zero)
    moves = b.ir.and_(b.ir.icmp_signed("!=", rest, zero), differs)
    return b.ir.select(moves, b.ir.sub(whole, one), whole)


_divides("FloorMod", _floor_mod)
_divides("FloorDiv", _floor_div)


# --- functions ------------------------------------------------------------------------


def _intrinsic(op: str, name: str) -> None:
    @rule(op)
    def run(step: Step, x: Value) -> Value:
        return applied(step, lambda b, _, v: b.intrinsic(name, v), x)


for _op, _name in {
    "Ceil": "ceil",
    "Cos": "cos",
    "Exp": "exp",
    "Floor": "floor",
    "Log": "log",
    "Rint": "rint",
    "Sin": "sin",
    "Sqrt": "sqrt",
    "Tanh": "tanh",
}.items():
    _intrinsic(_op, _name)


# --- casts ----------------------------------------------------------------------------


@rule("Cast")
def _cast(step: Step, x: Value, **_: Any) -> Value:
    source, target = x.dtype, step.dtype
    if source is target:
        return x
    typ = in_register(target)

    def convert(b: Builder, dtype: DType, v: Register) -> Register:
        if not _of_floats(source) and not _of_floats(target):
            if target.name == "bool":
                return b.ir.icmp_unsigned("!=", v, constant(0, source))
            if v.type.width > typ.width:
                return b.ir.trunc(v, typ)
            if v.type.width == typ.width:
                return v
            return b.ir.sext(v, typ) if is_signed(source) else b.ir.zext(v, typ)
        if not _of_floats(source):
            return b.ir.sitofp(v, typ) if is_signed(source) else b.ir.uitofp(v, typ)
        if not _of_floats(target):
            if target.name == "bool":
                return b.ir.fcmp_unordered("!=", v, constant(0, source))
            raise step.refused("floats cast to integers")
        return b.ir.fpext(v, typ) if typ == ir.DoubleType() else b.ir.fptrunc(v, typ)

    return applied(step, convert, x)


@rule("CastExactly")
def _cast_exactly(step: Step, x: Value, dtype: DType) -> Value:
    source = x.dtype
    if not source.is_integer or not dtype.is_integer:
        raise step.refused("a number that may be rounded")
    (lowest, highest), (least, most) = dtype.limits, source.limits

    def fits(b: Builder, _: DType, v: Register) -> Register:
        compare = b.ir.icmp_signed if is_signed(source) else b.ir.icmp_unsigned
        found = ir.Constant(ir.IntType(1), 1)
        if lowest > least:
            found = b.ir.and_(found, compare(">=", v, constant(lowest, source)))
        if highest < most:
            found = b.ir.and_(found, compare("<=", v, constant(highest, source)))
        return found

    check(step, fits, x)
    found: Value = _cast(step, x)
    return found
