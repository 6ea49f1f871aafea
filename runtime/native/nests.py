"""Arrays that are stored, and numbers that are made of all elements.

What is pending in one shape is stored in one nest of loops, which computes what the
arrays have in common once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.native.builder import Builder
from runtime.native.types import number
from runtime.native.values import (
    Buffer,
    Dim,
    Index,
    Lazy,
    Register,
    Scalar,
    Shape,
    Value,
)
from runtime.types.dtypes import DType

__all__ = [
    "broadcast_shape",
    "elementwise",
    "fill",
    "fill_with",
    "force",
    "moved",
    "reduced",
    "same_shape",
]


#: Arrays that are computed of so many others, one of the next, are stored: each is a
#: few calls of Python deep while code is written.
_DEEPEST = 60


def same_shape(one: Shape, other: Shape) -> bool:
    """Whether two shapes are known to be the same."""
    return len(one) == len(other) and all(
        a == b if isinstance(a, int) and isinstance(b, int) else a is b
        for a, b in zip(one, other)
    )


def broadcast_shape(builder: Builder, shapes: Sequence[Shape]) -> Shape:
    """The shape that arrays broadcast to.

    Dimensions that only the program knows have to be the same, unless the other one is
    known to be 1: where one of them turns out to be 1, the interpreter runs the graph.
    """
    found: list[Dim] = [1] * max(len(shape) for shape in shapes)
    for shape in shapes:
        for axis, dim in enumerate(shape, len(found) - len(shape)):
            other = found[axis]
            if isinstance(other, int) and other == 1:
                found[axis] = dim
            elif same_shape((dim,), (other,)) or (isinstance(dim, int) and dim == 1):
                continue
            else:
                one, two = builder.dim(dim), builder.dim(other)
                builder.check(builder.ir.icmp_unsigned("==", one, two))
                found[axis] = dim if isinstance(dim, int) else other
    return tuple(found)


def elementwise(
    builder: Builder,
    shape: Shape,
    dtype: DType,
    function: Callable[..., Register],
    values: Sequence[Value],
) -> Value:
    """What a function of numbers gives for the elements of values that broadcast."""
    if not shape and all(isinstance(value, Scalar) for value in values):
        return Scalar(function(*[value.value for value in values]), dtype)  # type: ignore[union-attr]

    depth = 1 + max([_depth(value) for value in values], default=0)
    if depth > _DEEPEST:
        depth = 1
        values = [force(builder, v) if _depth(v) > 1 else v for v in values]

    def compute(index: Index) -> Register:
        return function(
            *[builder.at(v, _broadcast(builder, v.shape, shape, index)) for v in values]
        )

    is_flat = all(
        value.is_flat and (not value.shape or same_shape(value.shape, shape))
        for value in values
    )
    lazy = Lazy(shape, dtype, compute, is_flat)
    lazy.depth = depth
    return lazy


def _depth(value: Value) -> int:
    return value.depth if isinstance(value, Lazy) else 0


def _broadcast(builder: Builder, own: Shape, shape: Shape, index: Index) -> Index:
    """The index in an array of shape `own`, of one in what it is broadcast to."""
    if not own or same_shape(own, shape):
        return index
    assert index.axes is not None
    if own not in index.derived:
        axes = index.axes[len(shape) - len(own) :]
        places = [number(0) if dim == 1 else at for dim, at in zip(own, axes)]
        index.derived[own] = Index(tuple(places))
    found: Index = index.derived[own]
    return found


def moved(
    builder: Builder,
    shape: Shape,
    value: Value,
    place: Callable[[tuple[Register, ...]], tuple[Register, ...]],
) -> Value:
    """An array whose element at an index is that of `value` at another one."""
    key = object()

    def compute(index: Index) -> Register:
        assert index.axes is not None
        if key not in index.derived:
            index.derived[key] = Index(place(index.axes))
        return builder.at(value, index.derived[key])

    if not shape:
        return Scalar(compute(Index(())), value.dtype)
    lazy = Lazy(shape, value.dtype, compute)
    lazy.depth = 1 + _depth(value)
    return lazy


def force(builder: Builder, value: Value, into: Buffer | None = None) -> Buffer:
    """The value in memory: in `into`, or where it is."""
    if isinstance(value, Buffer) and into is None:
        return value
    into = into or builder.new_buffer(value.shape, value.dtype)
    fill(builder, [(value, into)])
    return into


def fill(builder: Builder, pairs: Sequence[tuple[Value, Buffer]]) -> None:
    """Store values, each in an array of its shape."""
    nests: list[tuple[Shape, list[tuple[Value, Buffer]]]] = []
    for value, into in pairs:
        if isinstance(value, Buffer):
            if value.pointer is not into.pointer:
                builder.copy(value, into)
            continue
        for shape, found in nests:
            if same_shape(shape, value.shape):
                found.append((value, into))
                break
        else:
            nests.append((value.shape, [(value, into)]))
    for shape, found in nests:
        _store(builder, shape, found)


def fill_with(builder: Builder, into: Buffer, value: Register) -> None:
    """Store a number as all elements of an array."""
    fill(builder, [(Lazy(into.shape, into.dtype, lambda index: value, True), into)])


def _store(
    builder: Builder, shape: Shape, pairs: Sequence[tuple[Value, Buffer]]
) -> None:
    def body(index: Index) -> None:
        values = [builder.at(value, index) for value, _ in pairs]
        for value, (_, into) in zip(values, pairs):
            builder.store(into, index, value)

    is_flat = all(value.is_flat for value, _ in pairs)
    builder.nest(shape, body, is_flat=is_flat, into=[into for _, into in pairs])


def reduced(
    builder: Builder,
    value: Value,
    start: Register,
    combine: Callable[[Register, Register], Register],
) -> Register:
    """The combination of all elements, in any order."""
    if isinstance(value, Scalar):
        return combine(start, value.value)

    def level(axes: tuple[Any, ...], carried: Register) -> Register:
        if len(axes) == len(value.shape):
            return combine(carried, builder.at(value, Index(axes)))

        def step(i: Register, carried: Any) -> Sequence[Register]:
            return (level((*axes, i), carried[0]),)

        return builder.loop(value.shape[len(axes)], step, [carried])[0]

    if not value.is_flat:
        return level((), start)

    def flat(i: Register, carried: Any) -> Sequence[Register]:
        return (combine(carried[0], builder.at(value, Index(None, i))),)

    return builder.loop(builder.product(value.shape), flat, [start])[0]
