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

All go through the batch in blocks that stay in the cache, which the threads share. What
comes after a convolution (`After`) is done to each block while it is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from runtime.ops.kernels.buffers import borrow, give_back, new_result
from runtime.ops.kernels.image_blocks import (
    Pads,
    blocks,
    copy_padded,
    padded,
    strided_windows,
)
from runtime.ops.kernels.small_products import deep_product, is_small, multiply
from runtime.ops.kernels.threads import allowed_threads, share

Array = np.ndarray[Any, Any]
Ints = Sequence[int]

#: How many bytes of scratch memory a block takes, less than the second level cache of a
#: core, and how many where BLAS multiplies on all cores.
BLOCK = 3 << 18
LARGE_BLOCK = 1 << 22
#: From so many multiplications on it is worth while to wake other threads.
MANY = 1 << 22
#: Windows with at most so many elements are few rows of long runs.
FEW = 32


class After(NamedTuple):
    """What is done to the result of a convolution: a vector is added, then `relu`."""

    bias: Array | None = None
    relu: bool = False


#: Nothing is done to it.
NOTHING = After()


def convolve(
    x: Array,
    filters: Array,
    lengths: Ints,
    strides: Ints,
    pads: Pads,
    dilations: Ints,
    after: After = NOTHING,
) -> Array:
    """The products of the filters (window..., in, out) with each window of the batch
    (number, space..., channels): `lengths` of them along the spatial axes. The channels
    may be groups of `in` channels.
    """
    if x.dtype == np.float16:
        # BLAS has no half precision.
        wide = (x.astype(np.float32), filters.astype(np.float32))
        half = convolve(*wide, lengths, strides, pads, dilations).astype(np.float16)
        _finisher(after, half)(half)
        return half
    inside, outside = filters.shape[-2:]
    result = new_result((len(x), *lengths, outside), x.dtype)
    if not result.size or not filters.size:
        result.fill(0)
        _finisher(after, result)(result)
        return result
    groups = x.shape[-1] // inside
    if groups == 1:
        finish = _finisher(after, result)
        _one_group(x, filters, strides, pads, dilations, result, finish)
        return result
    if inside == 1 and len(lengths) == 2:
        taps = filters.reshape(*filters.shape[:-2], groups, -1)
        _each_channel(x, taps, strides, pads, dilations, result)
    else:
        for channels, part in _groups(groups, x, filters):
            found = np.empty((*result.shape[:-1], outside // groups), x.dtype)
            own = filters[..., part]
            finish = _finisher(NOTHING, found)
            _one_group(x[..., channels], own, strides, pads, dilations, found, finish)
            result[..., part] = found
    _finisher(after, result)(result)
    return result


def _groups(count: int, *arrays: Array) -> Iterator[tuple[slice, ...]]:
    """For each group of channels its part of the last axis of each array."""
    for group in range(count):
        widths = [array.shape[-1] // count for array in arrays]
        yield tuple([slice(group * n, (group + 1) * n) for n in widths])


def _finisher(after: After, result: Array) -> Callable[[Array], None]:
    """What does to blocks of the result what comes after, in whole rows."""
    if after.bias is None and not after.relu:
        return lambda block: None
    length = math.prod(result.shape[-2:])
    # NumPy is slow where it has to begin anew for each few elements.
    bias = None if after.bias is None else np.tile(after.bias, result.shape[-2])
    zeros = np.zeros(length, result.dtype) if after.relu else None

    def finish(block: Array) -> None:
        rows = block.reshape(*block.shape[:-2], length)
        if bias is not None:
            np.add(rows, bias, out=rows)
        if zeros is not None:
            np.maximum(rows, zeros, out=rows)

    return finish


def _one_group(
    x: Array,
    filters: Array,
    strides: Ints,
    pads: Pads,
    dilations: Ints,
    result: Array,
    finish: Callable[[Array], None],
) -> None:
    *sizes, inside, _ = filters.shape
    count = math.prod(sizes)
    side_by_side = len(sizes) == 2 and strides[0] == strides[1] == dilations[1] == 1
    way: _Way
    if 1 < count * inside <= FEW:
        way = _columns(padded(x, pads), filters, strides, dilations, result)
    elif side_by_side and count > 1 and sizes[1] <= result.shape[2]:
        way = _sliding(x, filters, pads, dilations[0], result)
    else:
        way = _rows(padded(x, pads), filters, strides, dilations, result)
    small = is_small(way.matrix)
    most = BLOCK if small else LARGE_BLOCK
    parts = list(blocks(len(x), result.shape[1], way.bytes_of_row, most))

    def fill(index: int) -> None:
        target = result[parts[index]]
        way.fill(parts[index], target)
        finish(target)

    work = result.size * count * inside
    share(fill, len(parts), allowed_threads() if small and work >= MANY else 1)


# --- three ways -----------------------------------------------------------------------


class _Way(NamedTuple):
    """How to compute a convolution: ``fill(part, target)`` computes a block of it."""

    fill: Callable[[tuple[slice, slice], Array], None]
    #: What is multiplied with.
    matrix: Array
    #: The scratch memory for each row of an image.
    bytes_of_row: int


def _rows(x: Array, filters: Array, strides: Ints, dilations: Ints, out: Array) -> _Way:
    *sizes, inside, outside = filters.shape
    lengths = out.shape[1:-1]
    windows = strided_windows(x, sizes, strides, dilations, lengths)
    width = math.prod(sizes) * inside
    matrix = filters.reshape(width, outside)

    def fill(part: tuple[slice, slice], target: Array) -> None:
        found = windows[part]
        if width == inside:
            multiply(found.reshape(-1, width), matrix, _flat(target))
            return
        scratch = borrow(found.size, x.dtype)
        scratch.reshape(found.shape)[...] = found
        multiply(scratch.reshape(-1, width), matrix, _flat(target))
        give_back([scratch])

    return _Way(fill, matrix, math.prod(lengths[1:]) * width * x.itemsize)


def _columns(
    x: Array, filters: Array, strides: Ints, dilations: Ints, out: Array
) -> _Way:
    *sizes, inside, outside = filters.shape
    lengths = out.shape[1:-1]
    windows = strided_windows(x, sizes, strides, dilations, lengths)
    space = len(sizes)
    windows = windows.transpose(*range(space + 1, 2 * space + 2), *range(space + 1))
    width = math.prod(sizes) * inside
    matrix = filters.reshape(width, outside)

    def fill(part: tuple[slice, slice], target: Array) -> None:
        key: Any = (..., *part, *(slice(None),) * (space - 1))
        found = windows[key]
        scratch = borrow(found.size, x.dtype)
        scratch.reshape(found.shape)[...] = found
        multiply(scratch.reshape(width, -1).T, matrix, _flat(target))
        give_back([scratch])

    return _Way(fill, matrix, math.prod(lengths[1:]) * width * x.itemsize)


def _sliding(x: Array, filters: Array, pads: Pads, dilation: int, out: Array) -> _Way:
    tall, wide, inside, outside = filters.shape
    width = out.shape[2]
    line = x.shape[2] + sum(pads[1])
    more = (tall - 1) * dilation
    # For each row of the window, and each of the images.
    matrices = filters.reshape(tall, 1, 1, wide * inside, outside)
    is_plain = not any(map(any, pads)) and x.flags.c_contiguous
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
        if is_plain and (part[0].stop < len(x) or part[1].stop < out.shape[1]):
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
            copy_padded(x[part[0]], copied, part[1].start, pads)
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

    return _Way(fill, matrices, tall * line * outside * item)


def _flat(target: Array) -> Array:
    """The result of a block as a matrix with a row for each window: a view."""
    return target.reshape(-1, target.shape[-1])


# --- back -----------------------------------------------------------------------------


def spread(
    y: Array,
    filters: Array,
    lengths: Ints,
    strides: Ints,
    pads: Pads,
    dilations: Ints,
    groups: int = 1,
) -> Array:
    """Each element of `y` times the filters (window..., out, in), added up where the
    windows of a convolution of an array with these spatial `lengths` lie. The channels
    of the result are `groups` of `out` channels.
    """
    if y.dtype == np.float16:
        wide = (y.astype(np.float32), filters.astype(np.float32))
        found = spread(*wide, lengths, strides, pads, dilations, groups)
        return found.astype(np.float16)
    *sizes, outside, inside = filters.shape
    spans = [(size - 1) * apart for size, apart in zip(sizes, dilations)]
    is_spread = 1 < groups < inside and outside == 1
    if all(n == 1 for n in strides) and _lie_within(pads, spans) and not is_spread:
        # What reaches an element are the products with a window of `y`, from the other
        # end: a convolution.
        back = tuple(slice(None, None, -1) for _ in sizes)
        flipped = filters[back].reshape(*sizes, outside, groups, -1)
        flipped = flipped.swapaxes(-1, -3).reshape(*sizes, -1, groups * outside)
        more = [(span - a, span - b) for span, (a, b) in zip(spans, pads)]
        return convolve(y, flipped, lengths, strides, more, dilations)
    around = [length + sum(pad) for length, pad in zip(lengths, pads)]
    total = np.zeros((len(y), *around, groups * outside), y.dtype)
    rows = y.reshape(-1, inside)
    for place in np.ndindex(*sizes if rows.size else (0,)):
        product = _times_each(rows, filters[place], groups)
        spots = (
            slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
            for at, dilation, count, stride in zip(
                place, dilations, y.shape[1:-1], strides
            )
        )
        total[(slice(None), *spots)] += product.reshape(*y.shape[:-1], -1)
    inner = (slice(pad[0], pad[0] + size) for pad, size in zip(pads, lengths))
    return total[(slice(None), *inner)]


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
    parts = [rows[:, part] @ matrix[:, part].T for (part,) in _groups(groups, rows)]
    return np.concatenate(parts, -1)


def _lie_within(pads: Pads, spans: Ints) -> bool:
    """Whether all that is added around is in a window with some element."""
    return all(max(pad) <= span for pad, span in zip(pads, spans))


# --- the gradient of the filters


def correlate_windows(
    x: Array,
    y: Array,
    sizes: Ints,
    strides: Ints,
    pads: Pads,
    dilations: Ints,
    groups: int = 1,
) -> Array:
    """The sums over all windows of the batch (number, space..., channels) of their
    elements times those of `y` that belong to them: (window..., channels, out). Each of
    the `groups` of channels goes with one of `y`.
    """
    if x.dtype == np.float16:
        wide = (x.astype(np.float32), y.astype(np.float32))
        found = correlate_windows(*wide, sizes, strides, pads, dilations, groups)
        return found.astype(x.dtype)
    inside, outside = x.shape[-1] // groups, y.shape[-1]
    width = math.prod(sizes) * inside
    if not (width and y.size):
        return np.zeros((*sizes, inside, outside), y.dtype)
    if groups > 1 and inside == 1:
        return _correlate_each(x, y, sizes, strides, pads, dilations)
    if groups > 1:
        each = [
            correlate_windows(x[..., a], y[..., b], sizes, strides, pads, dilations)
            for a, b in _groups(groups, x, y)
        ]
        return np.concatenate(each, -1)
    lengths = y.shape[1:-1]
    windows = strided_windows(padded(x, pads), sizes, strides, dilations, lengths)
    axes = len(sizes) + 1
    # As in `_columns` and `_rows`: long runs are copied, or whole windows.
    is_narrow = width <= FEW
    bytes_of_row = math.prod(lengths[1:]) * width * x.itemsize
    parts = list(blocks(len(x), lengths[0], bytes_of_row, BLOCK))
    sums = np.empty((len(parts), width, outside), y.dtype)

    def fill(index: int) -> None:
        found = windows[parts[index]]
        if is_narrow:
            found = found.transpose(*range(axes, 2 * axes), *range(axes))
        scratch = borrow(found.size, x.dtype)
        scratch.reshape(found.shape)[...] = found
        matrix = scratch.reshape((width, -1) if is_narrow else (-1, width))
        given = y[parts[index]].reshape(-1, outside)
        sums[index] = matrix.dot(given) if is_narrow else deep_product(matrix, given)
        give_back([scratch])

    share(fill, len(parts), allowed_threads() if y.size * width >= MANY else 1)
    total: Array = np.add.reduce(sums, axis=0)
    return total.reshape(*sizes, inside, outside)


# --- Convolutions with one filter for each channel: no products of matrices

#: How many bytes a block of the result takes, which stays in the cache.
DEPTHWISE_BLOCK = 1 << 18
#: From so many elements on it is worth while to wake other threads.
DEPTHWISE_MANY = 1 << 17


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
    result = new_result((len(x), *lengths, filters[0, 0].size), x.dtype)
    if not result.size or not filters.size:
        result.fill(0)
        return result
    _each_channel(x, filters, strides, pads, dilations, result)
    return result


def _each_channel(
    x: Array, filters: Array, strides: Ints, pads: Pads, dilations: Ints, result: Array
) -> None:
    """Compute a `convolve_depthwise` whose result has elements."""
    tall, wide, _, times = filters.shape
    height, length, width = result.shape[1:]
    x = padded(_repeated(x, times), pads)
    taps = filters.reshape(tall, wide, width)
    # A row of windows at once: the factors are repeated along it.
    factors = np.tile(taps, (1, 1, length))
    parts = list(blocks(len(x), height, length * width * x.itemsize, DEPTHWISE_BLOCK))

    def fill(index: int) -> None:
        part = parts[index]
        high = part[1].stop - part[1].start
        target = result[part].reshape(-1, high, length * width)
        scratch = borrow(target.size, x.dtype)
        product = scratch.reshape(target.shape)
        for place in np.ndindex(tall, wide):
            windows = _seen(x, part, place, length, strides, dilations)
            if place == (0, 0):
                np.multiply(windows, factors[place], out=target)
            else:
                np.multiply(windows, factors[place], out=product)
                np.add(target, product, out=target)
        give_back([scratch])

    share(fill, len(parts), allowed_threads() if x.size >= DEPTHWISE_MANY else 1)


def _repeated(x: Array, times: int) -> Array:
    """The images with each channel so many times."""
    return x if times == 1 else np.repeat(x, times, axis=-1)


def _seen(
    x: Array,
    part: tuple[slice, slice],
    place: tuple[int, ...],
    length: int,
    strides: Ints,
    dilations: Ints,
) -> Array:
    """The elements at a place of all windows of a part of the result, by its rows."""
    down, right = (at * apart for at, apart in zip(place, dilations))
    start, stop = part[1].start * strides[0], (part[1].stop - 1) * strides[0] + 1
    rows = x[part[0], start + down : stop + down : strides[0]]
    last = right + (length - 1) * strides[1] + 1
    if strides[1] == 1:
        # Neighbours in memory, as those of the result: no copy.
        flat, width = rows.reshape(*rows.shape[:2], -1), x.shape[-1]
        return flat[..., right * width : last * width]
    return rows[:, :, right : last : strides[1]].reshape(*rows.shape[:2], -1)


def _correlate_each(
    x: Array, y: Array, sizes: Ints, strides: Ints, pads: Pads, dilations: Ints
) -> Array:
    """`correlate_windows` for groups of one channel."""
    *lengths, width = y.shape[1:]
    x = padded(_repeated(x, width // x.shape[-1]), pads)
    bytes_of_row = math.prod(lengths[1:]) * width * x.itemsize
    parts = list(blocks(len(x), lengths[0], bytes_of_row, DEPTHWISE_BLOCK))
    windows = strided_windows(x, sizes, strides, dilations, lengths)
    sums = np.empty((len(parts), math.prod(sizes), width), y.dtype)
    axes = len(lengths) + 1

    def fill(index: int) -> None:
        part, given = parts[index], y[parts[index]]
        found = windows[part]
        product = borrow(given.size, x.dtype)
        ones = np.ones(given.size // width, x.dtype)
        for number, place in enumerate(np.ndindex(*sizes)):
            seen = found[(slice(None),) * axes + place]
            np.multiply(seen, given, out=product.reshape(given.shape))
            # BLAS adds rows up faster than NumPy.
            np.dot(ones, product.reshape(-1, width), out=sums[index, number])
        give_back([product])

    share(fill, len(parts), allowed_threads() if x.size >= DEPTHWISE_MANY else 1)
    total: Array = np.add.reduce(sums, axis=0)
    return total.reshape(*sizes, 1, width)
