"""The largest or the mean of each window of a batch of rows, images or volumes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.core.types.dtypes import of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.convert import as_tensor, cast
from runtime.ops.derivatives import differentiated_as
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.kernels.buffers import new_result
from runtime.ops.kernels.image_blocks import Axis, blocks, counts
from runtime.ops.kernels.threads import allowed_threads, share
from runtime.ops.nn.windows import (
    axes_of,
    channels_first,
    dims_or_unknown,
    like,
    places,
    slide,
    window_attributes,
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
    is_mean: bool = False,
) -> Array:
    """The windows of a batch (number, space..., channels) reduced by `ufunc`; around it
    is `fill`. A mean is divided by how many elements of the batch are in each window.
    """
    if x.ndim != len(ksize):
        raise ValueError
    axes = axes_of(x.shape, ksize[1:-1], attrs)
    lengths = [axis.windows for axis in axes]
    result = new_result((len(x), *lengths, x.shape[-1]), x.dtype)
    if not result.size:
        return result
    divisors: Array | None = None
    if is_mean and any(any(axis.pads) for axis in axes):
        # Long runs: as many numbers as there are channels.
        each = counts(axes).astype(x.dtype)[..., None]
        divisors = np.repeat(each, x.shape[-1], axis=-1)
    elif is_mean:
        divisors = np.array(math.prod(ksize), x.dtype)
    bytes_of_row = axes[0].stride * math.prod(x.shape[2:]) * x.itemsize
    parts = list(blocks(len(x), lengths[0], bytes_of_row, BLOCK))

    def fill_block(index: int) -> None:
        images, rows = parts[index]
        found = x[images]
        # The windows of these rows: the images begin further in front of them.
        before = axes[0].pads[0] - rows.start * axes[0].stride
        here = axes[0]._replace(pads=(before, 0), windows=rows.stop - rows.start)
        for number, axis in enumerate((here, *axes[1:]), 1):
            found = _along(ufunc, found, number, axis, fill)
        if divisors is None:
            result[images, rows] = found
        else:
            divisor = divisors[rows] if divisors.ndim else divisors
            np.divide(found, divisor, out=result[images, rows])

    share(fill_block, len(parts), allowed_threads() if x.size >= MANY else 1)
    return result


@lru_cache(maxsize=64)
def _inside(axis: Axis) -> list[tuple[slice, slice]]:
    """`Axis.inside` for each element of a window: many blocks have the same."""
    return [axis.inside(tap) for tap in range(axis.size)]


def _along(ufunc: np.ufunc, x: Array, number: int, axis: Axis, fill: Any) -> Array:
    """The windows along one axis, reduced."""
    # The axes behind are one to NumPy: long runs.
    flat = x.reshape(*x.shape[: number + 1], math.prod(x.shape[number + 1 :]))
    front = (slice(None),) * number
    is_same = axis.size == axis.stride == 1 and not axis.pads[0]
    if is_same and axis.windows == axis.length:
        return x
    parts = _inside(axis)
    all_windows = slice(0, axis.windows)
    target, source = parts[0]
    if all(windows == all_windows for windows, _ in parts[:2]) and axis.size > 1:
        found: Array = ufunc(flat[(*front, source)], flat[(*front, parts[1][1])])
        done = 2
    else:
        found = np.empty((*x.shape[:number], axis.windows, flat.shape[-1]), x.dtype)
        found[(*front, slice(0, target.start))] = fill
        found[(*front, slice(target.stop, None))] = fill
        found[(*front, target)] = flat[(*front, source)]
        done = 1
    for target, source in parts[done:]:
        view = found[(*front, target)]
        ufunc(view, flat[(*front, source)], out=view)
    return found.reshape(*found.shape[:-1], *x.shape[number + 1 :])


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
    mean = pooled(np.add, wide, 0, ksize, attrs, is_mean=True)
    return mean.astype(x.dtype, copy=False)


define("MaxPool", _max_pool, _infer_pool, takes="fiu", family="window")
define("MaxPool3D", _max_pool, _infer_pool, takes="f", family="window")
define("AvgPool", _avg_pool, _infer_pool, takes="f", family="window")
define("AvgPool3D", _avg_pool, _infer_pool, takes="f", family="window")


def _in_two_steps(op: str, x: Any, attrs: dict[str, Any]) -> Any:
    """Volumes pooled along the last two axes of space, then along the first."""
    for pooled_axes in ((2, 3), (1,)):
        own = dict(attrs)
        for key in {"ksize", "strides", "dilations"} & attrs.keys():
            values = enumerate(attrs[key])
            own[key] = tuple([n if axis in pooled_axes else 1 for axis, n in values])
        x = run(op, x, **own)
    return x


@decomposes("MaxPool3D")
def _max_pool_decomposed(x: Any, **attrs: Any) -> Any:
    return _in_two_steps("MaxPool", x, attrs)


@decomposes("AvgPool3D")
def _avg_pool_decomposed(x: Any, **attrs: Any) -> Any:
    # The mean is rounded to half precision once.
    wide = cast(x, dtypes.float32) if x.dtype is dtypes.float16 else x
    return cast(_in_two_steps("AvgPool", wide, attrs), x.dtype)


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


@differentiated_as("AvgPool", "AvgPool3D")
def _avg_pool_of_spots(x: Any, **attrs: Any) -> Any:
    spots = _spots(x, attrs, 0)
    if spots is None:
        return NotImplemented
    found = counts(axes_of(x.shape.as_list(), attrs["ksize"][1:-1], attrs))
    return tf.add_n(spots) / as_tensor(found[..., None].astype(x.dtype.np_dtype))


def _spots(x: Any, attrs: dict[str, Any], value: float) -> Any:
    """What each place of the window sees; None where too little is known."""
    dims = x.shape.as_list()
    if None in dims[1:-1]:
        return None
    axes = axes_of(dims, attrs["ksize"][1:-1], attrs)
    pads = [axis.pads for axis in axes]
    if any(map(any, pads)):
        x = tf.pad(x, [(0, 0), *pads, (0, 0)], constant_values=value)
    if all(axis.stride == axis.size and axis.apart == 1 for axis in axes):
        return _apart(x, axes)
    found = []
    for taps in product(*[range(axis.size) for axis in axes]):
        spots = [axis.at(tap) for axis, tap in zip(axes, taps)]
        key = (None, None, None), *[(at.start, at.stop, at.step) for at in spots]
        found.append(run("StridedSlice", x, key=tuple([Slice(*each) for each in key])))
    return found


def _apart(x: Any, axes: Sequence[Axis]) -> list[Any]:
    """The spots of windows that lie side by side and share no element.

    Their gradients are joined. Those of slices would be padded to the size of the whole
    batch, one for each spot, and added up.
    """
    inside = [axis.windows * axis.size for axis in axes]
    if inside != x.shape.as_list()[1:-1]:
        key = (slice(None), *[slice(length) for length in inside])
        x = x[key]
    number, channels = shape_of(x)[0], shape_of(x)[x.shape.rank - 1]
    split = [length for axis in axes for length in (axis.windows, axis.size)]
    parts = [tf.reshape(x, [number, *split, channels])]
    for place in range(2, 2 + len(axes)):
        parts = [spot for part in parts for spot in tf.unstack(part, axis=place)]
    return parts


# --- functions ------------------------------------------------------------------------


def _pool(
    kind: str,
    space: int | None,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
    dilations: Any = None,
) -> Any:
    x = as_tensor(input)
    if space is None:
        space = (x.shape.rank or 0) - 2
        if space not in (1, 2, 3):
            raise ValueError(
                "the input must have 3, 4 or 5 axes (number, space, channels), not the "
                f"shape {x.shape}"
            )
    first = channels_first(data_format, space)
    attrs = window_attributes(
        space, first, padding, dilations, ksize=ksize, strides=strides
    )
    if kind == "Avg" or space == 3:
        if attrs.pop("explicit_paddings"):
            raise ValueError(f"padding must be 'SAME' or 'VALID', not {padding!r}")
    if set(attrs["dilations"]) == {1}:
        del attrs["dilations"]
    op = f"{kind}Pool3D" if space == 3 else f"{kind}Pool"
    return slide(op, x, [], space, first, name, attrs)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """The largest element of each window of a batch of images (number, height, width,
    channels); `padding` as for `conv2d`.

    >>> image = [[[[1.0], [2.0]], [[3.0], [4.0]]]]
    >>> print(max_pool2d(image, ksize=2, strides=2, padding="VALID").numpy().ravel())
    [4.]
    """
    return _pool("Max", 2, input, ksize, strides, padding, data_format, name)


def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """The mean of each window of a batch of images; see `max_pool2d`.

    What ``'SAME'`` adds around the images does not count.

    >>> image = [[[[1.0], [2.0]], [[3.0], [4.0]]]]
    >>> print(avg_pool2d(image, ksize=2, strides=2, padding="VALID").numpy().ravel())
    [2.5]
    """
    return _pool("Avg", 2, input, ksize, strides, padding, data_format, name)


def _of_space(kind: str, space: int | None, batch: str) -> Callable[..., Any]:
    """The public function for so many spatial axes; None: as many as the batch has."""
    name = f"{kind.lower()}_pool{f'{space}d' if space else ''}"
    doc = f"As `{kind.lower()}_pool2d`, over a batch of {batch}."
    return like(max_pool2d, name, partial(_pool, kind, space), doc)


max_pool1d = _of_space("Max", 1, "rows (number, width, channels)")
max_pool3d = _of_space("Max", 3, "volumes (number, depth, height, width, channels)")
max_pool = _of_space("Max", None, "rows, images or volumes")
avg_pool1d = _of_space("Avg", 1, "rows (number, width, channels)")
avg_pool3d = _of_space("Avg", 3, "volumes (number, depth, height, width, channels)")
avg_pool = _of_space("Avg", None, "rows, images or volumes")


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
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be 'MAX' or 'AVG', not {pooling_type!r}")
    kind = pooling_type.capitalize()
    return _pool(
        kind, None, input, window_shape, strides, padding, data_format, name, dilations
    )


class MaxPoolWithArgmax(NamedTuple):
    """The largest element of each window, and where it is."""

    output: Any
    argmax: Any


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """As `max_pool2d`, with the place of each element in its image, as a flat index, or
    in the batch.

    >>> image = [[[[1.0], [4.0]], [[3.0], [2.0]]]]
    >>> max_pool_with_argmax(image, 2, 2, "VALID").argmax.numpy().ravel()
    array([1])
    """
    if data_format != "NHWC" or padding not in ("SAME", "VALID"):
        raise ValueError(
            "data_format must be 'NHWC' and padding 'SAME' or 'VALID', not "
            f"{data_format!r} and {padding!r}"
        )
    x = as_tensor(input)
    largest = max_pool2d(x, ksize, strides, padding, name=name)
    attrs = window_attributes(2, False, padding, None, ksize=ksize, strides=strides)
    number, height, width, channels = tf.unstack(tf.shape(x, dtypes.int64), 4)
    firsts, windows = [], x
    for axis, length in ((1, height), (2, width)):
        size, stride = attrs["ksize"][axis], attrs["strides"][axis]
        count = tf.shape(largest, dtypes.int64)[axis]
        missing = tf.maximum((count - 1) * stride + size - length, 0)
        first = tf.range(count) * stride - (missing // 2 if padding == "SAME" else 0)
        firsts.append(first[:, None])
        spots = firsts[-1] + tf.range(size, dtype=dtypes.int64)
        # What lies outside is the nearest element: the window has that, too.
        spots = tf.clip_by_value(spots, 0, length - 1)
        windows = tf.gather(windows, spots, axis=2 * axis - 1)
    # Now (number, row, row of the window, column, column of the window, channel).
    windows = tf.transpose(windows, [0, 1, 3, 5, 2, 4])
    flat = tf.concat([tf.shape(windows)[:4], [-1]], 0)
    best, across = tf.argmax(tf.reshape(windows, flat), -1), attrs["ksize"][2]
    row = tf.clip_by_value(firsts[0][:, None] + best // across, 0, height - 1)
    column = tf.clip_by_value(firsts[1] + best % across, 0, width - 1)
    place = (row * width + column) * channels + tf.range(channels)
    if include_batch_in_index:
        place += tf.range(number)[:, None, None, None] * height * width * channels
    return MaxPoolWithArgmax(largest, cast(place, output_dtype))
