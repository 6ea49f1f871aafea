"""Gradients of rows: `IndexedSlices` until someone needs the whole tensor."""

from __future__ import annotations

from typing import Any

from runtime.ops.arrays.joining import concat
from runtime.ops.convert import cast, convert_to_tensor
from runtime.types import dtypes
from runtime.variable import IndexedSlices

__all__ = ["added", "dense"]


def dense(gradient: Any) -> Any:
    """A gradient as a tensor."""
    if isinstance(gradient, IndexedSlices):
        return convert_to_tensor(gradient)
    return gradient


def added(first: Any, second: Any) -> Any:
    """The sum of two gradients of one tensor."""
    if isinstance(first, IndexedSlices) and isinstance(second, IndexedSlices):
        indices = [first.indices, second.indices]
        if indices[0].dtype is not indices[1].dtype:
            indices = [cast(index, dtypes.int64) for index in indices]
        values = concat([first.values, second.values], 0)
        return IndexedSlices(values, concat(indices, 0), first.dense_shape)
    return dense(first) + dense(second)
