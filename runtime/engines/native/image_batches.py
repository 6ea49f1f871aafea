"""Loops over the images of a batch, with borders, shared among threads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from runtime.engines.native.builder import Builder
from runtime.engines.native.nests import fill
from runtime.engines.native.tiles import Level
from runtime.engines.native.types import constant, number, size_of
from runtime.engines.native.values import Buffer, Index, Lazy, Register
from runtime.engines.native.vectors import shifted

#: Threads add images to so many partial sums at once.
_PARTS = 8
#: Only where there are so many multiplications, of which 50 take a nanosecond,
_MUCH = 1 << 22
#: and where a sum has no more bytes than this.
_LARGEST = 1 << 20


def strides_of(shape: Sequence[int]) -> list[int]:
    """The distance of neighbouring elements along each axis, in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def merged(levels: Sequence[Level]) -> list[Level]:
    """Join each loop whose steps continue those of the next inner loop."""
    found: list[Level] = []
    for times, *steps in reversed(levels):
        if times == 1:
            continue
        if found:
            inner, *inner_steps = found[0]
            if all(a == b * inner for a, b in zip(steps, inner_steps)):
                found[0] = Level(times * inner, *inner_steps)
                continue
        found.insert(0, Level(times, *steps))
    return found or [levels[-1]._replace(times=1)]


class Images:
    """The images of a batch, one at a time, each with a border of equal numbers.

    `pads` are the widths of the border for each spatial axis; `value` fills it.
    """

    def __init__(
        self,
        builder: Builder,
        x: Buffer,
        pads: Sequence[tuple[int, int]],
        value: Any = 0,
    ) -> None:
        self._builder = builder
        self._x = x
        self._pads = pads
        lengths = [n + sum(pad) for n, pad in zip(x.shape[1:-1], pads)]
        self.count = x.shape[0]
        #: The shape of each.
        self.shape = (*lengths, x.shape[-1])
        self.has_border = any(map(any, pads))
        #: Whether images may be computed at once: each has memory for its border.
        self.are_parallel = True
        if self.has_border:
            added = constant(value, x.dtype)
            self._border = Lazy(self.shape, x.dtype, lambda index: added, is_flat=True)
            own = builder.sharing.own_buffer(self.shape, x.dtype)
            self.are_parallel = own is not None and self.count != 1
            if own is not None and self.are_parallel:
                self._scratch = own
            else:
                self._scratch = builder.new_buffer(self.shape, x.dtype)
                fill(builder, [(self._border, self._scratch)])

    def at(self, place: Register) -> Register:
        """The pointer to an image."""
        builder, x = self._builder, self._x
        image = shifted(builder, x.pointer, x.dtype, (place, prod(x.shape[1:])))
        if not self.has_border:
            return image
        if self.are_parallel:
            fill(builder, [(self._border, self._scratch)])
        sources, targets = strides_of(x.shape[1:]), strides_of(self.shape)
        inner = sum(pad[0] * step for pad, step in zip(self._pads, targets))
        begin = shifted(builder, self._scratch.pointer, x.dtype, (inner, 1))
        size = number(prod(x.shape[-2:]) * size_of(x.dtype))

        def row(index: Index) -> None:
            assert index.axes is not None
            source = shifted(builder, image, x.dtype, *zip(index.axes, sources))
            target = shifted(builder, begin, x.dtype, *zip(index.axes, targets))
            builder.copy_bytes(source, target, size)

        builder.nest(x.shape[1:-2], row)
        return self._scratch.pointer


def each_image(
    builder: Builder,
    images: Images,
    found: Buffer,
    write: Callable[[Register, Register, Register], None],
) -> None:
    """Run ``write(place, image, result)`` for the pointers of each image."""
    if not prod(found.shape[1:]):
        return

    def step(place: Register, _: Any) -> Sequence[Register]:
        target = (place, prod(found.shape[1:]))
        into = shifted(builder, found.pointer, found.dtype, target)
        write(place, images.at(place), into)
        return ()

    is_shared = images.are_parallel and images.count != 1
    with builder.sharing.of([found] if is_shared else ()):
        builder.loop(images.count, step, is_parallel=images.are_parallel)


def add_images(
    builder: Builder,
    found: Buffer,
    images: Images,
    add: Callable[[Register, Register], None],
    work: int,
) -> None:
    """Let all images be added up: ``add(place, sum)`` does so for one, by `work`.

    Where there is much work, there are sums of parts of the batch, which threads share.
    """
    shape, dtype, count = found.shape, found.dtype, images.count
    times = count if isinstance(count, int) and images.are_parallel else 1
    parts = min(times, _PARTS) if times * work > _MUCH else 1
    if parts * prod(shape) * size_of(dtype) > _LARGEST:
        parts = 1
    sums = found if parts == 1 else builder.new_buffer((parts, *shape), dtype)
    builder.clear(sums.pointer, prod(sums.shape) * size_of(dtype))

    def part(at: Register, _: Any) -> Sequence[Register]:
        first, end = [
            builder.ir.sdiv(builder.ir.mul(each, builder.dim(count)), number(parts))
            for each in (at, builder.ir.add(at, number(1)))
        ]
        into = shifted(builder, sums.pointer, dtype, (at, prod(shape)))

        def one(i: Register, _: Any) -> Sequence[Register]:
            add(builder.ir.add(first, i), into)
            return ()

        builder.loop(builder.ir.sub(end, first), one)
        return ()

    with builder.sharing.of([sums] if parts > 1 else ()):
        builder.loop(parts, part, is_parallel=True)
    if parts == 1:
        return

    def total(index: Index) -> Register:
        places = [
            builder.ir.add(index.flat, number(at * prod(shape))) for at in range(parts)
        ]
        terms = [builder.load(sums, Index(None, place)) for place in places]
        return functools.reduce(builder.ir.fadd, terms)

    fill(builder, [(Lazy(shape, dtype, total, is_flat=True), found)])
