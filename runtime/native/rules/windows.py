"""Convolutions and pools: sums over windows, right from the images.

No window is copied. What is added around an image is, together with the image, one
image at a time, which stays in the cache; so no loop asks whether a window lies inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np

from runtime.errors import OpError
from runtime.native.builder import Builder
from runtime.native.flow import Step, rule
from runtime.native.images import (
    Images,
    Rows,
    add_images,
    each_image,
    each_row,
    merged,
    strides_of,
)
from runtime.native.nests import force, moved
from runtime.native.rules.elementwise import maximum
from runtime.native.rules.movement import widened
from runtime.native.tiles import Level, Sums, add_lanes, add_products, strip_of
from runtime.native.types import constant, number, size_of
from runtime.native.values import Buffer, Index, Register, Scalar, Value
from runtime.native.vectors import added_product, repeated, shifted, transpose
from runtime.ops.nn.windows import paddings, places
from runtime.types.dtypes import DType

__all__: list[str] = []


class _Axis(NamedTuple):
    """The windows along an axis of images."""

    length: int
    #: How many elements a window has, and how far they are from each other.
    size: int
    apart: int
    #: How far windows are from each other, and how many there are.
    stride: int
    windows: int
    #: What is added in front of the images and behind them.
    pads: tuple[int, int]


def _axes(
    step: Step, shape: Sequence[int], sizes: Sequence[int], attrs: dict[str, Any]
) -> list[_Axis]:
    if not all(isinstance(dim, int) for dim in (*shape[1:], *sizes)):
        raise step.refused("windows of images of unknown lengths")
    try:
        counts: Any = places(tuple(shape), sizes, attrs)
    except OpError as error:
        raise step.refused("windows that do not fit") from error
    apart = attrs.get("dilations") or (1,) * len(shape)
    pads = paddings(tuple(shape), sizes, attrs)
    return [
        _Axis(*found)
        for found in zip(
            shape[1:-1], sizes, apart[1:-1], attrs["strides"][1:-1], counts, pads
        )
    ]


# --- convolutions ---------------------------------------------------------------------


def _check_floats(step: Step, rank: int, *values: Value) -> None:
    if not all(len(value.shape) == rank for value in values):
        raise step.refused("windows of another rank")
    dims = [dim for value in values for dim in value.shape[1:]]
    if not all(isinstance(dim, int) for dim in dims):
        raise step.refused("windows of images of unknown lengths")
    if not step.dtype.is_floating:
        raise step.refused("a convolution of integers")


def _check_same(step: Step, one: Any, other: Any) -> None:
    """Check that two batches have as many images."""
    if isinstance(other, Scalar):
        other = widened(step, other)
    if isinstance(one, int) and isinstance(other, int):
        if one != other:
            raise step.refused("batches that do not fit")
        return
    builder = step.builder
    same = builder.ir.icmp_signed("==", builder.dim(one), builder.dim(other))
    builder.check(same)


class _Convolution(NamedTuple):
    """Sums over windows of each image, for a group of channels."""

    dtype: DType
    #: The loops over the windows of an image, and over the elements of each.
    rows: Sequence[Rows]
    levels: Sequence[Level]
    columns: int

    def write(
        self, builder: Builder, left: Register, right: Register, into: Register
    ) -> None:
        """Write the results for an image."""
        if not prod(each[0] for each in self.rows):
            return
        *outer, inner = [Rows(*each) for each in merged(self.rows)]
        levels = [Level(*level) for level in merged(self.levels)]
        sums = Sums(self.dtype, inner.times, self.columns, *inner[1:], levels)

        def row(left: Register, into: Register) -> None:
            add_products(builder, sums, left, right, into)

        each_row(builder, self.dtype, outer, left, into, row)


def _in_strips(builder: Builder, filters: Buffer) -> tuple[Buffer, int]:
    """Filters (all else, out) so that those of a tile are neighbours, and how many."""
    depth, columns = prod(filters.shape[:-1]), filters.shape[-1]
    width = strip_of(filters.dtype)
    flat = Buffer((depth, columns), filters.dtype, filters.pointer)
    if columns % width or columns == width or depth < width:
        return flat, columns

    def place(axes: tuple[Register, ...]) -> tuple[Register, ...]:
        strip, row, column = axes
        begin = builder.ir.mul(strip, number(width))
        return row, builder.ir.add(begin, column)

    strips = moved(builder, (columns // width, depth, width), flat, place)
    return force(builder, strips), width


@rule("Conv2D", "Conv3D")
def _convolution(step: Step, x: Value, filters: Value, **attrs: Any) -> Value:
    _check_floats(step, len(attrs["strides"]), x, filters)
    *sizes, inside, outside = filters.shape
    channels = x.shape[-1]
    if not inside or channels % inside or outside % (channels // inside or 1):
        raise step.refused("filters that do not fit")
    axes = _axes(step, x.shape, sizes, attrs)
    builder = step.builder
    shape = (x.shape[0], *[axis.windows for axis in axes], outside)
    found = step.new_buffer(shape)
    groups = channels // inside
    source, dtype = force(builder, x), step.dtype
    packed, width = force(builder, filters), outside
    if groups == 1:
        packed, width = _in_strips(builder, packed)
    images = Images(builder, source, [axis.pads for axis in axes])
    lefts, intos = strides_of(images.shape), strides_of(found.shape[1:])
    rights = strides_of((*sizes, inside, width))
    taps = [
        Level(axis.size, axis.apart * left, right)
        for axis, left, right in zip(axes, lefts, rights)
    ]
    rows = [
        Rows(axis.windows, axis.stride * left, into)
        for axis, left, into in zip(axes, lefts, intos)
    ]
    each = width // groups
    levels = [*taps, Level(inside, 1, width)]
    whole = _Convolution(dtype, rows, levels, each)
    parts = groups if groups > 1 else outside // max(width, 1)
    steps = (inside, each) if groups > 1 else (0, prod(packed.shape[1:]))

    def image(place: Register, left: Register, into: Register) -> None:
        def part(index: Index) -> None:
            assert index.axes is not None
            at = index.axes[0]
            whole.write(
                builder,
                shifted(builder, left, dtype, (at, steps[0])),
                shifted(builder, packed.pointer, dtype, (at, steps[1])),
                shifted(builder, into, dtype, (at, each)),
            )

        builder.nest((parts,), part, into=[found])

    each_image(builder, images, found, image)
    return found


class _Phase(NamedTuple):
    """Every `stride`-th element of an axis that windows were taken from.

    Element `first + stride * u` is part of windows ``window + u - back * t``, whose
    elements ``tap + apart * t`` are there: for each t below `times`.
    """

    first: int
    elements: int
    window: int
    back: int
    tap: int
    apart: int
    times: int


def _phases(axis: _Axis) -> Iterator[_Phase]:
    common = gcd(axis.stride, axis.apart)
    step, back = axis.stride // common, axis.apart // common
    for first in range(min(axis.stride, axis.length)):
        begin = first + axis.pads[0]
        taps = [
            tap
            for tap in range(min(step, axis.size))
            if (begin - tap * axis.apart) % axis.stride == 0
        ]
        count = len(range(first, axis.length, axis.stride))
        if taps:
            (tap,) = taps
            window = (begin - tap * axis.apart) // axis.stride
            times = len(range(tap, axis.size, step))
            yield _Phase(first, count, window, back, tap, step, times)


def _reach(axis: _Axis, phases: Sequence[_Phase]) -> tuple[int, int]:
    """How far windows lie in front of the first one, and behind the last."""
    first = min((p.window - p.back * (p.times - 1) for p in phases), default=0)
    last = max((p.window + p.elements - 1 for p in phases), default=0)
    return max(-first, 0), max(last - axis.windows + 1, 0)


@rule("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _back(
    step: Step, filters: Value, y: Value, *, input_sizes: Any, **attrs: Any
) -> Value:
    _check_floats(step, len(attrs["strides"]), filters, y)
    count, *rest = input_sizes
    shape = (y.shape[0], *rest)
    axes = _axes(step, shape, filters.shape[:-2], attrs)
    counts = (*[axis.windows for axis in axes], filters.shape[-1])
    if tuple(y.shape[1:]) != counts or shape[-1] != filters.shape[-2]:
        raise step.refused("a result that does not fit")
    _check_same(step, y.shape[0], count)
    builder, found, dtype = step.builder, step.new_buffer(shape), step.dtype
    *sizes, inside, outside = filters.shape
    turned = transpose(builder, force(builder, filters))
    packed, width = _in_strips(builder, turned)
    phases = [list(_phases(axis)) for axis in axes]
    reaches = [_reach(*pair) for pair in zip(axes, phases)]
    images = Images(builder, force(builder, y), reaches)
    lefts, intos = strides_of(images.shape), strides_of(shape[1:])
    rights = strides_of((*sizes, outside, width))
    if any(
        sum(phase.elements for phase in each) < axis.length
        for axis, each in zip(axes, phases)
    ):
        builder.clear(found.pointer, builder.bytes_of(shape, dtype))

    def image(place: Register, left: Register, into: Register) -> None:
        def strip(index: Index) -> None:
            assert index.axes is not None
            at = index.axes[0]
            right = shifted(
                builder, packed.pointer, dtype, (at, prod(packed.shape[1:]))
            )
            for chosen in product(*phases):
                rows, levels, begin = [], [], [0, 0, 0]
                for i, phase in enumerate(chosen):
                    stride = axes[i].stride
                    rows.append(Rows(phase.elements, lefts[i], stride * intos[i]))
                    back = -phase.back * lefts[i]
                    levels.append(Level(phase.times, back, phase.apart * rights[i]))
                    begin[0] += (phase.window + reaches[i][0]) * lefts[i]
                    begin[1] += phase.tap * rights[i]
                    begin[2] += phase.first * intos[i]
                levels.append(Level(outside, 1, width))
                _Convolution(dtype, rows, levels, width).write(
                    builder,
                    shifted(builder, left, dtype, (begin[0], 1)),
                    shifted(builder, right, dtype, (begin[1], 1)),
                    shifted(builder, into, dtype, (begin[2], 1), (at, width)),
                )

        builder.nest((inside // max(width, 1),), strip, into=[found])

    each_image(builder, images, found, image)
    return found


@rule("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _filters(
    step: Step, x: Value, y: Value, *, filter_sizes: Any, **attrs: Any
) -> Value:
    shape = step.known_shape
    _check_floats(step, len(shape), x, y)
    *sizes, inside, outside = shape
    axes = _axes(step, x.shape, sizes, attrs)
    counts = (*[axis.windows for axis in axes], outside)
    if tuple(y.shape[1:]) != counts or x.shape[-1] != inside:
        raise step.refused("filters that do not fit")
    _check_same(step, x.shape[0], y.shape[0])
    builder, found, dtype = step.builder, step.new_buffer(), step.dtype
    given = force(builder, y)
    images = Images(builder, force(builder, x), [axis.pads for axis in axes])
    lefts, rights = strides_of(images.shape), strides_of(y.shape[1:])
    intos = strides_of(shape)
    taps = [
        Rows(axis.size, axis.apart * left, into)
        for axis, left, into in zip(axes, lefts, intos)
    ]
    windows = [
        Level(axis.windows, axis.stride * left, right)
        for axis, left, right in zip(axes, lefts, rights)
    ]
    if not prod(shape) or not prod(counts):
        builder.clear(found.pointer, prod(shape) * size_of(dtype))
        return found
    *outer, inner = [Rows(*r) for r in merged([*taps, Rows(inside, 1, outside)])]
    levels = [Level(*level) for level in merged(windows)]
    sums = Sums(dtype, inner.times, outside, *inner[1:], levels, adds=True)

    def image(place: Register, into: Register) -> None:
        at = (place, prod(y.shape[1:]))
        right = shifted(builder, given.pointer, dtype, at)

        def row(left: Register, into: Register) -> None:
            add_products(builder, sums, left, right, into)

        each_row(builder, dtype, outer, images.at(place), into, row)

    add_images(builder, found, images, image, prod(shape) * prod(counts[:-1]))
    return found


# --- windows of each channel ----------------------------------------------------------


def _by_channel(
    step: Step,
    images: Images,
    axes: Sequence[_Axis],
    start: Any,
    combine: Callable[[Any, Any, Any], Any],
    right: Register | None = None,
    finish: Callable[[Any, Any], Any] = lambda total, places: total,
) -> Value:
    """The elements of windows combined, for each channel."""
    builder, dtype, channels = step.builder, step.dtype, images.shape[-1]
    shape = (images.count, *[axis.windows for axis in axes], channels)
    found = step.new_buffer(shape)
    lefts, intos = strides_of(images.shape), strides_of(shape[1:])
    rights = strides_of((*[axis.size for axis in axes], channels))
    levels = [
        Level(axis.size, axis.apart * left, right)
        for axis, left, right in zip(axes, lefts, rights)
    ]

    def image(place: Register, left: Register, into: Register) -> None:
        def window(index: Index) -> None:
            assert index.axes is not None
            at = index.axes
            begins = [axis.stride * step for axis, step in zip(axes, lefts)]
            add_lanes(
                builder,
                Sums(dtype, 1, channels, 0, 0, levels),
                shifted(builder, left, dtype, *zip(at, begins)),
                right,
                shifted(builder, into, dtype, *zip(at, intos)),
                start,
                combine,
                lambda total: finish(total, at),
            )

        windows = tuple([axis.windows for axis in axes])
        builder.nest(windows, window, into=[found])

    each_image(builder, images, found, image)
    return found


@rule("DepthwiseConv2dNative")
def _depthwise(step: Step, x: Value, filters: Value, **attrs: Any) -> Value:
    _check_floats(step, 4, x, filters)
    *sizes, channels, times = filters.shape
    if x.shape[-1] != channels:
        raise step.refused("filters that do not fit")
    builder, dtype = step.builder, step.dtype
    axes = _axes(step, x.shape, sizes, attrs)
    if times != 1:
        shape = (*x.shape[:-1], channels * times)

        def place(at: tuple[Register, ...]) -> tuple[Register, ...]:
            return (*at[:-1], builder.ir.udiv(at[-1], number(times)))

        x = moved(builder, shape, x, place)
    images = Images(builder, force(builder, x), [axis.pads for axis in axes])

    def combine(total: Any, x: Any, y: Any) -> Any:
        return added_product(builder, total, x, y, dtype)

    factors = force(builder, filters).pointer
    return _by_channel(step, images, axes, 0, combine, factors)


@rule("MaxPool")
def _max_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    if len(x.shape) != len(ksize):
        raise step.refused("windows of another rank")
    builder, dtype = step.builder, step.dtype
    axes = _axes(step, x.shape, ksize[1:-1], attrs)
    least = -np.inf if dtype.is_floating else dtype.min
    pads = [axis.pads for axis in axes]
    images = Images(builder, force(builder, x), pads, least)

    def combine(total: Any, x: Any, _: Any) -> Any:
        return maximum(builder, dtype, total, x)

    return _by_channel(step, images, axes, least, combine)


@rule("AvgPool")
def _avg_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    _check_floats(step, len(ksize), x)
    builder, dtype = step.builder, step.dtype
    axes = _axes(step, x.shape, ksize[1:-1], attrs)
    images = Images(builder, force(builder, x), [axis.pads for axis in axes])
    counts = None
    if images.has_border:
        # What was added around does not count.
        found = _counts(axes).astype(dtype.np_dtype)
        counts = step.flow.held_array(found, step.output.spec)

    def combine(total: Any, x: Any, _: Any) -> Any:
        return builder.ir.fadd(total, x, flags=("reassoc",))

    def finish(total: Any, at: tuple[Register, ...]) -> Any:
        if counts is None:
            count = constant(prod(ksize), dtype)
        else:
            count = builder.load(counts, Index(at))
        return builder.ir.fdiv(total, repeated(builder, count, total.type.count))

    return _by_channel(step, images, axes, 0, combine, finish=finish)


def _counts(axes: Sequence[_Axis]) -> Any:
    """How many elements of each window are elements of the image."""
    found = np.ones((), np.int64)
    for axis in axes:
        begins = np.arange(axis.windows)[:, None] * axis.stride - axis.pads[0]
        at = begins + np.arange(axis.size) * axis.apart
        inside = ((at >= 0) & (at < axis.length)).sum(1)
        found = found[..., None] * inside
    return found
