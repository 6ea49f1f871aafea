"""Arithmetic on shapes of which only a part is known; the language of `infer` rules.

A shape is a tuple of dimensions (``None``: not known yet), or ``None`` if not even the
rank is known. Values that only a run can tell, such as the length that a tensor holds,
come to an `infer` rule as `Unknown`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime.core.errors import InvalidArgumentError
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape, broadcast_dynamic_dims
from runtime.core.types.specs import TensorSpec

Dims = tuple["int | None", ...]


@dataclass(frozen=True)
class Unknown:
    """The value of an attribute that is a tensor: its spec, and what is known of it."""

    spec: TensorSpec
    #: As far as tracing could tell: an int, or a tuple of ints and Nones, or None.
    known: Any = None


def dims_of(tensor: TensorSpec) -> Dims | None:
    """The dimensions of a spec, or None if the rank is unknown."""
    dims = tensor.shape.dims
    return None if dims is None else tuple(dims)


def spec(dims: Dims | None, dtype: DType) -> TensorSpec:
    """The spec of a result; InvalidArgumentError if a length would be negative."""
    if dims is not None and any(dim is not None and dim < 0 for dim in dims):
        raise InvalidArgumentError(f"the shape {show(dims)} has negative lengths")
    return TensorSpec(TensorShape(dims), dtype)


def known_int(value: Any) -> int | None:
    """The int that an attribute is, or None if it is not known."""
    if isinstance(value, Unknown):
        return value.known if isinstance(value.known, int) else None
    return None if value is None else int(value)


def dims_value(value: Any) -> Dims | None:
    """A shape given as an attribute, as far as it is known."""
    if isinstance(value, Unknown):
        if value.known is not None:
            return tuple(value.known)
        length = dims_of(value.spec)
        if length is None or length == () or length[0] is None:
            return None
        return (None,) * length[0]
    return tuple(map(known_int, value))


def normal_axis(axis: int, rank: int, name: str = "axis") -> int:
    """`axis` counted from the front. Raises InvalidArgumentError if it is outside."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"{name} {axis} is outside of [{-rank}, {rank}), "
            f"the axes of a tensor of rank {rank}"
        )
    return axis + rank if axis < 0 else axis


def normal_axes(axes: Any, rank: int) -> tuple[int, ...]:
    """One axis or several, counted from the front; None is all of them."""
    if axes is None:
        return tuple(range(rank))
    many = (axes,) if isinstance(axes, int) else axes
    found = tuple(normal_axis(axis, rank) for axis in many)
    if len(set(found)) != len(found):
        raise InvalidArgumentError(f"the axes {tuple(many)} name one axis twice")
    return found


def known_axes(axes: Any, rank: int) -> tuple[int, ...] | None:
    """`normal_axes` of an attribute, or None if a part of it is not known."""
    if isinstance(axes, Unknown):
        axes = axes.known
        if axes is None:
            return None
    if isinstance(axes, tuple):
        axes = tuple(map(known_int, axes))
        if None in axes:
            return None
    return normal_axes(axes, rank)


def product(dims: Dims) -> int | None:
    """The number of elements, if it is known: a 0 settles it whatever else is not."""
    if 0 in dims:
        return 0
    result = 1
    for dim in dims:
        if dim is None:
            return None
        result *= dim
    return result


def broadcast(*shapes: Dims | None) -> Dims | None:
    """The shape of an elementwise result; InvalidArgumentError if there is none."""
    result: Dims = ()
    for shape in shapes:
        if shape is None:
            return None
        try:
            result = broadcast_dynamic_dims(result, shape)
        except ValueError:
            listed = " and ".join(map(show, shapes))
            raise InvalidArgumentError(
                f"the shapes {listed} do not broadcast: from the last axis on, lengths "
                "must be equal or 1"
            ) from None
    return result


def merge_dims(a: Dims | None, b: Dims | None) -> Dims | None:
    """What two descriptions of one shape know together; ValueError if they disagree."""
    if a is None or b is None:
        return b if a is None else a
    return TensorShape(a).merge_with(b).as_tuple()


def show(dims: Dims | None) -> str:
    """A shape as messages write it: ``(2, ?)``."""
    if dims is None:
        return "of unknown rank"
    texts = ["?" if dim is None else str(dim) for dim in dims]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
