"""Numbers of one dtype as those of another."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.rules.elementwise import applied, check, is_float
from runtime.engines.native.types import (
    BIT,
    F64,
    I32,
    I64,
    constant,
    in_register,
    is_signed,
)
from runtime.engines.native.values import Register, Value


@rule("Cast")
def _cast(step: Step, x: Value, **_: Any) -> Value:
    source, target = x.dtype, step.dtype
    if source is target:
        return x
    return applied(step, lambda b, _, v: cast(b, v, source, target), x)


def cast(b: Builder, x: Register, source: DType, target: DType) -> Register:
    """A number as NumPy casts it."""
    typ = in_register(target)
    if target is dtypes.bool:
        compare = b.ir.fcmp_unordered if is_float(source) else b.ir.icmp_unsigned
        return compare("!=", x, constant(0, source))
    if is_float(source):
        if not is_float(target):
            return _to_integer(b, x, source, target)
        return b.ir.fpext(x, typ) if typ == F64 else b.ir.fptrunc(x, typ)
    if is_float(target):
        return b.ir.sitofp(x, typ) if is_signed(source) else b.ir.uitofp(x, typ)
    return _resized(b, x, typ, is_signed(source))


def _resized(b: Builder, x: Register, typ: Any, signed: bool) -> Register:
    if x.type.width > typ.width:
        return b.ir.trunc(x, typ)
    if x.type.width == typ.width:
        return x
    return b.ir.sext(x, typ) if signed else b.ir.zext(x, typ)


def _to_integer(b: Builder, x: Register, source: DType, target: DType) -> Register:
    """A float as an integer; what does not fit becomes what processors make of it."""
    typ = in_register(target)
    if target is dtypes.uint64:
        limit = constant(2.0**63, source)
        upper = _wide(b, b.ir.fsub(x, limit), source, I64)
        upper = b.ir.xor(upper, I64(-(2**63)))
        is_upper = b.ir.fcmp_ordered(">=", x, limit)
        return b.ir.select(is_upper, upper, _wide(b, x, source, I64))
    fits = typ.width + (not is_signed(target)) <= 32
    return _resized(b, _wide(b, x, source, I32 if fits else I64), typ, True)


def _wide(b: Builder, x: Register, source: DType, typ: Any) -> Register:
    """A float as a signed integer of 32 or 64 bits, the least one for what is none."""
    limit = 2.0 ** (typ.width - 1)
    x = b.intrinsic("trunc", x)
    above = b.ir.fcmp_ordered(">=", x, constant(-limit, source))
    fits = b.ir.and_(above, b.ir.fcmp_ordered("<", x, constant(limit, source)))
    safe = b.ir.select(fits, x, constant(0, source))
    least = typ(-(2 ** (typ.width - 1)))
    return b.ir.select(fits, b.ir.fptosi(safe, typ), least)


@rule("CastExactly")
def _cast_exactly(step: Step, x: Value, dtype: DType) -> Value:
    source = x.dtype
    if not source.is_integer:
        raise step.refused("a float that is not to be rounded")
    check(step, lambda b, _, v: _fits(b, v, source, dtype), x)
    return applied(step, lambda b, _, v: cast(b, v, source, dtype), x)


def _fits(b: Builder, x: Register, source: DType, target: DType) -> Register:
    """Whether a number keeps its value."""
    compare = b.ir.icmp_signed if is_signed(source) else b.ir.icmp_unsigned
    if target.is_integer:
        (lowest, highest), (least, most) = target.limits, source.limits
        found = BIT(1)
        if lowest > least:
            found = b.ir.and_(found, compare(">=", x, constant(lowest, source)))
        if highest < most:
            found = b.ir.and_(found, compare("<=", x, constant(highest, source)))
        return found
    limit = 2 ** (np.finfo(target.np_dtype).nmant + 1)
    if limit >= source.limits[1]:
        return BIT(1)
    small = compare("<=", x, constant(limit, source))
    if is_signed(source):
        small = b.ir.and_(small, compare(">=", x, constant(-limit, source)))
    result = cast(b, x, source, target)
    below = constant(2.0 ** (source.size * 8) / 2, target)
    back = b.ir.icmp_signed("==", _to_integer(b, result, target, source), x)
    return b.ir.or_(small, b.ir.and_(b.ir.fcmp_ordered("<", result, below), back))
