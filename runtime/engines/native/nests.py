"""Arrays that are stored, and numbers that are made of all elements.

What is pending in one shape is stored in one nest of loops, which computes what the
arrays have in common once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.nest_plans import reduced as reduced
from runtime.engines.native.nest_plans import store, store_all
from runtime.engines.native.types import number
from runtime.engines.native.values import (
    Buffer,
    Dim,
    Index,
    Lazy,
    Register,
    Scalar,
    Shape,
    Value,
)
from runtime.engines.native.values import same_shape as same_shape

#: Arrays that are computed of so many others, one of the next, are stored: each is a
#: few calls of Python deep while code is written.
_DEEPEST = 60


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

    def places(index: Index) -> Sequence[Index]:
        return [_broadcast(v.shape, shape, index) for v in values]

    def compute(index: Index) -> Register:
        return function(*map(builder.at, values, places(index)))

    is_flat = all(
        value.is_flat and (not value.shape or same_shape(value.shape, shape))
        for value in values
    )
    lazy = Lazy(shape, dtype, compute, is_flat, values, places)
    lazy.depth = depth
    return lazy


def _depth(value: Value) -> int:
    return value.depth if isinstance(value, Lazy) else 0


def _broadcast(own: Shape, shape: Shape, index: Index) -> Index:
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

    def places(index: Index) -> Sequence[Index]:
        assert index.axes is not None
        if key not in index.derived:
            index.derived[key] = Index(place(index.axes))
        return [index.derived[key]]

    def compute(index: Index) -> Register:
        return builder.at(value, places(index)[0])

    if not shape:
        return Scalar(compute(Index(())), value.dtype)
    lazy = Lazy(shape, value.dtype, compute, False, [value], places)
    lazy.depth = 1 + _depth(value)
    return lazy


def force(builder: Builder, value: Value, into: Buffer | None = None) -> Buffer:
    """The value in memory: in `into`, or where it is.

    Nobody writes to what is not `into`: others may read the value there.
    """
    if into is None:
        if isinstance(value, Buffer):
            return value
        if isinstance(value, Lazy):
            return store(builder, value)
    into = into or builder.new_buffer(value.shape, value.dtype)
    fill(builder, [(value, into)])
    return into


def fill(
    builder: Builder,
    pairs: Sequence[tuple[Value, Buffer]],
    *,
    is_known: bool = False,
) -> None:
    """Store values, each in an array of its shape.

    They can be read from there if `is_known`: nobody writes to the arrays any more.
    """
    nests: list[tuple[Shape, list[tuple[Value, Buffer]]]] = []
    for value, into in pairs:
        found = value if isinstance(value, Buffer) else builder.memo.whole(value)
        if found is not None:
            _copy(builder, found, into)
            continue
        for shape, members in nests:
            if same_shape(shape, value.shape):
                members.append((value, into))
                break
        else:
            nests.append((value.shape, [(value, into)]))
    # Those of more axes store what they compute for others on the way.
    for shape, members in sorted(nests, key=lambda nest: -len(nest[0])):
        _store(builder, shape, members, is_known)


def _store(
    builder: Builder,
    shape: Shape,
    pairs: Sequence[tuple[Value, Buffer]],
    is_known: bool,
) -> None:
    left = []
    for value, into in pairs:
        found = builder.memo.whole(value)
        if found is None:
            left.append((value, into))
        else:
            _copy(builder, found, into)
    if left:
        store_all(builder, shape, left, is_known=is_known)


def _copy(builder: Builder, source: Buffer, target: Buffer) -> None:
    if source.pointer is not target.pointer:
        builder.copy(source, target)


def fill_with(builder: Builder, into: Buffer, value: Register) -> None:
    """Store a number as all elements of an array."""
    fill(builder, [(Lazy(into.shape, into.dtype, lambda index: value, True), into)])
