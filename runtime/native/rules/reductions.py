"""Rows made into numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.ir as ir

from runtime.native.flow import Step, rule
from runtime.native.nests import reduced
from runtime.native.rules.elementwise import maximum, minimum
from runtime.native.types import constant, in_register
from runtime.native.values import Index, Register, Scalar, Value
from runtime.types.dtypes import DType

__all__: list[str] = []

#: Sums may be added in any order.
_ANY_ORDER = ("reassoc", "contract")


def _combines(
    op: str,
    start: Callable[[DType], Any],
    combine: Callable[[Any, DType, Register, Register], Register],
) -> None:
    @rule(op)
    def run(
        step: Step, x: Value, axis: Any = None, keepdims: bool = False, **_: Any
    ) -> Value:
        builder, dtype = step.builder, step.dtype
        first = constant(start(dtype), dtype)

        def both(a: Register, b: Register) -> Register:
            return combine(builder, dtype, a, b)

        axes = _axes(step, x, axis)
        if not keepdims and len(axes) == len(x.shape):
            return Scalar(reduced(builder, x, first, both), dtype)
        shape: list[Any] = list(x.shape)
        for i in axes[::-1]:
            shape[i : i + 1] = [1] * keepdims
        found = step.new_buffer(tuple(shape))
        rest = [i for i in range(len(x.shape)) if i not in axes]

        def row(index: Index) -> None:
            assert index.axes is not None
            outer = index.axes
            if keepdims:
                outer = tuple([outer[i] for i in rest])

            def level(places: tuple[Register, ...], carried: Register) -> Register:
                if len(places) == len(axes):
                    at: list[Any] = [None] * len(x.shape)
                    for i, place in (*zip(rest, outer), *zip(axes, places)):
                        at[i] = place
                    return both(carried, builder.at(x, Index(tuple(at))))

                def body(i: Register, carried: Any) -> Sequence[Register]:
                    return (level((*places, i), carried[0]),)

                return builder.loop(x.shape[axes[len(places)]], body, [carried])[0]

            builder.store(found, index, level((), first))

        builder.nest(tuple(shape), row)
        return found


def _axes(step: Step, x: Value, axis: Any) -> list[int]:
    if axis is None:
        return list(range(len(x.shape)))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if not all(type(item) is int for item in axes):
        raise step.refused("the axis is not known")
    return sorted({item % len(x.shape) for item in axes})


def _sum(builder: Any, dtype: DType, a: Register, b: Register) -> Register:
    if isinstance(in_register(dtype), ir.IntType):
        return builder.ir.add(a, b)
    return builder.ir.fadd(a, b, flags=_ANY_ORDER)


def _product(builder: Any, dtype: DType, a: Register, b: Register) -> Register:
    if isinstance(in_register(dtype), ir.IntType):
        return builder.ir.mul(a, b)
    return builder.ir.fmul(a, b, flags=_ANY_ORDER)


def _least(dtype: DType) -> Any:
    return float("-inf") if dtype.is_floating else dtype.min


def _most(dtype: DType) -> Any:
    return float("inf") if dtype.is_floating else dtype.max


_combines("Sum", lambda dtype: 0, _sum)
_combines("Prod", lambda dtype: 1, _product)
_combines("Max", _least, maximum)
_combines("Min", _most, minimum)
_combines("All", lambda dtype: 1, lambda builder, _, a, b: builder.ir.and_(a, b))
_combines("Any", lambda dtype: 0, lambda builder, _, a, b: builder.ir.or_(a, b))
