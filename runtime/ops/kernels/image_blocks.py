"""A batch in blocks of images, or of rows of an image, that stay in the cache.

A batch has the axes (number, space..., channels).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]
Ints = Sequence[int]
Pads = Sequence[tuple[int, int]]


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


def strided_windows(
    x: Array, sizes: Ints, strides: Ints, dilations: Ints, lengths: Ints
) -> Array:
    """A view of all windows: (number, space..., window..., channels)."""
    first, *steps, last = x.strides
    return as_strided(
        x,
        (len(x), *lengths, *sizes, x.shape[-1]),
        (
            first,
            *(step * stride for step, stride in zip(steps, strides)),
            *(step * dilation for step, dilation in zip(steps, dilations)),
            last,
        ),
    )


def padded(x: Array, pads: Pads) -> Array:
    """The batch with zeros around each image; itself if there are none to add."""
    if not any(map(any, pads)):
        return x
    lengths = [length + sum(pad) for length, pad in zip(x.shape[1:-1], pads)]
    found = np.zeros((len(x), *lengths, x.shape[-1]), x.dtype)
    places = zip(x.shape[1:-1], pads)
    inner = (slice(pad[0], pad[0] + size) for size, pad in places)
    found[(slice(None), *inner)] = x
    return found


def copy_padded(x: Array, block: Array, row: int, pads: Pads) -> None:
    """Fill the block with the rows of the padded images from `row` on."""
    (top, _), (left, _) = pads
    low, high = max(row - top, 0), min(row - top + block.shape[1], x.shape[1])
    above = low - (row - top)
    below = above + max(high - low, 0)
    block[:, :above] = 0
    block[:, below:] = 0
    block[:, above:below, :left] = 0
    block[:, above:below, left + x.shape[2] :] = 0
    block[:, above:below, left : left + x.shape[2]] = x[:, low : low + below - above]
