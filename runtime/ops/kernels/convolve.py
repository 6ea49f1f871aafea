"""Convolutions in NumPy: windows as rows of matrices, multiplied by BLAS.

Two ways, the faster of which depends on the shape:

- `_sliding`, for windows that lie side by side: no window is copied. In a row of a
  padded batch the elements of a window are neighbours in memory. The rows of a matrix
  that begins at element p and has the width of the window are every `width`-th window;
  as many matrices, each one element further, have them all. BLAS writes each product
  to every `width`-th row of the result.
- `_copied`, for all else: each window is copied to a row of a matrix. Of narrow windows
  each element of all of them is one long row, so that NumPy copies long runs.

All go through the batch in blocks that stay in the cache, which the threads share. What
comes after a convolution is done to each block while it is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from runtime.ops.kernels.buffers import borrow, give_back, new_result
from runtime.ops.kernels.image_blocks import (
    Axis,
    blocks,
    copy_padded,
    inner,
    padded,
    strided_windows,
)
from runtime.ops.kernels.small_products import deep_product, is_small, multiply
from runtime.ops.kernels.threads import allowed_threads, share

Array = np.ndarray[Any, Any]
Axes = Sequence[Axis]

#: How many bytes of scratch memory a block takes, less than the second level cache of a
#: core, and how many where BLAS multiplies on all cores.
BLOCK = 3 << 18
LARGE_BLOCK = 1 << 22
#: From so many multiplications on it is worth while to wake other threads.
MANY = 1 << 22
#: Windows with at most so many elements are few rows of long runs.
FEW = 32


def convolve(
    x: Array,
    filters: Array,
    axes: Axes,
    bias: Array | None = None,
    relu: bool = False,
    by_channel: bool = False,
) -> Array:
    """The products of the filters (window..., in, out) with each window of the batch
    (number, space..., channels); then `bias` is added, and negative ones are 0 with
    `relu`. The channels may be groups of `in` channels, and are each a group
    `by_channel`.
    """
    if x.dtype == np.float16:
        wide = x.astype(np.float32), filters.astype(np.float32)
        half = convolve(*wide, axes, by_channel=by_channel).astype(np.float16)
        _finisher(half, bias, relu)(half)
        return half
    inside, outside = filters.shape[-2:]
    lengths = [axis.windows for axis in axes]
    result = new_result((len(x), *lengths, outside), x.dtype)
    finish = _finisher(result, bias, relu)
    if not result.size or not filters.size:
        result.fill(0)
        finish(result)
        return result
    groups = x.shape[-1] // inside
    if groups == 1 and not by_channel:
        _one_group(x, filters, axes, result, finish)
        return result
    if inside == 1 and len(axes) == 2:
        _each_channel(x, filters, axes, result)
    else:
        for images, taps, part in _groups(groups, x, filters, result):
            found = np.empty(part.shape, x.dtype)
            _one_group(images, taps, axes, found, _finisher(found, None, False))
            part[...] = found
    finish(result)
    return result


def _groups(count: int, *arrays: Array) -> Iterator[Any]:
    """The parts of arrays for each group of channels."""
    return zip(*[np.split(array, count, -1) for array in arrays])


def _finisher(result: Array, bias: Array | None, relu: bool) -> Callable[[Array], None]:
    """What does to blocks of the result what comes after, in whole rows."""
    if bias is None and not relu:
        return lambda block: None
    length = math.prod(result.shape[-2:])
    # NumPy is slow where it has to begin anew for each few elements.
    added = None if bias is None else np.tile(bias, result.shape[-2])
    zeros = np.zeros(length, result.dtype)

    def finish(block: Array) -> None:
        rows = block.reshape(*block.shape[:-2], length)
        if added is not None:
            np.add(rows, added, out=rows)
        if relu:
            np.maximum(rows, zeros, out=rows)

    return finish


def _one_group(
    x: Array,
    filters: Array,
    axes: Axes,
    result: Array,
    finish: Callable[[Array], None],
) -> None:
    *sizes, inside, _ = filters.shape
    count = math.prod(sizes)
    steps = [axis.stride for axis in axes]
    side_by_side = steps == [1, 1] and axes[1].apart == 1
    is_narrow = 1 < count * inside <= FEW
    if not is_narrow and side_by_side and count > 1 and sizes[1] <= result.shape[2]:
        compute, matrix, bytes_of_row = _sliding(x, filters, axes)
    else:
        compute, matrix, bytes_of_row = _copied(x, filters, axes, is_narrow)
    small = is_small(matrix)
    most = BLOCK if small else LARGE_BLOCK
    parts = list(blocks(len(x), result.shape[1], bytes_of_row, most))

    def fill(index: int) -> None:
        target = result[parts[index]]
        compute(parts[index], target)
        finish(target)

    work = result.size * count * inside
    share(fill, len(parts), allowed_threads() if small and work >= MANY else 1)


# --- two ways -------------------------------------------------------------------------


#: How to compute a convolution: a function that computes a block, what is multiplied
#: with, and how many bytes of scratch memory it takes for each row of an image.
_Way = tuple[Callable[[tuple[slice, slice], Array], None], Array, int]


def _copied(x: Array, filters: Array, axes: Axes, is_narrow: bool) -> _Way:
    windows = strided_windows(padded(x, axes), axes)
    matrix = filters.reshape(-1, filters.shape[-1])
    is_there = not is_narrow and len(matrix) == x.shape[-1]

    def fill(part: tuple[slice, slice], target: Array) -> None:
        found, flat = windows[part], target.reshape(-1, matrix.shape[-1])
        if is_there:
            multiply(found.reshape(-1, len(matrix)), matrix, flat)
            return
        scratch, rows = _as_matrix(found, len(matrix), is_narrow)
        multiply(rows, matrix, flat)
        give_back([scratch])

    return fill, matrix, _bytes_of_row(x, axes, len(matrix))


def _as_matrix(windows: Array, width: int, is_narrow: bool) -> tuple[Array, Array]:
    """Borrowed memory, and a matrix in it whose rows are copies of the windows."""
    if is_narrow:
        rank = windows.ndim // 2
        windows = windows.transpose(*range(rank, 2 * rank), *range(rank))
    scratch = borrow(windows.size, windows.dtype)
    scratch.reshape(windows.shape)[...] = windows
    if is_narrow:
        return scratch, scratch.reshape(width, -1).T
    return scratch, scratch.reshape(-1, width)


def _bytes_of_row(x: Array, axes: Axes, width: int) -> int:
    """The bytes of the windows of a row of an image."""
    windows: int = math.prod([axis.windows for axis in axes[1:]])
    return windows * width * x.itemsize


def _sliding(x: Array, filters: Array, axes: Axes) -> _Way:
    tall, wide, inside, outside = filters.shape
    height, width = (axis.windows for axis in axes)
    dilation = axes[0].apart
    line = x.shape[2] + sum(axes[1].pads)
    more = (tall - 1) * dilation
    # For each row of the window, and each of the images.
    matrices = filters.reshape(tall, 1, 1, wide * inside, outside)
    is_plain = not any(any(axis.pads) for axis in axes) and x.flags.c_contiguous
    item = x.itemsize
    pixel = inside * item

    def fill(part: tuple[slice, slice], target: Array) -> None:
        count, high = target.shape[:2]
        shape = (count, high + more, line)
        # Of so many elements in the rows of an image each `wide`-th begins a window of
        # the same matrix. Where a window ends in the next row its product is not used.
        places = high * line
        each = -(-(places - wide + 1) // wide)
        sums = borrow(tall * count * places * outside, x.dtype)
        borrowed = [sums]
        if is_plain and (part[0].stop < len(x) or part[1].stop < height):
            source, step = x, x.strides[0]
            begin = part[0].start * step + part[1].start * line * pixel
        else:
            # The last matrices end a little after the last row.
            size = math.prod(shape) * inside
            source, step, begin = (
                borrow(size + wide * inside, x.dtype),
                size // count,
                0,
            )
            borrowed.append(source)
            step *= item
            copied = source[:size].reshape(*shape, inside)
            copy_padded(x[part[0]], copied, part[1].start, axes)
        windows: Array = np.ndarray(
            (tall, count, wide, each, wide * inside),
            x.dtype,
            source,
            begin,
            (dilation * line * pixel, step, pixel, wide * pixel, item),
        )
        products = sums.reshape(tall, count, places, outside)[:, :, : each * wide]
        products = products.reshape(tall, count, each, wide, outside)
        multiply(windows, matrices, products.swapaxes(2, 3))
        total = sums.reshape(tall, count, high, line * outside)
        total = total[..., : width * outside]
        rows = target.reshape(count, high, width * outside)
        levels = sums.reshape(tall, -1)
        for level in range(1, tall - 1):
            np.add(levels[0], levels[level], out=levels[0])
        if tall == 1:
            rows[...] = total[0]
        else:
            np.add(total[0], total[-1], out=rows)
        give_back(borrowed)

    return fill, matrices, tall * line * outside * item


# --- back -----------------------------------------------------------------------------


def spread(y: Array, filters: Array, axes: Axes, groups: int = 1) -> Array:
    """Each element of `y` times the filters (window..., out, in), added up where the
    windows of a convolution along `axes` lie. The channels of the result are `groups`
    of `out` channels.
    """
    if y.dtype == np.float16:
        wide = y.astype(np.float32), filters.astype(np.float32)
        return spread(*wide, axes, groups).astype(np.float16)
    *sizes, outside, inside = filters.shape
    is_spread = 1 < groups < inside and outside == 1
    if not is_spread and all(map(_lies_within, axes)):
        # What reaches an element are the products with a window of `y`, from the other
        # end: a convolution.
        back = tuple(slice(None, None, -1) for _ in sizes)
        flipped = filters[back].reshape(*sizes, outside, groups, -1)
        flipped = flipped.swapaxes(-1, -3).reshape(*sizes, -1, groups * outside)
        return convolve(y, flipped, [_turned(axis) for axis in axes])
    around = [axis.length + sum(axis.pads) for axis in axes]
    total = np.zeros((len(y), *around, groups * outside), y.dtype)
    rows = y.reshape(-1, inside)
    for place in np.ndindex(*sizes if rows.size else (0,)):
        product = _times_each(rows, filters[place], groups)
        spots = [axis.at(tap) for tap, axis in zip(place, axes)]
        total[(slice(None), *spots)] += product.reshape(*y.shape[:-1], -1)
    return total[inner(axes)]


def _lies_within(axis: Axis) -> bool:
    """Whether all that is added around is in a window with some element, of which each
    element begins one.
    """
    return bool(axis.stride == 1 and max(axis.pads) < axis.span)


def _turned(axis: Axis) -> Axis:
    """The windows, with strides of 1, of the results of such windows."""
    pads = [axis.span - 1 - pad for pad in axis.pads]
    return Axis(axis.windows, axis.size, axis.apart, 1, axis.length, pads)


def _times_each(rows: Array, matrix: Array, groups: int) -> Array:
    """The products of rows with the columns of a matrix, for each group of these."""
    outside, inside = matrix.shape
    if groups == 1:
        return rows @ matrix.T
    if outside == 1:
        product = rows * matrix
        if inside == groups:
            return product
        product = product.reshape(len(rows), groups, -1)
        return np.add.reduce(product, axis=-1)  # type: ignore[no-any-return]
    return np.concatenate([a @ b.T for a, b in _groups(groups, rows, matrix)], -1)


# --- the gradient of the filters


def correlate_windows(x: Array, y: Array, axes: Axes, groups: int = 1) -> Array:
    """The sums over all windows of the batch (number, space..., channels) of their
    elements times those of `y` that belong to them: (window..., channels, out). Each of
    the `groups` of channels goes with one of `y`.
    """
    if x.dtype == np.float16:
        wide = x.astype(np.float32), y.astype(np.float32)
        return correlate_windows(*wide, axes, groups).astype(np.float16)
    sizes = [axis.size for axis in axes]
    inside, outside = x.shape[-1] // groups, y.shape[-1]
    width = math.prod(sizes) * inside
    if not (width and y.size):
        return np.zeros((*sizes, inside, outside), y.dtype)
    if groups > 1 and inside == 1:
        return _correlate_each(x, y, axes)
    if groups > 1:
        each = [correlate_windows(a, b, axes) for a, b in _groups(groups, x, y)]
        return np.concatenate(each, -1)
    windows = strided_windows(padded(x, axes), axes)
    is_narrow = width <= FEW
    parts = list(blocks(len(x), y.shape[1], _bytes_of_row(x, axes, width), BLOCK))
    sums = np.empty((len(parts), width, outside), y.dtype)

    def fill(index: int) -> None:
        scratch, rows = _as_matrix(windows[parts[index]], width, is_narrow)
        given = y[parts[index]].reshape(-1, outside)
        sums[index] = rows.T.dot(given) if is_narrow else deep_product(rows, given)
        give_back([scratch])

    share(fill, len(parts), allowed_threads() if y.size * width >= MANY else 1)
    total: Array = np.add.reduce(sums, axis=0)
    return total.reshape(*sizes, inside, outside)


# --- Convolutions with one filter for each channel: no products of matrices

#: How many bytes a block of the result takes, which stays in the cache.
DEPTHWISE_BLOCK = 1 << 18
#: From so many elements on it is worth while to wake other threads.
DEPTHWISE_MANY = 1 << 17


def _each_channel(x: Array, filters: Array, axes: Axes, result: Array) -> None:
    """Convolve images, each of whose channels is a group of its own."""
    tall, wide, _, outside = filters.shape
    height, length, width = result.shape[1:]
    x = padded(_repeated(x, outside // x.shape[-1]), axes)
    taps = filters.reshape(tall, wide, width)
    # A row of windows at once: the factors are repeated along it.
    factors = np.tile(taps, (1, 1, length))
    parts = list(blocks(len(x), height, length * width * x.itemsize, DEPTHWISE_BLOCK))
    places = [
        [axis.at(tap) for axis, tap in zip(axes, taps)]
        for taps in np.ndindex(tall, wide)
    ]

    def fill(index: int) -> None:
        images, rows = parts[index]
        target = result[images, rows].reshape(
            -1, rows.stop - rows.start, length * width
        )
        scratch = borrow(target.size, x.dtype)
        product = scratch.reshape(target.shape)
        for number, (down, right) in enumerate(places):
            seen = x[images, down][:, rows]
            if right.step == 1:
                # Neighbours in memory, as those of the result: no copy.
                flat = seen.reshape(*seen.shape[:2], -1)
                seen = flat[..., right.start * width : right.stop * width]
            else:
                seen = seen[:, :, right].reshape(*seen.shape[:2], -1)
            factor = factors[divmod(number, wide)]
            np.multiply(seen, factor, out=product if number else target)
            if number:
                np.add(target, product, out=target)
        give_back([scratch])

    share(fill, len(parts), allowed_threads() if x.size >= DEPTHWISE_MANY else 1)


def _repeated(x: Array, times: int) -> Array:
    """The images with each channel so many times."""
    return x if times == 1 else np.repeat(x, times, axis=-1)


def _correlate_each(x: Array, y: Array, axes: Axes) -> Array:
    """`correlate_windows` for groups of one channel."""
    sizes, width = [axis.size for axis in axes], y.shape[-1]
    x = padded(_repeated(x, width // x.shape[-1]), axes)
    bytes_of_row = _bytes_of_row(x, axes, width)
    parts = list(blocks(len(x), y.shape[1], bytes_of_row, DEPTHWISE_BLOCK))
    windows = strided_windows(x, axes)
    sums = np.empty((len(parts), math.prod(sizes), width), y.dtype)
    rank = len(axes) + 1

    def fill(index: int) -> None:
        part, given = parts[index], y[parts[index]]
        found = windows[part]
        product = borrow(given.size, x.dtype)
        ones = np.ones(given.size // width, x.dtype)
        for number, place in enumerate(np.ndindex(*sizes)):
            seen = found[(slice(None),) * rank + place]
            np.multiply(seen, given, out=product.reshape(given.shape))
            # BLAS adds rows up faster than NumPy.
            np.dot(ones, product.reshape(-1, width), out=sums[index, number])
        give_back([product])

    share(fill, len(parts), allowed_threads() if x.size >= DEPTHWISE_MANY else 1)
    total: Array = np.add.reduce(sums, axis=0)
    return total.reshape(*sizes, 1, width)
