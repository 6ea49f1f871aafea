"""Shapes as tensors, and arrays of the same elements in another shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.lengths import check_size
from runtime.engines.native.nests import elementwise, force, moved, same_shape
from runtime.engines.native.types import I64, in_register, number
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
from runtime.ops.operands import Slice


@rule("Shape")
def _shape(step: Step, x: Value, **_: Any) -> Value:
    builder, typ = step.builder, in_register(step.dtype)
    dims = [builder.cast_dim(dim, typ) for dim in x.shape]

    def compute(index: Index) -> Register:
        (at,) = index.axes or (index.flat,)
        known = builder.as_dim(at)
        if isinstance(known, int):
            return dims[known]
        found = dims[-1]
        for axis, dim in enumerate(dims[:-1]):
            is_here = builder.ir.icmp_signed("==", at, number(axis))
            found = builder.ir.select(is_here, dim, found)
        return found

    return Lazy((len(dims),), step.dtype, compute, is_flat=True)


@rule("Size")
def _size(step: Step, x: Value, **_: Any) -> Value:
    check_size(step.builder, x.shape, x.dtype)
    size = step.builder.product(x.shape)
    return Scalar(step.builder.cast_dim(size, in_register(step.dtype)), step.dtype)


@rule("Rank")
def _rank(step: Step, x: Value, **_: Any) -> Value:
    return Scalar(in_register(step.dtype)(len(x.shape)), step.dtype)


@rule("Reshape")
def _reshape(step: Step, x: Value, shape: Any) -> Value:
    builder = step.builder
    target = _reshaped(step, x, asked_shape(step, shape, may_infer=True))
    if same_shape(x.shape, target):
        return x
    if isinstance(x, Scalar):
        return elementwise(builder, target, x.dtype, lambda v: v, [x])
    if isinstance(x, Lazy) and x.is_flat:

        def places(index: Index) -> Sequence[Index]:
            key = "reshaped", target
            if index.flat is None and key not in index.derived:
                flat = builder.flat_place(target, index)
                index.derived[key] = Index(None, flat)
            return [index.derived.get(key, index)]

        def compute(index: Index) -> Register:
            return builder.at(x, places(index)[0])

        if target:
            return Lazy(target, x.dtype, compute, True, [x], places)
        return Scalar(compute(Index(None, number(0))), x.dtype)
    if target and isinstance(x, Lazy) and same_shape(_long(x.shape), _long(target)):
        return _with_other_ones(builder, x, target)
    found = Buffer(target, x.dtype, force(builder, x).pointer)
    return found if target else Scalar(builder.load_only(found), x.dtype)


def _long(shape: Shape) -> Shape:
    """The dimensions that are not known to be 1."""
    return tuple([dim for dim in shape if not _is(dim, 1)])


def _with_other_ones(builder: Builder, x: Lazy, shape: Shape) -> Value:
    """An array with axes of length 1 in other places."""

    def place(axes: tuple[Register, ...]) -> tuple[Register, ...]:
        left = iter([at for at, dim in zip(axes, shape) if not _is(dim, 1)])
        return tuple([number(0) if _is(dim, 1) else next(left) for dim in x.shape])

    return moved(builder, shape, x, place)


def _reshaped(step: Step, x: Value, asked: Sequence[Dim]) -> tuple[Dim, ...]:
    """The shape whose dimensions are `asked`, of which one may be -1."""
    builder = step.builder
    given, wanted = list(x.shape), [dim for dim in asked if not _is(dim, -1)]
    infers = len(wanted) < len(asked)
    for dim in tuple(wanted):
        # What is on both sides says nothing, but that it is not 0.
        same = next((d for d in given if same_shape((d,), (dim,))), None)
        if same is None or _is(same, 0):
            continue
        if infers and not isinstance(same, int):
            builder.check(builder.ir.icmp_signed(">", same, number(0)))
        _remove(given, same)
        _remove(wanted, dim)
    count, rest = builder.product(given), builder.product(wanted)
    if not infers:
        _check_same(builder, count, rest, step)
        return tuple(asked)
    if _is(rest, 1):
        inferred = count
    elif isinstance(count, int) and isinstance(rest, int):
        if rest == 0 or count % rest:
            raise step.refused("a shape of another number of elements")
        inferred = count // rest
    else:
        count, rest = builder.dim(count), builder.dim(rest)
        builder.check(builder.ir.icmp_signed(">", rest, number(0)))
        inferred = builder.ir.udiv(count, rest)
        _check_same(builder, count, builder.ir.mul(inferred, rest), step)
    return tuple([inferred if _is(dim, -1) else dim for dim in asked])


def _is(dim: Dim, value: int) -> bool:
    return isinstance(dim, int) and dim == value


def _remove(dims: list[Dim], dim: Dim) -> None:
    """Remove the first of the same dimensions."""
    del dims[next(i for i, d in enumerate(dims) if same_shape((d,), (dim,)))]


def _check_same(builder: Builder, one: Dim, other: Dim, step: Step) -> None:
    if isinstance(one, int) and isinstance(other, int):
        if one != other:
            raise step.refused("a shape of another number of elements")
        return
    same = builder.ir.icmp_unsigned("==", builder.dim(one), builder.dim(other))
    builder.check(same)


def asked_shape(step: Step, shape: Any, *, may_infer: bool = False) -> tuple[Dim, ...]:
    """The dimensions that a node is given: numbers, or the elements of a value.

    One may be -1 if the op may infer it; it has to be known then.
    """
    builder = step.builder
    if isinstance(shape, (Lazy, Buffer)):
        (length,) = shape.shape
        if not isinstance(length, int):
            raise step.refused("a shape of any rank")
        indices = [Index((number(axis),)) for axis in range(length)]
        items = [Scalar(builder.at(shape, index), shape.dtype) for index in indices]
    else:
        items = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    said = step.output.shape.dims
    known = [None] * len(items) if said is None else said
    if len(known) != len(items):
        raise step.refused(f"the shape is not {step.output.shape}")
    dims: list[Dim] = []
    for item, dim in zip(items, known):
        asked = as_dim(step, item)
        if isinstance(asked, int):
            if asked < (-1 if may_infer else 0):
                raise step.refused("a negative dimension")
            dims.append(asked)
            continue
        if dim is not None:
            builder.check(builder.ir.icmp_signed("==", asked, number(dim)))
        dims.append(asked if dim is None else dim)
    check_size(builder, tuple([d for d in dims if not _is(d, -1)]), step.dtype)
    return tuple(dims)


def as_dim(step: Step, item: Any) -> Dim:
    """A number of an attribute as a dimension."""
    if isinstance(item, int):
        return item
    return step.builder.as_dim(widened(step, item))


def bounds(step: Step, item: Slice, length: Dim) -> tuple[Dim, Dim, int]:
    """The first place of a slice, the number of its places, and their distance."""
    builder, stride = step.builder, 1 if item.step is None else item.step
    if not isinstance(stride, int) or stride == 0:
        raise step.refused("the step of a slice is not known")
    combine = builder.combine_dims
    start, stop = [None if n is None else as_dim(step, n) for n in item[:2]]
    if all(end is None or isinstance(end, int) for end in (start, stop, length)):
        places = range(*slice(start, stop, stride).indices(length))
        return places.start, len(places), stride
    low, high = (0, length) if stride > 0 else (-1, combine("sub", length, 1))
    first, last = (low, high) if stride > 0 else (high, low)
    if start is None and stop is None and abs(stride) == 1:
        return first, length, stride

    def place(end: Dim) -> Dim:
        if isinstance(end, int):
            end = combine("add", length, end) if end < 0 else end
        else:
            wrapped = builder.dim(combine("add", end, length))
            is_negative = builder.ir.icmp_signed("<", end, number(0))
            end = builder.ir.select(is_negative, wrapped, end)
        return combine("smin", combine("smax", end, low), high)

    first = first if start is None else place(start)
    last = last if stop is None else place(stop)
    apart = combine("sub", last, first) if stride > 0 else combine("sub", first, last)
    count = combine("smax", apart, 0)
    if abs(stride) > 1:
        more = builder.dim(combine("add", count, abs(stride) - 1))
        count = builder.ir.udiv(more, number(abs(stride)))
    return first, count, stride


def widened(step: Step, item: Any) -> Register:
    """An integer as one of 64 bits."""
    if not isinstance(item, Scalar) or not item.dtype.is_integer:
        raise step.refused("an index that is no integer")
    builder = step.builder
    dim = builder.as_dim(item.value)
    if isinstance(dim, int) or dim is not item.value:
        return builder.dim(dim)
    if item.value.type == I64:
        return item.value
    extend = builder.ir.zext if item.dtype.is_unsigned else builder.ir.sext
    return extend(item.value, I64)
