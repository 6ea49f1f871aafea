"""Convolutions in NumPy: windows as rows of matrices, multiplied by BLAS.

Three ways, the fastest of which depends on the shape:

- `_sliding`, for windows that lie side by side: no window is copied. In a row of a
  padded batch the elements of a window are neighbours in memory. The rows of a matrix
  that begins at element p and has the width of the window are every `width`-th window;
  as many matrices, each one element further, have them all. BLAS writes each product
  to every `width`-th row of the result.
- `_columns`, for few elements in a window: each element of all windows is one long row
  of the matrix, so that NumPy copies long runs.
- `_rows`, for all else: each window is copied to a row of the matrix.

All go through the batch in blocks that stay in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from runtime.ops.buffers import new_result
from runtime.ops.threads import allowed_threads, share

__all__ = ["convolve", "convolve_depthwise", "spread"]

Array = np.ndarray[Any, Any]
Ints = Sequence[int]
Pads = Sequence[tuple[int, int]]

#: How many bytes of scratch memory a block takes: about the second level cache.
BLOCK = 1 << 22
#: From so many rows on a product takes no less time for each of them.
TALL = 1 << 10
#: From so many elements on it is worth while to wake other threads.
MANY = 1 << 17
#: Windows with at most so many elements are few rows of long runs.
FEW = 32


def convolve(
    x: Array, filters: Array, lengths: Ints, strides: Ints, pads: Pads, dilations: Ints
) -> Array:
    """The products of the filters (window..., in, out) with each window of the batch
    (number, space..., channels): `lengths` of them along the spatial axes. The channels
    may be groups of `in` channels.
    """
    if x.dtype == np.float16:
        # BLAS has no half precision.
        wide = (x.astype(np.float32), filters.astype(np.float32))
        return convolve(*wide, lengths, strides, pads, dilations).astype(np.float16)
    inside, outside = filters.shape[-2:]
    result = new_result((len(x), *lengths, outside), x.dtype)
    if not result.size or not filters.size:
        result.fill(0)
        return result
    groups = x.shape[-1] // inside
    if groups == 1:
        return _one_group(x, filters, strides, pads, dilations, result)
    each = outside // groups
    for group in range(groups):
        part = slice(group * each, (group + 1) * each)
        channels = x[..., group * inside : (group + 1) * inside]
        found = np.empty((*result.shape[:-1], each), x.dtype)
        result[..., part] = _one_group(
            channels, filters[..., part], strides, pads, dilations, found
        )
    return result


def _one_group(
    x: Array, filters: Array, strides: Ints, pads: Pads, dilations: Ints, result: Array
) -> Array:
    sizes, (inside, outside) = filters.shape[:-2], filters.shape[-2:]
    count = math.prod(sizes)
    if count == 1 and not any(map(any, pads)):
        points = x[(slice(None), *(slice(None, None, step) for step in strides))]
        matrix = points.reshape(-1, inside)
        np.matmul(matrix, filters.reshape(inside, outside), out=_flat(result))
        return result
    side_by_side = len(sizes) == 2 and strides[0] == strides[1] == dilations[1] == 1
    if count * inside <= FEW:
        _columns(_padded(x, pads), filters, strides, dilations, result)
    elif side_by_side and sizes[1] <= result.shape[2]:
        _sliding(x, filters, pads, dilations[0], result)
    else:
        _rows(_padded(x, pads), filters, strides, dilations, result)
    return result


# --- three ways -----------------------------------------------------------------------


def _rows(x: Array, filters: Array, strides: Ints, dilations: Ints, out: Array) -> None:
    number, *lengths, outside = out.shape
    *sizes, inside, _ = filters.shape
    windows = _strided_windows(x, sizes, strides, dilations, lengths)
    width = math.prod(sizes) * inside
    matrix = filters.reshape(width, outside)
    line = math.prod(lengths[1:])
    images, rows = _block(number, lengths[0], line * width * x.itemsize)
    scratch = new_result((images * rows * line, width), x.dtype)
    for part in _blocks(number, lengths[0], images, rows):
        target = out[part]
        copied = scratch[: target.size // outside]
        copied.reshape(*target.shape[:-1], *sizes, inside)[...] = windows[part]
        np.matmul(copied, matrix, out=_flat(target))


def _columns(
    x: Array, filters: Array, strides: Ints, dilations: Ints, out: Array
) -> None:
    number, *lengths, outside = out.shape
    *sizes, inside, _ = filters.shape
    windows = _strided_windows(x, sizes, strides, dilations, lengths)
    space = len(sizes)
    windows = windows.transpose(*range(space + 1, 2 * space + 2), *range(space + 1))
    width = math.prod(sizes) * inside
    matrix = filters.reshape(width, outside)
    line = math.prod(lengths[1:])
    images, rows = _block(number, lengths[0], line * width * x.itemsize)
    scratch = new_result((images * rows * line * width,), x.dtype)
    for part in _blocks(number, lengths[0], images, rows):
        target = out[part]
        count = target.size // outside
        copied = scratch[: count * width]
        key: Any = (..., *part, *(slice(None),) * (space - 1))
        copied.reshape(*sizes, inside, *target.shape[:-1])[...] = windows[key]
        np.matmul(copied.reshape(width, count).T, matrix, out=_flat(target))


def _sliding(x: Array, filters: Array, pads: Pads, dilation: int, out: Array) -> None:
    number, height, width, outside = out.shape
    tall, wide, inside, _ = filters.shape
    line = x.shape[2] + sum(pads[1])
    more = (tall - 1) * dilation
    # As many bytes for each row as leave matrices of about TALL rows.
    each = max((inside + 2 * outside) * x.itemsize, BLOCK // TALL // wide)
    images, rows = _block(number, height, line * each)
    most = images * (rows + more) * line
    # Where a window ends in the next row, or after the last one, the product is not
    # used.
    source = new_result((most + 2 * wide, inside), x.dtype)
    sums = new_result((2, most + 2 * wide, outside), x.dtype)
    matrices = filters.reshape(tall, wide * inside, outside)
    for part in _blocks(number, height, images, rows):
        target = out[part]
        count, high = target.shape[:2]
        shape = (count, high + more, line)
        size = math.prod(shape)
        _copy_padded(
            x[part[0]], source[:size].reshape(*shape, inside), part[1].start, pads
        )
        used = -(-(size - more * line) // wide)
        total, product = (s[:size].reshape(*shape, outside) for s in sums)
        for level in range(tall):
            into = sums[1 if level else 0]
            for first in range(wide):
                begin = level * dilation * line + first
                windows = source[begin : begin + used * wide]
                np.matmul(
                    windows.reshape(used, wide * inside),
                    matrices[level],
                    out=into[first : first + used * wide : wide],
                )
            if 0 < level < tall - 1:
                np.add(total, product, out=total)
        if tall == 1:
            target[...] = total[:, :high, :width]
        else:
            inner = total[:, :high, :width]
            np.add(inner, product[:, :high, :width], out=target)


# --- blocks and padding ---------------------------------------------------------------


def _strided_windows(
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


def _block(number: int, height: int, bytes_of_row: int) -> tuple[int, int]:
    """How many images, or rows of one image, a block has."""
    rows = max(1, BLOCK // max(bytes_of_row, 1))
    return max(1, min(number, rows // height)), min(rows, height)


def _blocks(
    number: int, height: int, images: int, rows: int
) -> Iterator[tuple[slice, slice]]:
    for image in range(0, number, images):
        for row in range(0, height, rows):
            yield (
                slice(image, min(image + images, number)),
                slice(row, min(row + rows, height)),
            )


def _flat(target: Array) -> Array:
    """The result of a block as a matrix with a row for each window: a view."""
    return target.reshape(-1, target.shape[-1])


def _padded(x: Array, pads: Pads) -> Array:
    if not any(map(any, pads)):
        return x
    lengths = [length + sum(pad) for length, pad in zip(x.shape[1:-1], pads)]
    padded = np.zeros((len(x), *lengths, x.shape[-1]), x.dtype)
    padded[_inner(x, pads)] = x
    return padded


def _inner(x: Array, pads: Pads) -> tuple[slice, ...]:
    """Where the elements are in a padded array."""
    places = zip(x.shape[1:-1], pads)
    return (slice(None), *(slice(pad[0], pad[0] + size) for size, pad in places))


def _copy_padded(x: Array, block: Array, row: int, pads: Pads) -> None:
    """The rows of the padded images from `row` on."""
    (top, _), (left, _) = pads
    low, high = max(row - top, 0), min(row - top + block.shape[1], x.shape[1])
    above = low - (row - top)
    below = above + max(high - low, 0)
    block[:, :above] = 0
    block[:, below:] = 0
    block[:, above:below, :left] = 0
    block[:, above:below, left + x.shape[2] :] = 0
    block[:, above:below, left : left + x.shape[2]] = x[:, low : low + below - above]


# --- one filter for each channel ------------------------------------------------------


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
    x = _padded(x, pads)
    taps = filters.reshape(tall, wide_, width)
    # A row of windows at once: the factors are repeated along it.
    factors = np.tile(taps, (1, 1, length))
    images, rows = _block(len(x), height, 4 * length * width * x.itemsize)
    parts = list(_blocks(len(x), height, images, rows))

    def fill(index: int) -> None:
        part = parts[index]
        high = part[1].stop - part[1].start
        target = result[part].reshape(-1, high, length * width)
        product = np.empty(target.shape, x.dtype)
        start, stop = part[1].start * strides[0], (part[1].stop - 1) * strides[0] + 1
        for level, place in np.ndindex(tall, wide_):
            down, right = level * dilations[0], place * dilations[1]
            windows = x[
                part[0],
                start + down : stop + down : strides[0],
                right : right + (length - 1) * strides[1] + 1 : strides[1],
            ].reshape(target.shape)
            if level == place == 0:
                np.multiply(windows, factors[level, place], out=target)
            else:
                np.multiply(windows, factors[level, place], out=product)
                np.add(target, product, out=target)

    share(fill, len(parts), allowed_threads() if x.size >= MANY else 1)
    return result


# --- back -----------------------------------------------------------------------------


def spread(
    y: Array,
    filters: Array,
    lengths: Ints,
    strides: Ints,
    pads: Pads,
    dilations: Ints,
) -> Array:
    """Each element of `y` times the filters (window..., out, in), added up where the
    windows of a convolution of an array with these spatial `lengths` lie.
    """
    if y.dtype == np.float16:
        wide = (y.astype(np.float32), filters.astype(np.float32))
        return spread(*wide, lengths, strides, pads, dilations).astype(np.float16)
    sizes, outside = filters.shape[:-2], filters.shape[-2]
    padded = [length + sum(pad) for length, pad in zip(lengths, pads)]
    total = np.zeros((len(y), *padded, outside), y.dtype)
    rows = y.reshape(-1, y.shape[-1])
    for place in np.ndindex(*sizes if rows.size else (0,)):
        product = (rows @ filters[place].T).reshape(*y.shape[:-1], outside)
        spots = (
            slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
            for at, dilation, count, stride in zip(
                place, dilations, y.shape[1:-1], strides
            )
        )
        total[(slice(None), *spots)] += product
    inner = (slice(pad[0], pad[0] + size) for pad, size in zip(pads, lengths))
    return total[(slice(None), *inner)]
