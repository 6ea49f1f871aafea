"""What is left of variables: see `runtime.engines.native.variables`."""

from __future__ import annotations

from typing import Any

from runtime.engines.native.flow import Step, rule
from runtime.engines.native.values import Value


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
