"""Convolutions: sums over windows, right from the images.

No window is copied. What is added around an image is, together with the image, one
image at a time, which stays in the cache; so no loop asks whether a window lies inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.image_batches import (
    Images,
    Rows,
    add_images,
    each_image,
    each_row,
    merged,
    strides_of,
)
from runtime.engines.native.nests import force, moved
from runtime.engines.native.rules.channel_windows import (
    back_each,
    convolve_each,
    filters_each,
)
from runtime.engines.native.rules.window_axes import (
    check_floats,
    check_same,
    known_axes,
    of_phases,
    windows_around,
)
from runtime.engines.native.tiles import Level, Sums, add_products, strip_of
from runtime.engines.native.types import number, size_of
from runtime.engines.native.values import Buffer, Index, Register, Value
from runtime.engines.native.vectors import shifted, transpose


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
    check_floats(step, len(attrs["strides"]), x, filters)
    *sizes, inside, outside = filters.shape
    channels = x.shape[-1]
    if not inside or channels % inside or outside % (channels // inside or 1):
        raise step.refused("filters that do not fit")
    axes = known_axes(step, x.shape, sizes, attrs)
    groups = channels // inside
    if groups > 1 and inside == 1:
        return convolve_each(step, x, filters, axes)
    builder = step.builder
    shape = (x.shape[0], *[axis.windows for axis in axes], outside)
    found = step.new_buffer(shape)
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


@rule("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _back(
    step: Step, filters: Value, y: Value, *, input_sizes: Any, **attrs: Any
) -> Value:
    check_floats(step, len(attrs["strides"]), filters, y)
    count, *rest = input_sizes
    shape = (y.shape[0], *rest)
    axes = known_axes(step, shape, filters.shape[:-2], attrs)
    *sizes, inside, outside = filters.shape
    counts = (*[axis.windows for axis in axes], outside)
    if tuple(y.shape[1:]) != counts or not _fits(shape[-1], inside, outside):
        raise step.refused("a result that does not fit")
    check_same(step, y.shape[0], count)
    groups = shape[-1] // max(inside, 1)
    if groups > 1 and inside == 1:
        return back_each(step, filters, y, axes, shape)
    builder, found, dtype = step.builder, step.new_buffer(shape), step.dtype
    packed, width = transpose(builder, force(builder, filters)), inside
    if groups <= 1:
        packed, width = _in_strips(builder, packed)
    images = windows_around(step, y, axes, found)
    lefts, intos = strides_of(images.shape), strides_of(shape[1:])
    rights = strides_of((*sizes, outside, width))
    parts = groups if groups > 1 else inside // max(width, 1)
    deep = outside // max(groups, 1)
    steps = (deep, deep * width) if groups > 1 else (0, prod(packed.shape[1:]))

    def image(place: Register, left: Register, into: Register) -> None:
        def part(index: Index) -> None:
            assert index.axes is not None
            at = index.axes[0]
            here = shifted(builder, left, dtype, (at, steps[0]))
            right = shifted(builder, packed.pointer, dtype, (at, steps[1]))
            for rows, levels, begin in of_phases(axes, (lefts, rights, intos)):
                levels.append(Level(deep, 1, width))
                _Convolution(dtype, rows, levels, width).write(
                    builder,
                    shifted(builder, here, dtype, (begin[0], 1)),
                    shifted(builder, right, dtype, (begin[1], 1)),
                    shifted(builder, into, dtype, (begin[2], 1), (at, width)),
                )

        builder.nest((parts,), part, into=[found])

    each_image(builder, images, found, image)
    return found


def _fits(channels: int, inside: int, outside: int) -> bool:
    """Whether filters fit the channels, which may be groups."""
    if channels == inside:
        return True
    if not inside or channels % inside:
        return False
    return channels > 0 and outside % (channels // inside) == 0


@rule("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _filters(
    step: Step, x: Value, y: Value, *, filter_sizes: Any, **attrs: Any
) -> Value:
    shape = step.known_shape
    check_floats(step, len(shape), x, y)
    *sizes, inside, outside = shape
    axes = known_axes(step, x.shape, sizes, attrs)
    counts = (*[axis.windows for axis in axes], outside)
    if tuple(y.shape[1:]) != counts or not _fits(x.shape[-1], inside, outside):
        raise step.refused("filters that do not fit")
    check_same(step, x.shape[0], y.shape[0])
    builder, found, dtype = step.builder, step.new_buffer(), step.dtype
    if not prod(shape) or not prod(counts):
        builder.clear(found.pointer, prod(shape) * size_of(dtype))
        return found
    groups = x.shape[-1] // inside
    if groups > 1 and inside == 1:
        filters_each(step, x, y, axes, found)
        return found
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
    *outer, inner = [Rows(*r) for r in merged([*taps, Rows(inside, 1, outside)])]
    levels = [Level(*level) for level in merged(windows)]
    columns = outside // groups
    sums = Sums(dtype, inner.times, columns, *inner[1:], levels, adds=True)

    def image(place: Register, into: Register) -> None:
        at = (place, prod(y.shape[1:]))
        source, right = images.at(place), shifted(builder, given.pointer, dtype, at)

        def group(index: Index) -> None:
            assert index.axes is not None
            at = index.axes[0]
            other = shifted(builder, right, dtype, (at, columns))

            def row(left: Register, into: Register) -> None:
                add_products(builder, sums, left, other, into)

            begin = shifted(builder, source, dtype, (at, inside))
            target = shifted(builder, into, dtype, (at, columns))
            each_row(builder, dtype, outer, begin, target, row)

        builder.nest((groups,), group)

    add_images(builder, found, images, image, prod(shape) * prod(counts[:-1]))
    return found
