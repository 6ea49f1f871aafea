"""The BLAS that NumPy brings with it, as functions that native code calls.

Code names them, so that it may be kept from one process to the next; `symbols` says
where they are in this one.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import llvmlite.ir as ir

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.types import I32, I64, POINTER, in_memory, number
from runtime.engines.native.values import Register
from runtime.ops.kernels.threads import numpy_library

_LETTERS = {"float32": "s", "float64": "d"}
#: Names of CBLAS with integers of 64 bits.
_NAMES = ("scipy_cblas_{}gemm64_", "cblas_{}gemm64_")
#: From `CBLAS_ORDER` and `CBLAS_TRANSPOSE`.
_ROWS, _AS_IS, FLIPPED = 101, 111, 112


@cache
def symbols() -> dict[str, str]:
    """The name in native code of the product of matrices, by the letter of the dtype.

    It is empty where NumPy's library has no functions that are known.
    """
    library, found = numpy_library(), {}
    for letter in _LETTERS.values():
        for name in _NAMES:
            function = getattr(library, name.format(letter), None)
            if function is not None:
                found[letter] = f"numpy_{letter}gemm"
                address = ctypes.cast(function, ctypes.c_void_p).value
                llvm.add_symbol(found[letter], address)
                break
    return found


def has_product(dtype: DType) -> bool:
    """Whether products of matrices of the dtype can be called."""
    return _LETTERS.get(dtype.name) in symbols()


def call_product(
    builder: Builder,
    dtype: DType,
    sizes: tuple[int, int, int],
    left: tuple[Register, bool],
    right: tuple[Register, bool],
    into: Register,
    *,
    adds: bool = False,
) -> None:
    """Write the product of two matrices, or add it to what is there.

    `sizes` are the rows, the columns and what is summed over. Each operand is given
    with whether it is to be transposed.
    """
    rows, columns, depth = sizes
    typ = in_memory(dtype)
    name = symbols()[_LETTERS[dtype.name]]
    types = [I32, I32, I32, I64, I64, I64, typ, POINTER, I64, POINTER, I64, typ]
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(ir.VoidType(), [*types, POINTER, I64]), name
    )
    kinds: list[Any] = [FLIPPED if flip else _AS_IS for _, flip in (left, right)]
    strides = rows if left[1] else depth, depth if right[1] else columns
    builder.ir.call(
        function,
        [
            *[ir.Constant(I32, kind) for kind in (_ROWS, *kinds)],
            *map(number, sizes),
            ir.Constant(typ, 1.0),
            left[0],
            number(strides[0]),
            right[0],
            number(strides[1]),
            ir.Constant(typ, float(adds)),
            into,
            number(columns),
        ],
    )
