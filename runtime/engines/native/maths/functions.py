"""The table of functions, and calls of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.ir as ir

from runtime.engines.native import machine
from runtime.engines.native.builder import Builder
from runtime.engines.native.maths import angles, error_function, exponentials, powers
from runtime.engines.native.maths.expressions import Number, library_function
from runtime.engines.native.types import F32
from runtime.engines.native.values import Register

#: By their names in the C library.
FUNCTIONS: dict[str, Callable[..., Number]] = {
    "acos": angles.acos,
    "acosh": exponentials.acosh,
    "asin": angles.asin,
    "asinh": exponentials.asinh,
    "atan": angles.atan,
    "atan2": angles.atan2,
    "atanh": exponentials.atanh,
    "cos": angles.cos,
    "cosh": exponentials.cosh,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
    "exp": exponentials.exp,
    "expm1": exponentials.expm1,
    "log": exponentials.log,
    "log1p": exponentials.log1p,
    "pow": powers.pow,
    "sin": angles.sin,
    "sinh": exponentials.sinh,
    "tan": angles.tan,
    "tanh": exponentials.tanh,
}

#: Those that take no longer than in the C library, even of a number alone: it branches
#: to what a number needs, while these compute all that any number may need.
_ALONE = {"cosh", "expm1", "sinh", "tan", "tanh"}


def call(
    builder: Builder, name: str, *values: Register, alone: bool = False
) -> Register:
    """A function of floats of one type, by its name in the C library.

    `alone`: these are no elements of arrays.
    """
    known = _ALONE if alone else FUNCTIONS
    if name not in known or not machine.has_fma():
        function = library_function(builder.module, name, *[v.type for v in values])
    else:
        function = _function(builder.module, name, values[0].type)
    return builder.ir.call(function, values)


def _function(module: Any, name: str, typ: Any) -> Any:
    """A function of the table, which the module has once."""
    write = FUNCTIONS[name]
    name = f"maths.{name}{'f' if typ == F32 else ''}"
    found = module.globals.get(name)
    if found is None:
        count = write.__code__.co_argcount
        found = ir.Function(module, ir.FunctionType(typ, [typ] * count), name)
        found.linkage = "internal"
        found.attributes.add("alwaysinline")
        builder = ir.IRBuilder(found.append_basic_block("entry"))
        result = write(*[Number(builder, argument) for argument in found.args])
        builder.ret(result.value)
    return found
