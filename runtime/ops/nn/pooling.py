"""The largest or the mean of each window of a batch of rows, images or volumes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.core.types.dtypes import of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arrays.dimensions import length, lengths
from runtime.ops.arrays.shape import expand_dims, squeeze
from runtime.ops.convert import as_tensor, cast
from runtime.ops.derivatives import differentiated_as
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.kernels.buffers import new_result
from runtime.ops.kernels.image_blocks import blocks
from runtime.ops.kernels.threads import allowed_threads, share
from runtime.ops.nn.windows import (
    channels_first,
    dims_or_unknown,
    from_channels_last,
    padding_argument,
    padding_of_row,
    paddings,
    per_axis,
    places,
    to_channels_last,
    whole,
)
from runtime.ops.operands import Slice, define, run
from runtime.ops.shapes import spec

# --- Windows of a batch reduced: along one axis after the other, block by block

# Along the axes in front of the last a block is long runs for NumPy, and it stays in
# the cache from one axis to the next.

Array = np.ndarray[Any, Any]

#: How many bytes of the batch a block takes.
BLOCK = 1 << 20
#: From so many elements on it is worth while to wake other threads.
MANY = 1 << 17


def pooled(
    ufunc: np.ufunc,
    x: Array,
    fill: Any,
    ksize: Sequence[int],
    attrs: dict[str, Any],
    counts: Array | None = None,
) -> Array:
    """The windows of a batch (number, space..., channels) reduced by `ufunc`; around it
    is `fill`. They are divided by `counts`: one number, or one for each window.
    """
    if x.ndim != len(ksize):
        raise ValueError
    sizes = ksize[1:-1]
    lengths: Any = places(x.shape, sizes, attrs)
    pads = paddings(x.shape, sizes, attrs)
    strides = attrs["strides"]
    dilations = attrs.get("dilations") or (1,) * x.ndim
    lines = [
        _Line(size, stride, apart, -pad[0], length)
        for size, stride, apart, pad, length in zip(
            sizes, strides[1:], dilations[1:], pads, lengths
        )
    ]
    result = new_result((len(x), *lengths, x.shape[-1]), x.dtype)
    if not result.size:
        return result
    if counts is not None and counts.ndim:
        # Long runs: as many numbers as there are channels.
        counts = np.repeat(counts, x.shape[-1], axis=-1)
    bytes_of_row = strides[1] * math.prod(x.shape[2:]) * x.itemsize
    parts = list(blocks(len(x), lengths[0], bytes_of_row, BLOCK))

    def fill_block(index: int) -> None:
        images, rows = parts[index]
        found = x[images]
        first = lines[0].first + rows.start * lines[0].stride
        here = lines[0]._replace(first=first, windows=rows.stop - rows.start)
        for axis, line in enumerate((here, *lines[1:]), 1):
            found = _along(ufunc, found, axis, line, fill)
        if counts is None:
            result[images, rows] = found
        else:
            divisor = counts[rows] if counts.ndim else counts
            np.divide(found, divisor, out=result[images, rows])

    share(fill_block, len(parts), allowed_threads() if x.size >= MANY else 1)
    return result


class _Line(NamedTuple):
    """The windows along an axis: so many of them, the first from element `first` on,
    which may be in front of the array.
    """

    size: int
    stride: int
    apart: int
    first: int
    windows: int

    def inside(self, place: int, length: int) -> tuple[slice, slice]:
        """The windows whose element number `place` is one of the array's, and these."""
        offset = self.first + place * self.apart
        low = max(0, -(offset // self.stride))
        high = max(low, min(self.windows, (length - 1 - offset) // self.stride + 1))
        begin = low * self.stride + offset
        end = begin + (high - low - 1) * self.stride + 1
        return slice(low, high), slice(begin, max(end, begin), self.stride)


@lru_cache(maxsize=64)
def _inside(line: _Line, length: int) -> list[tuple[slice, slice]]:
    """`_Line.inside` for each place: many blocks have the same."""
    return [line.inside(place, length) for place in range(line.size)]


def _along(ufunc: np.ufunc, x: Array, axis: int, line: _Line, fill: Any) -> Array:
    """The windows along one axis, reduced."""
    # The axes behind are one to NumPy: long runs.
    flat = x.reshape(*x.shape[: axis + 1], math.prod(x.shape[axis + 1 :]))
    front = (slice(None),) * axis
    length = x.shape[axis]
    if line.size == 1 and line.stride == 1 and line.windows == length:
        return x
    parts = _inside(line, length)
    all_windows = slice(0, line.windows)
    target, source = parts[0]
    if all(windows == all_windows for windows, _ in parts[:2]) and line.size > 1:
        found: Array = ufunc(flat[(*front, source)], flat[(*front, parts[1][1])])
        done = 2
    else:
        found = np.empty((*x.shape[:axis], line.windows, flat.shape[-1]), x.dtype)
        found[(*front, slice(0, target.start))] = fill
        found[(*front, slice(target.stop, None))] = fill
        found[(*front, target)] = flat[(*front, source)]
        done = 1
    for target, source in parts[done:]:
        view = found[(*front, target)]
        ufunc(view, flat[(*front, source)], out=view)
    return found.reshape(*found.shape[:-1], *x.shape[axis + 1 :])


# --- ops ------------------------------------------------------------------------------


def _infer_pool(x: TensorSpec, *, ksize: Any, **attrs: Any) -> TensorSpec:
    dims = dims_or_unknown(x, len(ksize), "the input")
    return spec((dims[0], *places(dims, ksize[1:-1], attrs), dims[-1]), x.dtype)


def _max_pool(x: Array, *, ksize: Any, **attrs: Any) -> Array:
    lowest = -np.inf if x.dtype.kind == "f" else of_array(x).min
    return pooled(np.maximum, x, lowest, ksize, attrs)


def _avg_pool(x: Array, *, ksize: Any, **attrs: Any) -> Array:
    # Half precision would not hold long sums.
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    if attrs["padding"] == "VALID":
        counts = np.array(math.prod(ksize), wide.dtype)
    else:
        # What was added around does not count.
        ones = np.ones((1, *x.shape[1:-1], 1), wide.dtype)
        counts = pooled(np.add, ones, 0, ksize, attrs)[0]
    mean = pooled(np.add, wide, 0, ksize, attrs, counts)
    return mean.astype(x.dtype, copy=False)


define("MaxPool", _max_pool, _infer_pool, takes="fiu", family="window")
define("MaxPool3D", _max_pool, _infer_pool, takes="f", family="window")


@decomposes("MaxPool3D")
def _max_pool_decomposed(x: Any, **attrs: Any) -> Any:
    return _pooled("MaxPool", x, attrs)


@differentiated_as("MaxPool", "MaxPool3D")
def _max_pool_of_spots(x: Any, **attrs: Any) -> Any:
    spots = _spots(x, attrs, x.dtype.min)
    if spots is None:
        return NotImplemented
    best, *others = spots
    for spot in others:
        # The first of equal ones has the gradient.
        best = tf.where(spot > best, spot, best)
    return best


define("AvgPool", _avg_pool, _infer_pool, takes="f", family="window")
define("AvgPool3D", _avg_pool, _infer_pool, takes="f", family="window")


@decomposes("AvgPool3D")
def _avg_pool_decomposed(x: Any, **attrs: Any) -> Any:
    if x.dtype is not dtypes.float16 or x.shape.rank is None:
        return _pooled("AvgPool", x, attrs)
    # The mean is rounded to half precision once.
    return cast(_pooled("AvgPool", cast(x, dtypes.float32), attrs), x.dtype)


@differentiated_as("AvgPool", "AvgPool3D")
def _avg_pool_of_spots(x: Any, **attrs: Any) -> Any:
    spots = _spots(x, attrs, 0)
    if spots is None:
        return NotImplemented
    counted = tf.ones([1, *x.shape.as_list()[1:-1], 1], x.dtype)
    return tf.add_n(spots) / tf.add_n(_spots(counted, attrs, 0))


def _spots(x: Any, attrs: dict[str, Any], value: float) -> Any:
    """What each place of the window sees; None where too little is known."""
    sizes = list(attrs["ksize"][1:-1])
    pads = _surroundings(x, attrs, sizes)
    dims = x.shape.as_list()[1:-1]
    if pads is None or None in dims:
        return None
    space = len(sizes)
    gaps = _full(attrs, space)["dilations"][1:-1]
    steps = attrs["strides"][1:-1]
    places = [
        (total + before + after - (size - 1) * gap - 1) // step + 1
        for total, (before, after), size, gap, step in zip(
            dims, pads, sizes, gaps, steps
        )
    ]
    x = _padded(x, pads, value)
    if list(steps) == sizes and all(gap == 1 for gap in gaps):
        return _apart(x, sizes, places)
    return list(_taps(attrs, x, sizes, places))


def _apart(x: Any, sizes: Sequence[int], places: Sequence[int]) -> list[Any]:
    """The spots of windows that lie side by side and share no element.

    Their gradients are joined. Those of slices would be padded to the size of the whole
    batch, one for each spot, and added up.
    """
    inside = [count * size for count, size in zip(places, sizes)]
    if inside != x.shape.as_list()[1:-1]:
        key = (slice(None), *[slice(length) for length in inside])
        x = x[key]
    number, channels = shape_of(x)[0], shape_of(x)[x.shape.rank - 1]
    axes = [length for pair in zip(places, sizes) for length in pair]
    parts = [tf.reshape(x, [number, *axes, channels])]
    for axis in range(2, 2 + len(sizes)):
        parts = [spot for part in parts for spot in tf.unstack(part, axis=axis)]
    return parts


def _surroundings(x: Any, attrs: dict[str, Any], sizes: Sequence[int]) -> Any:
    """What surrounds the elements of the input; None where its shape is not known."""
    if attrs["padding"] == "VALID":
        return [(0, 0)] * len(sizes)
    if None in x.shape[1:-1].as_list():
        return None
    dims = [1, *x.shape.as_list()[1:-1], 1]
    return paddings(dims, list(sizes), _full(attrs, len(sizes)))


def _full(attrs: dict[str, Any], space: int) -> dict[str, Any]:
    """The attributes, also those that pools leave out."""
    ones = (1,) * (space + 2)
    return {"dilations": ones, "explicit_paddings": (), **attrs}


def _taps(
    attrs: dict[str, Any], x: Any, sizes: Sequence[int], places: Any
) -> Iterator[Any]:
    """For each place of a window the elements that are there."""
    steps = attrs["strides"][1:-1]
    gaps = _full(attrs, len(sizes))["dilations"][1:-1]
    for offsets in product(*map(range, sizes)):
        key = [Slice(None, None, None)]
        for offset, gap, step, count in zip(offsets, gaps, steps, places):
            begin = offset * gap
            key.append(Slice(begin, begin + (count - 1) * step + 1, step))
        yield run("StridedSlice", x, key=tuple(key))


def _padded(x: Any, pads: Any, value: Any = 0) -> Any:
    if not any(before or after for before, after in pads):
        return x
    return tf.pad(x, [(0, 0), *pads, (0, 0)], constant_values=value)


def _pooled(op: str, x: Any, attrs: dict[str, Any]) -> Any:
    """Volumes pooled along the last two axes of space, then along the first."""
    if x.shape.rank is None:
        return NotImplemented
    number, depth, *image, channels = lengths(x)
    found = _pool_images(
        op, tf.reshape(x, [number * depth, *image, channels]), attrs, (2, 3)
    )
    _, rows, columns, _ = lengths(found)
    found = tf.reshape(found, [number, depth, rows * columns, channels])
    found = _pool_images(op, found, attrs, (1, None))
    return tf.reshape(found, [number, length(found, 1), rows, columns, channels])


def _pool_images(op: str, x: Any, attrs: dict[str, Any], axes: tuple[Any, ...]) -> Any:
    """Images pooled as the volumes are to be along `axes` (None: not at all)."""

    def along(values: Any) -> tuple[int, ...]:
        return (1, *(1 if axis is None else values[axis] for axis in axes), 1)

    windows = {
        key: along(attrs[key])
        for key in ("ksize", "strides", "dilations")
        if key in attrs
    }
    return run(
        op,
        x,
        padding=attrs["padding"],
        explicit_paddings=(),
        data_format="NHWC",
        name=None,
        **windows,
    )


# --- functions ------------------------------------------------------------------------


def _pool(
    kind: str,
    space: int,
    x: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
    dilations: Any = None,
) -> Any:
    first = channels_first(data_format, space)
    sizes = per_axis(ksize, space, "ksize", first)
    steps = per_axis(strides, space, "strides", first)
    apart = per_axis(1 if dilations is None else dilations, space, "dilations", first)
    x = to_channels_last(as_tensor(x), space, first)
    if space == 1:
        x, sizes, steps, apart = (
            expand_dims(x, 1),
            (1, *sizes),
            (1, *steps),
            (1, *apart),
        )
        padding = padding_of_row(padding, first)
    given = padding_argument(padding, len(sizes), first and space > 1)
    if kind == "Avg" or space == 3:
        if given.pop("explicit_paddings"):
            raise ValueError(f"padding must be 'SAME' or 'VALID', not {padding!r}")
    if any(step > 1 for step in apart):
        given["dilations"] = whole(apart)
    found = run(
        f"{kind}Pool3D" if space == 3 else f"{kind}Pool",
        x,
        ksize=whole(sizes),
        strides=whole(steps),
        **given,
        data_format="NDHWC" if space == 3 else "NHWC",
        name=None if first or space == 1 else name,
    )
    if space == 1:
        found = squeeze(found, [1], name=None if first else name)
    return from_channels_last(found, space, first, name)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """The largest element of each window of a batch of images (number, height, width,
    channels); `padding` as for `conv2d`.

    >>> image = [[[[1.0], [2.0]], [[3.0], [4.0]]]]
    >>> print(max_pool2d(image, ksize=2, strides=2, padding="VALID").numpy().ravel())
    [4.]
    """
    return _pool("Max", 2, input, ksize, strides, padding, data_format, name)


def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Any:
    """As `max_pool2d`, over a batch of rows (number, width, channels)."""
    return _pool("Max", 1, input, ksize, strides, padding, data_format, name)


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """As `max_pool2d`, over a batch of volumes."""
    return _pool("Max", 3, input, ksize, strides, padding, data_format, name)


def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """The mean of each window of a batch of images; see `max_pool2d`.

    What ``'SAME'`` adds around the images does not count.

    >>> image = [[[[1.0], [2.0]], [[3.0], [4.0]]]]
    >>> print(avg_pool2d(image, ksize=2, strides=2, padding="VALID").numpy().ravel())
    [2.5]
    """
    return _pool("Avg", 2, input, ksize, strides, padding, data_format, name)


def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Any:
    """As `avg_pool2d`, over a batch of rows (number, width, channels)."""
    return _pool("Avg", 1, input, ksize, strides, padding, data_format, name)


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """As `avg_pool2d`, over a batch of volumes."""
    return _pool("Avg", 3, input, ksize, strides, padding, data_format, name)


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """`max_pool1d`, `max_pool2d` or `max_pool3d`, by the number of axes."""
    x = as_tensor(input)
    return _pool("Max", _space(x), x, ksize, strides, padding, data_format, name)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """`avg_pool1d`, `avg_pool2d` or `avg_pool3d`, by the number of axes."""
    x = as_tensor(input)
    return _pool("Avg", _space(x), x, ksize, strides, padding, data_format, name)


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The ``'MAX'`` or ``'AVG'`` of each window; its elements lie `dilations` apart.

    >>> row = [[[1.0], [2.0], [3.0]]]
    >>> print(pool(row, [2], "MAX", dilations=[2]).numpy().ravel())
    [3.]
    """
    kind = {"MAX": "Max", "AVG": "Avg"}.get(pooling_type)
    if kind is None:
        raise ValueError(f"pooling_type must be 'MAX' or 'AVG', not {pooling_type!r}")
    x = as_tensor(input)
    steps = 1 if strides is None else strides
    return _pool(
        kind,
        _space(x),
        x,
        window_shape,
        steps,
        padding,
        data_format,
        name,
        dilations,
    )


def _space(x: Any) -> int:
    """How many spatial axes a batch has."""
    rank = x.shape.rank
    if rank not in (3, 4, 5):
        raise ValueError(
            f"the input must have 3, 4 or 5 axes (number, space, channels), not the "
            f"shape {x.shape}"
        )
    return int(rank) - 2
