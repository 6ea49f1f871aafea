"""Windows of images: convolutions, their gradients, and pools.

No window is copied. What is added around an image is, together with the image, one
image at a time, which stays in the cache; so no loop asks whether a window lies inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np

from runtime.core.errors import OpError
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.image_batches import (
    Images,
    add_images,
    each_image,
    merged,
    strides_of,
)
from runtime.engines.native.nests import fill, force, moved
from runtime.engines.native.rules.elementwise import maximum
from runtime.engines.native.rules.movement import widened
from runtime.engines.native.tiles import Level, Sums, add_lanes, add_products, strip_of
from runtime.engines.native.types import constant, number, size_of
from runtime.engines.native.values import Buffer, Index, Lazy, Register, Scalar, Value
from runtime.engines.native.vectors import added_product, repeated, shifted, transpose
from runtime.ops.kernels.image_blocks import Axis, counts
from runtime.ops.nn.convolutions import fit
from runtime.ops.nn.windows import axes_of

# --- which elements of images are in which sums ---------------------------------------


class _Line(NamedTuple):
    """An axis of images, and of sums over their elements.

    Term `t` of sum `s` is the element ``(s * step + t * apart + first) / every``, where
    that is a whole number.
    """

    elements: int
    sums: int
    terms: int
    step: int
    apart: int
    every: int
    first: int


def _lines(axes: Sequence[Axis], gives: str) -> list[_Line]:
    """The sums along each axis: results `y` are sums over the elements of windows,
    images `x` over the windows of each element, and filters `w` over what each of their
    elements meets.
    """
    found = []
    for size, taps, apart, stride, windows, (before, _) in axes:
        numbers = {
            "y": (size, windows, taps, stride, apart, 1, -before),
            "x": (windows, size, taps, 1, -apart, stride, before),
            "w": (size, taps, windows, apart, stride, 1, -before),
        }
        found.append(_Line(*numbers[gives]))
    return found


class _Phase(NamedTuple):
    """Sums and terms, each at a distance from the next, that are elements: the first is
    `element`, and from sum to sum, and from term to term, it `moves` on.
    """

    sums: range
    terms: range
    element: int
    moves: tuple[int, int]


def _phases(line: _Line) -> Iterator[_Phase]:
    steps = line.step, line.apart
    sums, terms = (line.every // gcd(line.every, step) for step in steps)
    moves = line.step * sums // line.every, line.apart * terms // line.every
    for s, t in product(range(min(sums, line.sums)), range(min(terms, line.terms))):
        element, rest = divmod(s * line.step + t * line.apart + line.first, line.every)
        if not rest:
            ranges = range(s, line.sums, sums), range(t, line.terms, terms)
            yield _Phase(*ranges, element, moves)


def _reach(line: _Line) -> tuple[int, int]:
    """How far elements lie in front of the first one, and behind the last."""
    places = [
        phase.element + s * phase.moves[0] + t * phase.moves[1]
        for phase in _phases(line)
        for s in (0, len(phase.sums) - 1)
        for t in (0, len(phase.terms) - 1)
    ]
    last = max(places, default=0) - line.elements + 1
    return max(-min(places, default=0), 0), max(last, 0)


class _Windows:
    """Sums over elements of images, which have a border of `value`.

    `shape` is what an image adds to `found`, or its part. Sums without terms are 0.
    """

    def __init__(
        self,
        step: Step,
        x: Value,
        lines: Sequence[_Line],
        found: Buffer,
        shape: Sequence[int] | None = None,
        value: Any = 0,
    ) -> None:
        self.builder, self.found = step.builder, found
        self._phases = [list(_phases(line)) for line in lines]
        counts = [sum(len(each.sums) for each in phases) for phases in self._phases]
        if any(count < line.sums for count, line in zip(counts, lines)):
            size = step.builder.bytes_of(found.shape, found.dtype)
            step.builder.clear(found.pointer, size)
        self._reaches = [_reach(line) for line in lines]
        self.images = Images(step.builder, force(step.builder, x), self._reaches, value)
        self._intos = strides_of(shape or found.shape[1:])

    def write(
        self,
        add: Callable[..., None],
        columns: int,
        pointers: tuple[Register, Any, Register],
        rights: Sequence[int],
        *,
        rows: Sequence[Level] | None = None,
        levels: Sequence[Level] = (),
        adds: bool = False,
        shared: Sequence[Buffer] = (),
    ) -> None:
        """Run ``add(builder, sums, left, right, into, place)`` for all rows of sums.

        The pointers are those of an image, of another operand with the strides
        `rights`, and of the result. `rows` and `levels` are further loops over sums,
        and over their terms; rows are joined if any are given. Threads may share the
        loops if these store to nothing but the arrays `shared`.
        """
        builder, dtype = self.builder, self.found.dtype

        def part(outer: list[Level], inner: list[Level], begin: Sequence[int]) -> None:
            *outer, last = outer if rows is None else merged([*outer, *rows])
            inner = merged([*inner, *levels])
            sums = Sums(dtype, last.times, columns, *last[1:], inner, adds)
            left, right, into = (
                pointer and shifted(builder, pointer, dtype, (at, 1))
                for pointer, at in zip(pointers, begin)
            )

            def row(index: Index) -> None:
                assert index.axes is not None
                lefts, rights = ([level[i] for level in outer] for i in (1, 2))
                source = shifted(builder, left, dtype, *zip(index.axes, lefts))
                target = shifted(builder, into, dtype, *zip(index.axes, rights))
                add(builder, sums, source, right, target, index.axes)

            builder.nest(tuple([level.times for level in outer]), row, into=shared)

        lefts, intos = strides_of(self.images.shape), self._intos
        for chosen in product(*self._phases):
            outer, inner, begin = [], [], [0, 0, 0]
            for i, (sums, terms, element, moves) in enumerate(chosen):
                steps = moves[0] * lefts[i], sums.step * intos[i]
                outer.append(Level(len(sums), *steps))
                steps = moves[1] * lefts[i], terms.step * rights[i]
                inner.append(Level(len(terms), *steps))
                begin[0] += (element + self._reaches[i][0]) * lefts[i]
                begin[1] += terms.start * rights[i]
                begin[2] += sums.start * intos[i]
            part(outer, inner, begin)


def _axes(
    step: Step,
    shape: Sequence[int],
    sizes: Sequence[int],
    attrs: dict[str, Any],
    *values: Value,
) -> list[Axis]:
    """The windows along the spatial axes of images of a shape; refuses the rules'
    operands unless they are batches of images, or filters, of known lengths.
    """
    if any(len(value.shape) != len(attrs["strides"]) for value in values):
        raise step.refused("windows of another rank")
    dims = [dim for value in values for dim in value.shape[1:]]
    if not all(isinstance(dim, int) for dim in (*dims, *shape[1:], *sizes)):
        raise step.refused("windows of images of unknown lengths")
    try:
        return axes_of(tuple(shape), sizes, attrs)
    except OpError as error:
        raise step.refused("windows that do not fit") from error


def _check_fits(
    step: Step,
    axes: Sequence[Axis],
    shape: Sequence[Any],
    filters: Sequence[int],
    y: Value,
) -> None:
    """Check that images of a shape have the results `y`."""
    *_, inside, outside = filters
    expected = (*[axis.windows for axis in axes], outside)
    has_channels = shape[-1] == inside or fit(shape[-1], inside, outside)
    if tuple(y.shape[1:]) != expected or not has_channels:
        raise step.refused("operands that do not fit")
    one, other = y.shape[0], shape[0]
    if isinstance(other, Scalar):
        other = widened(step, other)
    if isinstance(one, int) and isinstance(other, int):
        if one != other:
            raise step.refused("batches that do not fit")
        return
    builder = step.builder
    same = builder.ir.icmp_signed("==", builder.dim(one), builder.dim(other))
    builder.check(same)


# --- convolutions ---------------------------------------------------------------------


def _products(
    builder: Builder, sums: Sums, left: Register, right: Any, into: Register, _: Any
) -> None:
    """Add up products of elements with rows of another operand."""
    add_products(builder, sums, left, right, into)


def _lane_products(
    builder: Builder, sums: Sums, left: Register, right: Any, into: Register, _: Any
) -> None:
    """Add up products of rows, element by element."""

    def combine(total: Any, x: Any, y: Any) -> Any:
        return added_product(builder, total, x, y, sums.dtype)

    add_lanes(builder, sums, left, right, into, 0, combine)


def _by_channel(
    windows: _Windows,
    add: Callable[..., None],
    filters: Value | None = None,
    times: int = 1,
) -> Value:
    """The elements of windows combined for each channel, perhaps with those of filters;
    so many channels make one of the result.
    """
    builder, found = windows.builder, windows.found
    channels, right, rights = found.shape[-1], None, strides_of(found.shape[1:])
    if filters is not None:
        right = force(builder, filters).pointer
        rights = strides_of((*filters.shape[:-2], filters.shape[-1]))
    levels = [Level(times, channels, channels)]

    def image(place: Register, left: Register, into: Register) -> None:
        pointers = left, right, into
        windows.write(add, channels, pointers, rights, levels=levels, shared=[found])

    each_image(builder, windows.images, found, image)
    return found


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


def _convolve(
    step: Step,
    x: Value,
    filters: Buffer,
    lines: Sequence[_Line],
    found: Buffer,
    groups: int,
) -> None:
    """Write the sums of products of images and filters (window..., in, out). Those of
    several groups lie side by side, or behind each other.
    """
    builder, dtype, channels = step.builder, found.dtype, found.shape[-1]
    windows = _Windows(step, x, lines, found)
    *sizes, deep, width = filters.shape
    if groups == 1:
        filters, width = _in_strips(builder, filters)
        columns, depth = width, deep
        steps = 0, prod(filters.shape[1:])
    else:
        columns, depth = channels // groups, x.shape[-1] // groups
        steps = depth, columns if width == channels else depth * width
    rights = strides_of((*sizes, deep, width))
    levels = [Level(depth, 1, width)]

    def image(place: Register, left: Register, into: Register) -> None:
        def part(index: Index) -> None:
            assert index.axes is not None
            whole = left, filters.pointer, into
            here, right, there = (
                shifted(builder, pointer, dtype, (index.axes[0], step))
                for pointer, step in zip(whole, (*steps, columns))
            )
            pointers = here, right, there
            windows.write(_products, columns, pointers, rights, rows=(), levels=levels)

        builder.nest((channels // max(columns, 1),), part, into=[found])

    each_image(builder, windows.images, found, image)


def _repeated(step: Step, x: Value, times: int) -> Value:
    """Images with each channel so many times."""
    if times == 1:
        return x

    def place(at: tuple[Register, ...]) -> tuple[Register, ...]:
        return (*at[:-1], step.builder.ir.udiv(at[-1], number(times)))

    return moved(step.builder, (*x.shape[:-1], x.shape[-1] * times), x, place)


def _by_times(step: Step, x: Value, times: int) -> Value:
    """The last axis, where `times` elements of a channel are neighbours, so that the
    channels are.
    """
    if times == 1:
        return x
    ir, channels = step.builder.ir, number(x.shape[-1] // times)

    def place(at: tuple[Register, ...]) -> tuple[Register, ...]:
        each, channel = ir.udiv(at[-1], channels), ir.urem(at[-1], channels)
        return (*at[:-1], ir.add(ir.mul(channel, number(times)), each))

    return moved(step.builder, x.shape, x, place)


@rule("Convolution")
def _convolution(step: Step, x: Value, filters: Value, **attrs: Any) -> Value:
    axes = _axes(step, x.shape, filters.shape[:-2], attrs, x, filters)
    inside, outside = filters.shape[-2:]
    if not fit(x.shape[-1], inside, outside):
        raise step.refused("filters that do not fit")
    groups, lines = x.shape[-1] // inside, _lines(axes, "y")
    found = step.new_buffer((x.shape[0], *[axis.windows for axis in axes], outside))
    if groups > 1 and inside == 1:
        x = _repeated(step, x, outside // groups)
        _by_channel(_Windows(step, x, lines, found), _lane_products, filters)
    else:
        _convolve(step, x, force(step.builder, filters), lines, found, groups)
    return found


@rule("ConvolutionBackpropInput")
def _back(
    step: Step, filters: Value, y: Value, *, input_sizes: Any, **attrs: Any
) -> Value:
    count, *rest = input_sizes
    axes = _axes(step, (count, *rest), filters.shape[:-2], attrs, filters, y)
    _check_fits(step, axes, (count, *rest), filters.shape, y)
    inside, outside = filters.shape[-2:]
    groups, lines = max(rest[-1] // max(inside, 1), 1), _lines(axes, "x")
    found = step.new_buffer((y.shape[0], *rest))
    if groups > 1 and inside == 1:
        # So that the channels of the result are neighbours.
        times = outside // groups
        y, filters = (_by_times(step, value, times) for value in (y, filters))
        _by_channel(_Windows(step, y, lines, found), _lane_products, filters, times)
    else:
        turned = transpose(step.builder, force(step.builder, filters))
        _convolve(step, y, turned, lines, found, groups)
    return found


@rule("ConvolutionBackpropFilter")
def _filters(
    step: Step, x: Value, y: Value, *, filter_sizes: Any, **attrs: Any
) -> Value:
    *sizes, inside, outside = shape = step.known_shape
    axes = _axes(step, x.shape, sizes, attrs, x, y)
    _check_fits(step, axes, x.shape, shape, y)
    builder, found, dtype = step.builder, step.new_buffer(), step.dtype
    if not prod(shape) or not prod(y.shape[1:]):
        builder.clear(found.pointer, prod(shape) * size_of(dtype))
        return found
    groups = x.shape[-1] // inside
    is_each = groups > 1 and inside == 1
    if is_each:
        x = _repeated(step, x, outside // groups)
        shape = (*sizes, outside)
    given = force(builder, y)
    windows = _Windows(step, x, _lines(axes, "w"), found, shape)
    images, rights = windows.images, strides_of(y.shape[1:])
    # What an image adds to the filters of single channels, computed as a whole.
    part = builder.sharing.own_buffer(shape, dtype) if is_each else None
    if is_each and part is None:
        part, images.are_parallel = builder.new_buffer(shape, dtype), False

    def image(place: Register, into: Register) -> None:
        at = (place, prod(y.shape[1:]))
        left, right = images.at(place), shifted(builder, given.pointer, dtype, at)
        if part is not None:
            pointers = left, right, part.pointer
            windows.write(_lane_products, outside, pointers, rights)
            _add(builder, Buffer(shape, dtype, into), part)
            return
        columns = outside // groups
        rows = [Level(inside, 1, outside)]

        def group(index: Index) -> None:
            assert index.axes is not None
            steps = zip((left, right, into), (inside, columns, columns))
            a, b, c = (
                shifted(builder, pointer, dtype, (index.axes[0], step))
                for pointer, step in steps
            )
            pointers = a, b, c
            windows.write(_products, columns, pointers, rights, rows=rows, adds=True)

        builder.nest((groups,), group)

    add_images(builder, found, images, image, prod(shape) * prod(y.shape[1:-1]))
    return found


def _add(builder: Builder, total: Buffer, part: Buffer) -> None:
    """Add an array to another one."""

    def both(index: Index) -> Register:
        values = [builder.load(each, index) for each in (total, part)]
        return builder.ir.fadd(*values)

    fill(builder, [(Lazy(total.shape, total.dtype, both, is_flat=True), total)])


# --- pools ----------------------------------------------------------------------------


def _pool(
    step: Step,
    x: Value,
    axes: Sequence[Axis],
    start: Any,
    combine: Callable[[Any, Any, Any], Any],
    finish: Callable[[Any, Any], Any] = lambda total, at: total,
) -> Value:
    """The windows of a batch combined; what is added around is `start`."""
    shape = (x.shape[0], *[axis.windows for axis in axes], x.shape[-1])
    lines, found = _lines(axes, "y"), step.new_buffer(shape)

    def add(
        builder: Builder, sums: Sums, left: Register, _: Any, into: Register, at: Any
    ) -> None:
        def end(total: Any, last: Any) -> Any:
            return finish(total, (*at, last))

        add_lanes(builder, sums, left, None, into, start, combine, end)

    return _by_channel(_Windows(step, x, lines, found, value=start), add)


@rule("MaxPool")
def _max_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    axes, dtype = _axes(step, x.shape, ksize[1:-1], attrs, x), step.dtype
    least = -np.inf if dtype.is_floating else dtype.min

    def combine(total: Any, x: Any, _: Any) -> Any:
        return maximum(step.builder, dtype, total, x)

    return _pool(step, x, axes, least, combine)


@rule("AvgPool")
def _avg_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    axes = _axes(step, x.shape, ksize[1:-1], attrs, x)
    builder, dtype = step.builder, step.dtype
    divisors = None
    if any(any(axis.pads) for axis in axes):
        # What was added around does not count.
        array = counts(axes).astype(dtype.np_dtype)
        divisors = step.flow.held_array(array, step.output.spec)

    def combine(total: Any, x: Any, _: Any) -> Any:
        return builder.ir.fadd(total, x, flags=("reassoc",))

    def finish(total: Any, at: tuple[Register, ...]) -> Any:
        if divisors is None:
            count = constant(prod(ksize), dtype)
        else:
            count = builder.load(divisors, Index(at))
        return builder.ir.fdiv(total, repeated(builder, count, total.type.count))

    return _pool(step, x, axes, 0, combine, finish)
