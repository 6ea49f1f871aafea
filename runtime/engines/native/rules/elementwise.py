"""Numbers element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.ir as ir

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.maths import functions
from runtime.engines.native.nests import broadcast_shape, elementwise
from runtime.engines.native.types import constant, in_register, is_signed
from runtime.engines.native.values import Register, Scalar, Value
from runtime.ops.python_ints import is_exact

#: Computes one number: of the builder, the dtype of the operands, and these.
Function = Callable[..., Register]


def applies(op: str, function: Function) -> None:
    """Make a function of numbers the rule of an op, but for integers of Python."""

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

    shape = broadcast_shape(builder, [value.shape for value in values])
    return elementwise(builder, shape, step.dtype, element, values)


def check(step: Step, function: Function, *values: Value) -> None:
    """Have the interpreter run the graph unless a function is true of all numbers."""
    builder, dtype = step.builder, values[-1].dtype

    def element(*numbers: Register) -> Register:
        return function(builder, dtype, *numbers)

    shape = broadcast_shape(builder, [value.shape for value in values])
    step.check(elementwise(builder, shape, dtypes.bool, element, values))


# --- arithmetic -----------------------------------------------------------------------


def is_float(dtype: DType) -> bool:
    """Whether numbers of the dtype are floats."""
    return not isinstance(in_register(dtype), ir.IntType)


def _checked_arithmetic(op: str, of_integers: str, of_floats: str) -> None:
    """Integers wrap around, but for those of Python, which have to fit."""

    def plain(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
        name = of_floats if is_float(dtype) else of_integers
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
        if is_float(dtype):
            compare = b.ir.fcmp_unordered if sign == "!=" else b.ir.fcmp_ordered
        else:
            compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        found: Register = compare(sign, x, y)
        return found

    applies(op, function)


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
    applies(op, lambda b, dtype, *numbers: getattr(b.ir, name)(*numbers))


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
    if not is_float(dtype):
        compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        return b.ir.select(compare(">=", x, y), x, y)
    first = b.ir.or_(b.ir.fcmp_ordered(">=", x, y), b.ir.fcmp_unordered("uno", x, x))
    return b.ir.select(first, x, y)


def minimum(b: Builder, dtype: DType, x: Register, y: Register) -> Register:
    """The smaller number, or NaN if one is."""
    if not is_float(dtype):
        compare = b.ir.icmp_signed if is_signed(dtype) else b.ir.icmp_unsigned
        return b.ir.select(compare("<=", x, y), x, y)
    first = b.ir.or_(b.ir.fcmp_ordered("<=", x, y), b.ir.fcmp_unordered("uno", x, x))
    return b.ir.select(first, x, y)


applies("Maximum", maximum)
applies("Minimum", minimum)


def _abs(b: Builder, dtype: DType, x: Register) -> Register:
    if is_float(dtype):
        return b.intrinsic("fabs", x)
    if not is_signed(dtype):
        return x
    is_negative = b.ir.icmp_signed("<", x, constant(0, dtype))
    return b.ir.select(is_negative, b.ir.neg(x), x)


def _neg(b: Builder, dtype: DType, x: Register) -> Register:
    return b.ir.fneg(x) if is_float(dtype) else b.ir.neg(x)


def _is_not_least(b: Builder, dtype: DType, x: Register) -> Register:
    return b.ir.icmp_signed("!=", x, constant(dtype.min, dtype))


def _changes_sign(op: str, function: Function) -> None:
    @rule(op)
    def run(step: Step, x: Value) -> Value:
        if is_exact(step.node):
            check(step, _is_not_least, x)
        return applied(step, function, x)


_changes_sign("Abs", _abs)
_changes_sign("Neg", _neg)


def _sign_of(b: Builder, dtype: DType, x: Register) -> Register:
    zero, one = constant(0, dtype), constant(1, dtype)
    if is_float(dtype):
        rest = b.ir.select(b.ir.fcmp_ordered("==", x, zero), zero, x)  # 0 and NaN
        below = b.ir.select(b.ir.fcmp_ordered("<", x, zero), constant(-1, dtype), rest)
        return b.ir.select(b.ir.fcmp_ordered(">", x, zero), one, below)
    found = b.ir.zext(b.ir.icmp_unsigned("!=", x, zero), x.type)
    if not is_signed(dtype):
        return found
    is_negative = b.ir.icmp_signed("<", x, zero)
    return b.ir.select(is_negative, constant(-1, dtype), found)


applies("Sign", _sign_of)


# --- functions ------------------------------------------------------------------------


def _intrinsic(op: str, name: str) -> None:
    @rule(op)
    def run(step: Step, x: Value) -> Value:
        return applied(step, lambda b, _, v: b.intrinsic(name, v), x)


for _op, _name in {
    "Ceil": "ceil",
    "Floor": "floor",
    "Rint": "rint",
    "Sqrt": "sqrt",
}.items():
    _intrinsic(_op, _name)


def call_function(step: Step, name: str, *values: Value) -> Value:
    """A function of floats, by its name in the C library."""
    alone = all(isinstance(value, Scalar) for value in values)

    def of_numbers(b: Builder, dtype: DType, *numbers: Register) -> Register:
        return functions.call(b, name, *numbers, alone=alone)

    return applied(step, of_numbers, *values)


def _function(op: str, name: str) -> None:
    rule(op)(lambda step, *values: call_function(step, name, *values))


for _op, _name in {
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atan2": "atan2",
    "Atanh": "atanh",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Erfc": "erfc",
    "Exp": "exp",
    "Expm1": "expm1",
    "Log": "log",
    "Log1p": "log1p",
    "NextAfter": "nextafter",
    "Sin": "sin",
    "Sinh": "sinh",
    "Tan": "tan",
    "Tanh": "tanh",
}.items():
    _function(_op, _name)


def _is_finite(b: Builder, dtype: DType, x: Register) -> Register:
    infinity = constant(float("inf"), dtype)
    return b.ir.fcmp_ordered("<", b.intrinsic("fabs", x), infinity)


def _rsqrt(b: Builder, dtype: DType, x: Register) -> Register:
    return b.ir.fdiv(constant(1, dtype), b.intrinsic("sqrt", x))


applies("IsFinite", _is_finite)
applies("Rsqrt", _rsqrt)
