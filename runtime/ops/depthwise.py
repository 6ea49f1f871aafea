"""Convolutions with one filter for each channel: no products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.ops.buffers import borrow, give_back, new_result
from runtime.ops.image_blocks import Pads, blocks, padded
from runtime.ops.threads import allowed_threads, share

__all__ = ["convolve_depthwise"]

Array = np.ndarray[Any, Any]
Ints = Sequence[int]

#: How many bytes a block of the result takes, which stays in the cache.
BLOCK = 1 << 18
#: From so many elements on it is worth while to wake other threads.
MANY = 1 << 17


def convolve_depthwise(
    x: Array, filters: Array, lengths: Ints, strides: Ints, pads: Pads, dilations: Ints
) -> Array:
    """The products of the filters (height, width, channels, n) with the windows of each
    channel, which gives n channels.
    """
    if x.dtype == np.float16:
        wide = (x.astype(np.float32), filters.astype(np.float32))
        found = convolve_depthwise(*wide, lengths, strides, pads, dilations)
        return found.astype(np.float16)
    tall, wide_, channels, times = filters.shape
    if times > 1:
        x = np.repeat(x, times, axis=-1)
    width = channels * times
    height, length = lengths
    result = new_result((len(x), height, length, width), x.dtype)
    if not result.size or not filters.size:
        result.fill(0)
        return result
    x = padded(x, pads)
    taps = filters.reshape(tall, wide_, width)
    # A row of windows at once: the factors are repeated along it.
    factors = np.tile(taps, (1, 1, length))
    parts = list(blocks(len(x), height, length * width * x.itemsize, BLOCK))

    def fill(index: int) -> None:
        part = parts[index]
        high = part[1].stop - part[1].start
        target = result[part].reshape(-1, high, length * width)
        scratch = borrow(target.size, x.dtype)
        product = scratch.reshape(target.shape)
        start, stop = part[1].start * strides[0], (part[1].stop - 1) * strides[0] + 1
        for level, place in np.ndindex(tall, wide_):
            down, right = level * dilations[0], place * dilations[1]
            rows = x[part[0], start + down : stop + down : strides[0]]
            if strides[1] == 1:
                # Neighbours in memory, as those of the result: no copy.
                flat = rows.reshape(*rows.shape[:2], -1)
                windows = flat[..., right * width : (right + length) * width]
            else:
                last = right + (length - 1) * strides[1] + 1
                windows = rows[:, :, right : last : strides[1]].reshape(target.shape)
            if level == place == 0:
                np.multiply(windows, factors[level, place], out=target)
            else:
                np.multiply(windows, factors[level, place], out=product)
                np.add(target, product, out=target)
        give_back([scratch])

    share(fill, len(parts), allowed_threads() if x.size >= MANY else 1)
    return result
