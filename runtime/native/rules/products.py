"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from runtime.native.flow import Step, rule
from runtime.native.nests import force
from runtime.native.types import constant, in_register
from runtime.native.values import Index, Register, Value

__all__: list[str] = []

_FUSED = ("reassoc", "contract")


@rule("MatMul")
def _matmul(
    step: Step,
    x: Value,
    y: Value,
    transpose_a: bool = False,
    transpose_b: bool = False,
    **_: Any,
) -> Value:
    if len(x.shape) != 2 or len(y.shape) != 2:
        raise step.refused("products of more than two matrices")
    builder, found = step.builder, step.new_buffer()
    x, y = force(builder, x), force(builder, y)
    depth = x.shape[0 if transpose_a else 1]
    is_integer = isinstance(in_register(step.dtype), ir.IntType)

    def element(index: Index) -> None:
        assert index.axes is not None
        row, column = index.axes

        def body(k: Register, carried: Any) -> Sequence[Register]:
            a = builder.at(x, Index((k, row) if transpose_a else (row, k)))
            b = builder.at(y, Index((column, k) if transpose_b else (k, column)))
            if is_integer:
                return (builder.ir.add(carried[0], builder.ir.mul(a, b)),)
            product = builder.ir.fmul(a, b, flags=_FUSED)
            return (builder.ir.fadd(carried[0], product, flags=_FUSED),)

        (total,) = builder.loop(depth, body, [constant(0, step.dtype)])
        builder.store(found, index, total)

    builder.nest(found.shape, element)
    return found
