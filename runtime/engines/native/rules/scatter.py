"""Elements written to places that indices name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.nests import elementwise, fill, force, same_shape
from runtime.engines.native.rules.elementwise import is_float, maximum, minimum
from runtime.engines.native.rules.gather import check_places, column, widened
from runtime.engines.native.rules.shapes import asked_shape
from runtime.engines.native.types import constant, number
from runtime.engines.native.values import Buffer, Index, Register, Scalar, Value

#: What becomes of the element that is there, and of the one that is written.
Combine = Callable[[Builder, DType, Register, Register], Register]


def _replace(b: Builder, dtype: DType, old: Register, new: Register) -> Register:
    return new


def _add(b: Builder, dtype: DType, old: Register, new: Register) -> Register:
    return b.ir.fadd(old, new) if is_float(dtype) else b.ir.add(old, new)


def _writes(op: str, combine: Combine) -> None:
    @rule(op)
    def run(step: Step, x: Value, indices: Value, updates: Value, **_: Any) -> Value:
        return _written(step, step.writable(x), indices, updates, combine)


_writes("TensorScatterAdd", _add)
_writes("TensorScatterMax", maximum)
_writes("TensorScatterMin", minimum)
_writes("TensorScatterUpdate", _replace)


@rule("ScatterNd")
def _scatter_nd(
    step: Step, indices: Value, updates: Value, shape: Any, **_: Any
) -> Value:
    builder, dtype = step.builder, step.dtype
    found = step.new_buffer(step.known(asked_shape(step, shape)))
    zero = Scalar(constant(0, dtype), dtype)
    zeros = elementwise(builder, found.shape, dtype, lambda v: v, [zero])
    fill(builder, [(zeros, found)])
    return _written(step, found, indices, updates, _add)


def _written(
    step: Step, into: Buffer, indices: Value, updates: Value, combine: Combine
) -> Buffer:
    """Write updates in the order they come: places may be named more than once."""
    builder, dtype = step.builder, step.dtype
    depth = indices.shape[-1]
    if type(depth) is not int:
        raise step.refused("how deep indices go is not known")
    if dtype.is_bool:
        raise step.refused("bools that are combined")
    outer = len(indices.shape) - 1
    wanted = (*indices.shape[:-1], *into.shape[depth:])
    if not same_shape(updates.shape, wanted):
        raise step.refused("updates whose shape is not known to fit")
    indices, updates = force(builder, indices), force(builder, updates)
    for level in range(depth):
        check_places(step, column(builder, indices, level), into.shape[level])

    def body(index: Index) -> None:
        axes = index.axes
        assert axes is not None
        places = []
        for level in range(depth):
            which = builder.load(indices, Index((*axes[:outer], number(level))))
            places.append(widened(builder, which, indices.dtype))
        at = Index((*places, *axes[outer:]))
        new = builder.load(updates, index)
        builder.store(into, at, combine(builder, dtype, builder.load(into, at), new))

    builder.nest(updates.shape, body, in_order=True)
    return into
