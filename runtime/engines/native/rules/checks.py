"""Checks, which end the native function where they do not hold.

An assignment checks the shape of its value: see `runtime.engines.native.variables`.
"""

from __future__ import annotations

from typing import Any

from runtime.core.types import dtypes
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.nests import elementwise
from runtime.engines.native.types import BIT, constant
from runtime.engines.native.values import Register, Value


@rule("Assert")
def _assert(step: Step, condition: Value, *data: Value, **_: Any) -> tuple[()]:
    step.check(condition)
    return ()


@rule("Raise")
def _raise(step: Step, *data: Value, **_: Any) -> tuple[()]:
    step.check(BIT(0))
    return ()


@rule("RequireBound", "RequireSome")
def _require(step: Step, value: Value, is_there: Value, **_: Any) -> Value:
    step.check(is_there)
    return value


@rule("CheckNumericsV2")
def _check_numerics(step: Step, value: Value, **_: Any) -> Value:
    builder, dtype = step.builder, value.dtype
    infinite = constant(float("inf"), dtype)

    def is_finite(x: Register) -> Register:
        return builder.ir.fcmp_ordered("<", builder.intrinsic("fabs", x), infinite)

    step.check(elementwise(builder, value.shape, dtypes.bool, is_finite, [value]))
    return value


@rule("AssignVariableOp")
def _assign(step: Step, value: Value, variable: Any) -> Value:
    dims = variable.shape.dims
    if dims is None or len(dims) != len(value.shape):
        raise step.refused("a variable of any rank")
    builder = step.builder
    for dim, found in zip(dims, value.shape):
        if dim is not None and dim is not found:
            is_same = builder.ir.icmp_signed("==", builder.dim(found), builder.dim(dim))
            step.builder.check(is_same)
    return value
