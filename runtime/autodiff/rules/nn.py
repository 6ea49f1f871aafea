"""Gradients of ops of neural networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from runtime.ops.arrays.creation import ones
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.joining import unstack
from runtime.ops.arrays.rearrange import pad
from runtime.ops.arrays.shape import reshape
from runtime.ops.define import Slice, run
from runtime.ops.derivatives import Applied, differentiated_as, gradient
from runtime.ops.elementwise.functions import add_n, exp
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.nn.windows import paddings
from runtime.ops.reduce.reductions import reduce_sum


@gradient("Softmax")
def _softmax(node: Applied, g: Any) -> Any:
    y, axis = node.outputs[0], node.attrs["axis"]
    return [(g - reduce_sum(g * y, axis, keepdims=True)) * y]


@gradient("LogSoftmax")
def _log_softmax(node: Applied, g: Any) -> Any:
    axis = node.attrs["axis"]
    return [g - exp(node.outputs[0]) * reduce_sum(g, axis, keepdims=True)]


# --- windows --------------------------------------------------------------------------


def _window(x: Any, attrs: dict[str, Any], sizes: Sequence[int]) -> Any:
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
    return pad(x, [(0, 0), *pads, (0, 0)], constant_values=value)


@gradient("Conv2D", "Conv3D")
def _convolution(node: Applied, g: Any) -> Any:
    x, filters = node.inputs
    if not filters.shape.is_fully_defined():
        return NotImplemented
    by_x = by_filters = None
    if node.wanted[0]:
        by_x = _by_input(node.attrs, x, g, filters)
    if node.wanted[1]:
        by_filters = _by_filters(node.attrs, x, g, filters)
    return [by_x, by_filters]


@gradient("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _convolution_back(node: Applied, g: Any) -> Any:
    filters, y = node.inputs
    if not filters.shape.is_fully_defined():
        return NotImplemented
    attrs = {key: value for key, value in node.attrs.items() if key != "input_sizes"}
    by_filters = by_y = None
    if node.wanted[0]:
        by_filters = _by_filters(attrs, g, y, filters)
    if node.wanted[1]:
        by_y = _again(attrs, g, filters)
    return [by_filters, by_y]


@gradient("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _filters_back(node: Applied, g: Any) -> Any:
    x, y = node.inputs
    attrs = {key: value for key, value in node.attrs.items() if key != "filter_sizes"}
    by_x = by_y = None
    if node.wanted[0]:
        by_x = _by_input(attrs, x, y, g)
    if node.wanted[1]:
        by_y = _again(attrs, x, g)
    return [by_x, by_y]


@gradient("DepthwiseConv2dNative")
def _depthwise(node: Applied, g: Any) -> Any:
    x, filters = node.inputs
    if not filters.shape.is_fully_defined():
        return NotImplemented
    # Each channel is a group of its own.
    *sizes, channels, times = filters.shape.as_list()
    grouped = reshape(filters, [*sizes, 1, channels * times])
    by_x = by_filters = None
    if node.wanted[0]:
        by_x = _by_input(node.attrs, x, g, grouped)
    if node.wanted[1]:
        found = _by_filters(node.attrs, x, g, grouped)
        by_filters = reshape(found, filters.shape)
    return [by_x, by_filters]


def _again(attrs: dict[str, Any], x: Any, filters: Any) -> Any:
    """The convolution that an op is a gradient of."""
    op = "Conv2D" if len(attrs["strides"]) == 4 else "Conv3D"
    return run(op, x, filters, **attrs)


def _by_input(attrs: dict[str, Any], x: Any, g: Any, filters: Any) -> Any:
    """The gradient of the input, from the filters and the gradient of the result."""
    rank = len(attrs["strides"])
    op = "Conv2DBackpropInput" if rank == 4 else "Conv3DBackpropInputV2"
    whole = shape_of(x)
    dims = tuple(whole[place] for place in range(rank))
    return run(op, filters, g, input_sizes=dims, **attrs)


def _by_filters(attrs: dict[str, Any], x: Any, g: Any, filters: Any) -> Any:
    """The gradient of the filters, from the input and the gradient of the result."""
    sizes = tuple(filters.shape.as_list())
    op = "Conv2DBackpropFilter" if len(sizes) == 4 else "Conv3DBackpropFilterV2"
    return run(op, x, g, filter_sizes=sizes, **attrs)


# --- pools ----------------------------------------------------------------------------


def _spots(x: Any, attrs: dict[str, Any], value: float) -> Any:
    """What each place of the window sees; None where too little is known."""
    sizes = list(attrs["ksize"][1:-1])
    pads = _window(x, attrs, sizes)
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
    parts = [reshape(x, [number, *axes, channels])]
    for axis in range(2, 2 + len(sizes)):
        parts = [spot for part in parts for spot in unstack(part, axis=axis)]
    return parts


@differentiated_as("MaxPool", "MaxPool3D")
def _max_pool(x: Any, **attrs: Any) -> Any:
    spots = _spots(x, attrs, x.dtype.min)
    if spots is None:
        return NotImplemented
    best, *others = spots
    for spot in others:
        # The first of equal ones has the gradient.
        best = where(spot > best, spot, best)
    return best


@differentiated_as("AvgPool", "AvgPool3D")
def _avg_pool(x: Any, **attrs: Any) -> Any:
    spots = _spots(x, attrs, 0)
    if spots is None:
        return NotImplemented
    counted = ones([1, *x.shape.as_list()[1:-1], 1], x.dtype)
    return add_n(spots) / add_n(_spots(counted, attrs, 0))
