"""The windows of a batch, and its blocks of images, or of rows, that stay in the cache.

A batch has the axes (number, space..., channels).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]


class Axis(NamedTuple):
    """The windows along a spatial axis of images; None where a number is not known."""

    length: Any
    #: How many elements a window has, and how far they are from each other.
    size: Any
    apart: int
    #: How far windows are from each other, and how many there are.
    stride: int
    windows: Any
    #: How many elements are added in front of the images and behind them.
    pads: Any

    @property
    def span(self) -> int:
        """How many elements a window reaches over."""
        return int((self.size - 1) * self.apart + 1)

    def at(self, tap: int) -> slice:
        """Element number `tap` of each window, among what is added around."""
        begin = tap * self.apart
        return slice(begin, begin + (self.windows - 1) * self.stride + 1, self.stride)

    def inside(self, tap: int) -> tuple[slice, slice]:
        """The windows whose element number `tap` is one of the images', and these."""
        offset = tap * self.apart - self.pads[0]
        low = max(0, -(offset // self.stride))
        last = (self.length - 1 - offset) // self.stride
        high = max(low, min(self.windows, last + 1))
        begin = low * self.stride + offset
        end = begin + (high - low - 1) * self.stride + 1
        return slice(low, high), slice(begin, max(end, begin), self.stride)


def blocks(
    number: int, height: int, bytes_of_row: int, most: int
) -> Iterator[tuple[slice, slice]]:
    """The images and the rows of each block: whole images, or rows of one of them, that
    take `most` bytes together.
    """
    rows = max(1, most // max(bytes_of_row, 1))
    images, rows = max(1, min(number, rows // height)), min(rows, height)
    images, rows = _even(number, images), _even(height, rows)
    for image in range(0, number, images):
        for row in range(0, height, rows):
            yield (
                slice(image, min(image + images, number)),
                slice(row, min(row + rows, height)),
            )


def _even(length: int, most: int) -> int:
    """How long parts are of which there are about a multiple of four, so that threads
    that share them end together.
    """
    if length <= most:
        return length
    parts = -(-length // most)
    return -(-length // -(-parts // 4 * 4))


def counts(axes: Sequence[Axis]) -> Array:
    """How many elements of each window are elements of the images."""
    found: Array = np.ones((), np.int64)
    for axis in axes:
        own = np.zeros(axis.windows, np.int64)
        for windows, _ in map(axis.inside, range(axis.size)):
            own[windows] += 1
        found = found[..., None] * own
    return found


def strided_windows(x: Array, axes: Sequence[Axis]) -> Array:
    """A view of all windows: (number, space..., window..., channels)."""
    first, *steps, last = x.strides
    _, sizes, dilations, strides, windows, _ = zip(*axes)
    moves = map(operator.mul, steps, strides)
    inner = map(operator.mul, steps, dilations)
    shape = (len(x), *windows, *sizes, x.shape[-1])
    return as_strided(x, shape, (first, *moves, *inner, last))


def padded(x: Array, axes: Sequence[Axis]) -> Array:
    """The batch with zeros around each image; itself if there are none to add."""
    if not any(any(axis.pads) for axis in axes):
        return x
    lengths = [axis.length + sum(axis.pads) for axis in axes]
    found = np.zeros((len(x), *lengths, x.shape[-1]), x.dtype)
    found[inner(axes)] = x
    return found


def inner(axes: Sequence[Axis]) -> tuple[slice, ...]:
    """Where the images lie among what is added around them."""
    starts = [(axis.pads[0], axis.length) for axis in axes]
    return (slice(None), *[slice(start, start + n) for start, n in starts])


def copy_padded(x: Array, block: Array, row: int, axes: Sequence[Axis]) -> None:
    """Fill the block with the rows of the padded images from `row` on."""
    top, left = (axis.pads[0] for axis in axes)
    low, high = max(row - top, 0), min(row - top + block.shape[1], x.shape[1])
    above = low - (row - top)
    below = above + max(high - low, 0)
    block[:, :above] = 0
    block[:, below:] = 0
    block[:, above:below, :left] = 0
    block[:, above:below, left + x.shape[2] :] = 0
    block[:, above:below, left : left + x.shape[2]] = x[:, low : low + below - above]
