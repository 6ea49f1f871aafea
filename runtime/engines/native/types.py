"""The types of LLVM for dtypes, in registers and in memory.

A bool is one bit in a register and a byte in memory.
"""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir

from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType

BIT = ir.IntType(1)
BYTE = ir.IntType(8)
I32 = ir.IntType(32)
I64 = ir.IntType(64)
F32 = ir.FloatType()
F64 = ir.DoubleType()
POINTER = ir.PointerType()

_TYPES: dict[DType, Any] = {
    dtypes.bool: BIT,
    dtypes.float32: F32,
    dtypes.float64: F64,
    **{
        getattr(dtypes, f"{sign}int{bits}"): ir.IntType(bits)
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}


def has_type(dtype: DType) -> bool:
    """Whether native code computes with numbers of the dtype."""
    return dtype in _TYPES


def in_register(dtype: DType) -> Any:
    """The type of a number while it is computed with."""
    return _TYPES[dtype]


def in_memory(dtype: DType) -> Any:
    """The type of an element of an array."""
    return BYTE if dtype is dtypes.bool else _TYPES[dtype]


def size_of(dtype: DType) -> int:
    """The bytes of an element."""
    return int(dtype.np_dtype.itemsize)


def is_signed(dtype: DType) -> bool:
    """Whether integers of the dtype may be negative."""
    return dtype.is_integer and not dtype.is_unsigned


def constant(value: Any, dtype: DType) -> Any:
    """A number that is known."""
    typ = _TYPES[dtype]
    if isinstance(typ, ir.IntType):
        return ir.Constant(typ, int(value))
    return ir.Constant(typ, float(dtype.np_dtype.type(value)))


def number(value: int) -> Any:
    """An integer of 64 bits: a dimension, a place in memory."""
    return ir.Constant(I64, value)
