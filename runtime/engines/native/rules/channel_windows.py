"""Windows of each channel: pools, and convolutions whose groups are of one channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

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
from runtime.engines.native.nests import fill, force, moved
from runtime.engines.native.rules.elementwise import maximum
from runtime.engines.native.rules.window_axes import (
    check_floats,
    known_axes,
    of_phases,
    windows_around,
)
from runtime.engines.native.tiles import Level, Sums, add_lanes
from runtime.engines.native.types import constant, number
from runtime.engines.native.values import Buffer, Index, Lazy, Register, Value
from runtime.engines.native.vectors import added_product, repeated, shifted
from runtime.ops.kernels.image_blocks import Axis


def _by_channel(
    step: Step,
    images: Images,
    axes: Sequence[Axis],
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
    *outer, inner = [
        Rows(axis.windows, axis.stride * left, into)
        for axis, left, into in zip(axes, lefts, intos)
    ]
    sums = Sums(dtype, inner.times, channels, *inner[1:], levels)

    def image(place: Register, left: Register, into: Register) -> None:
        def row(index: Index) -> None:
            assert index.axes is not None
            at = index.axes
            lefts, intos = [row.left for row in outer], [row.into for row in outer]
            add_lanes(
                builder,
                sums,
                shifted(builder, left, dtype, *zip(at, lefts)),
                right,
                shifted(builder, into, dtype, *zip(at, intos)),
                start,
                combine,
                lambda total, window: finish(total, (*at, window)),
            )

        builder.nest(tuple([row.times for row in outer]), row, into=[found])

    each_image(builder, images, found, image)
    return found


def _product(step: Step) -> Callable[[Any, Any, Any], Any]:
    """What adds products up."""
    builder, dtype = step.builder, step.dtype
    return lambda total, x, y: added_product(builder, total, x, y, dtype)


def _repeated(step: Step, x: Value, times: int) -> Value:
    """Images with each channel so many times."""
    if times == 1:
        return x

    def place(at: tuple[Register, ...]) -> tuple[Register, ...]:
        return (*at[:-1], step.builder.ir.udiv(at[-1], number(times)))

    shape = (*x.shape[:-1], x.shape[-1] * times)
    return moved(step.builder, shape, x, place)


def convolve_each(step: Step, x: Value, filters: Value, axes: Sequence[Axis]) -> Value:
    """A convolution whose groups are of one channel."""
    builder = step.builder
    x = _repeated(step, x, filters.shape[-1] // x.shape[-1])
    images = Images(builder, force(builder, x), [axis.pads for axis in axes])
    factors = force(builder, filters).pointer
    return _by_channel(step, images, axes, 0, _product(step), factors)


def back_each(
    step: Step,
    filters: Value,
    y: Value,
    axes: Sequence[Axis],
    shape: tuple[Any, ...],
) -> Value:
    """The gradient of a convolution whose groups are of one channel, by its input."""
    builder, found, dtype = step.builder, step.new_buffer(shape), step.dtype
    *sizes, _, outside = filters.shape
    channels = shape[-1]
    times = outside // channels
    # So that the channels of the result are neighbours.
    y, filters = (_by_times(step, value, times) for value in (y, filters))
    images = windows_around(step, y, axes, found)
    factors = force(builder, filters).pointer
    lefts, intos = strides_of(images.shape), strides_of(shape[1:])
    rights = strides_of((*sizes, outside))

    def image(place: Register, left: Register, into: Register) -> None:
        for rows, levels, begin in of_phases(axes, (lefts, rights, intos)):
            *outer, inner = rows
            levels.append(Level(times, channels, channels))
            merged_levels = [Level(*level) for level in merged(levels)]
            sums = Sums(dtype, inner.times, channels, *inner[1:], merged_levels)
            right = shifted(builder, factors, dtype, (begin[1], 1))

            def row(
                left: Register, into: Register, sums: Any = sums, right: Any = right
            ) -> None:
                add_lanes(builder, sums, left, right, into, 0, _product(step))

            here = shifted(builder, left, dtype, (begin[0], 1))
            there = shifted(builder, into, dtype, (begin[2], 1))
            each_row(builder, dtype, outer, here, there, row)

    each_image(builder, images, found, image)
    return found


def _by_times(step: Step, x: Value, times: int) -> Value:
    """The last axis, where `times` elements of a channel are neighbours, so that the
    channels are.
    """
    if times == 1:
        return x
    ir, channels = step.builder.ir, x.shape[-1] // times

    def place(at: tuple[Register, ...]) -> tuple[Register, ...]:
        each, channel = (
            operation(at[-1], number(channels)) for operation in (ir.udiv, ir.urem)
        )
        return (*at[:-1], ir.add(ir.mul(channel, number(times)), each))

    return moved(step.builder, x.shape, x, place)


def filters_each(
    step: Step, x: Value, y: Value, axes: Sequence[Axis], found: Buffer
) -> None:
    """The gradient of a convolution whose groups are of one channel, by its filters."""
    builder, dtype, outside = step.builder, step.dtype, y.shape[-1]
    given = force(builder, y)
    x = force(builder, _repeated(step, x, outside // x.shape[-1]))
    images = Images(builder, x, [axis.pads for axis in axes])
    lefts, rights = strides_of(images.shape), strides_of(y.shape[1:])
    shape = (*[axis.size for axis in axes], outside)
    *outer, inner = [
        Rows(axis.size, axis.apart * left, into)
        for axis, left, into in zip(axes, lefts, strides_of(shape))
    ]
    windows = [
        Level(axis.windows, axis.stride * left, right)
        for axis, left, right in zip(axes, lefts, rights)
    ]
    levels = [Level(*level) for level in merged(windows)]
    sums = Sums(dtype, inner.times, outside, *inner[1:], levels)
    # What an image adds, which is computed as a whole.
    part = builder.sharing.own_buffer(shape, dtype)
    if part is None:
        part, images.are_parallel = builder.new_buffer(shape, dtype), False

    def image(place: Register, into: Register) -> None:
        right = shifted(builder, given.pointer, dtype, (place, prod(y.shape[1:])))

        def row(left: Register, into: Register) -> None:
            add_lanes(builder, sums, left, right, into, 0, _product(step))

        each_row(builder, dtype, outer, images.at(place), part.pointer, row)
        total = Buffer(shape, dtype, into)

        def both(index: Index) -> Register:
            values = [builder.load(each, index) for each in (total, part)]
            return builder.ir.fadd(*values)

        fill(builder, [(Lazy(shape, dtype, both, is_flat=True), total)])

    add_images(builder, found, images, image, prod(shape) * prod(y.shape[1:-1]))


@rule("MaxPool")
def _max_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    if len(x.shape) != len(ksize):
        raise step.refused("windows of another rank")
    builder, dtype = step.builder, step.dtype
    axes = known_axes(step, x.shape, ksize[1:-1], attrs)
    least = -np.inf if dtype.is_floating else dtype.min
    pads = [axis.pads for axis in axes]
    images = Images(builder, force(builder, x), pads, least)

    def combine(total: Any, x: Any, _: Any) -> Any:
        return maximum(builder, dtype, total, x)

    return _by_channel(step, images, axes, least, combine)


@rule("AvgPool")
def _avg_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    check_floats(step, len(ksize), x)
    builder, dtype = step.builder, step.dtype
    axes = known_axes(step, x.shape, ksize[1:-1], attrs)
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


def _counts(axes: Sequence[Axis]) -> Any:
    """How many elements of each window are elements of the image."""
    found = np.ones((), np.int64)
    for axis in axes:
        begins = np.arange(axis.windows)[:, None] * axis.stride - axis.pads[0]
        at = begins + np.arange(axis.size) * axis.apart
        inside = ((at >= 0) & (at < axis.length)).sum(1)
        found = found[..., None] * inside
    return found
