"""Gradients take the shape of what they are of: sums over what was broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.ops.arrays.creation import ones, zeros
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.rearrange import broadcast_to
from runtime.ops.arrays.shape import rank, reshape, shape, size
from runtime.ops.convert import cast
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.reduce.reductions import reduce_sum
from runtime.types import dtypes

__all__ = ["broadcast_like", "shape_of", "sum_to", "zeros_of"]


def shape_of(x: Any) -> Any:
    """The shape of a tensor: ints where all are known, else a tensor."""
    if x.shape.is_fully_defined():
        return x.shape.as_list()
    return shape(x, dtypes.int64)


def zeros_of(x: Any) -> Any:
    """Zeros in the shape of `x`, for which that is all that is needed of it."""
    return zeros(shape_of(x), x.dtype)


def broadcast_like(x: Any, other: Any) -> Any:
    """`x` repeated to the shape of `other`."""
    if x.shape.is_fully_defined() and x.shape == other.shape:
        return x
    return broadcast_to(x, shape_of(other))


def sum_to(gradient: Any, x: Any, others: Sequence[Any] = ()) -> Any:
    """The gradient of `x`, which was broadcast with `others` (none: by itself)."""
    given, wanted = gradient.shape, x.shape
    if given.is_fully_defined() and given == wanted:
        return gradient
    axes = _summed_axes(gradient, x, others)
    if axes is None:
        return _sum_dynamically(gradient, x)
    if axes:
        gradient = reduce_sum(gradient, axes, keepdims=True)
    elif given.rank == wanted.rank and not _may_spread(gradient, x):
        return gradient
    return reshape(gradient, shape_of(x))


def _may_spread(gradient: Any, x: Any) -> bool:
    """Whether the gradient may have fewer elements than `x`: see `broadcast_like`."""
    return any(g == 1 and d != 1 for g, d in zip(gradient.shape, x.shape))


def _summed_axes(gradient: Any, x: Any, others: Sequence[Any]) -> list[int] | None:
    """The axes that `x` was repeated along; None where only a run can tell."""
    if x.shape.rank is None or gradient.shape.rank is None:
        return None
    extra = gradient.shape.rank - x.shape.rank
    axes = list(range(extra))
    for axis, length in enumerate(x.shape, extra):
        if length == 1:
            if gradient.shape[axis] != 1:
                axes.append(axis)
        elif length is None and not _others_are_one(axis, gradient, others):
            return None
    return axes


def _others_are_one(axis: int, gradient: Any, others: Sequence[Any]) -> bool:
    """Whether what `x` was broadcast with is no longer than 1 along an axis."""
    if not others:
        return False
    for other in others:
        if other.shape.rank is None:
            return False
        place = axis - (gradient.shape.rank - other.shape.rank)
        if place >= 0 and other.shape[place] != 1:
            return False
    return True


def _sum_dynamically(gradient: Any, x: Any) -> Any:
    wanted = shape(x, dtypes.int64)
    extra = cast(rank(gradient), dtypes.int64) - cast(size(wanted), dtypes.int64)
    padded = concat([ones(reshape(extra, [1]), dtypes.int64), wanted], 0)
    axes = reshape(where(equal(padded, 1)), [-1])
    return reshape(reduce_sum(gradient, axes, keepdims=True), wanted)
