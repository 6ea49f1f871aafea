"""Gradients of ops of neural networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from runtime.gradients.registry import Applied, differentiated_as, gradient
from runtime.gradients.shapes import shape_of
from runtime.ops.arrays.creation import eye, ones
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.joining import concat, split, stack
from runtime.ops.arrays.rearrange import pad
from runtime.ops.arrays.shape import expand_dims, reshape
from runtime.ops.define import Slice, run
from runtime.ops.elementwise.functions import add_n, exp
from runtime.ops.nn.windows import paddings
from runtime.ops.reduce.reductions import reduce_sum

__all__: list[str] = []


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
    *sizes, inside, _ = filters.shape.as_list()
    groups = 1 if x.shape[-1] is None else x.shape[-1] // inside
    by_x = by_filters = None
    if node.wanted[0]:
        op = "Conv2DBackpropInput" if len(sizes) == 2 else "Conv3DBackpropInputV2"
        whole = shape_of(x)
        parts = zip(_parts(filters, groups), _parts(g, groups))
        dims = [*(whole[place] for place in range(len(sizes) + 1)), inside]
        found = [
            run(op, part, gradient, input_sizes=tuple(dims), **node.attrs)
            for part, gradient in parts
        ]
        by_x = found[0] if groups == 1 else concat(found, -1)
    if node.wanted[1]:
        by_filters = _by_filters(node.attrs, x, g, filters, groups)
    return [by_x, by_filters]


@gradient("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _convolution_back(node: Applied, g: Any) -> Any:
    filters, y = node.inputs
    if not filters.shape.is_fully_defined():
        return NotImplemented
    attrs = {key: value for key, value in node.attrs.items() if key != "input_sizes"}
    by_filters = by_y = None
    if node.wanted[0]:
        by_filters = _by_filters(attrs, g, y, filters, 1)
    if node.wanted[1]:
        by_y = run("Conv2D" if len(g.shape) == 4 else "Conv3D", g, filters, **attrs)
    return [by_filters, by_y]


@gradient("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _filters_back(node: Applied, g: Any) -> Any:
    x, y = node.inputs
    attrs = {key: value for key, value in node.attrs.items() if key != "filter_sizes"}
    by_x = by_y = None
    if node.wanted[0]:
        op = "Conv2DBackpropInput" if len(g.shape) == 4 else "Conv3DBackpropInputV2"
        whole = shape_of(x)
        dims = tuple(whole[place] for place in range(len(g.shape)))
        by_x = run(op, g, y, input_sizes=dims, **attrs)
    if node.wanted[1]:
        by_y = run("Conv2D" if len(g.shape) == 4 else "Conv3D", x, g, **attrs)
    return [by_x, by_y]


def _parts(x: Any, groups: int) -> list[Any]:
    return [x] if groups == 1 else list(split(x, groups, -1))


def _by_filters(
    attrs: dict[str, Any], x: Any, g: Any, filters: Any, groups: int
) -> Any:
    """The gradient of the filters, from the input and the gradient of the result."""
    *sizes, outside = filters.shape.as_list()
    op = "Conv2DBackpropFilter" if len(sizes) == 3 else "Conv3DBackpropFilterV2"
    found = [
        run(op, part, given, filter_sizes=(*sizes, outside // groups), **attrs)
        for part, given in zip(_parts(x, groups), _parts(g, groups))
    ]
    return found[0] if groups == 1 else concat(found, -1)


@gradient("DepthwiseConv2dNative")
def _depthwise(node: Applied, g: Any) -> Any:
    x, filters = node.inputs
    if not (filters.shape.is_fully_defined() and None not in g.shape[1:].as_list()):
        return NotImplemented
    *sizes, channels, times = filters.shape.as_list()
    by_x = by_filters = None
    if node.wanted[0]:
        # As a convolution whose filters are zero between different channels.
        spread = expand_dims(filters, -2) * reshape(
            eye(channels, dtype=x.dtype), [1, 1, channels, channels, 1]
        )
        full = reshape(spread, [*sizes, channels, channels * times])
        dims = tuple(shape_of(x)[place] for place in range(4))
        by_x = run("Conv2DBackpropInput", full, g, input_sizes=dims, **node.attrs)
    if node.wanted[1]:
        pads = _window(x, node.attrs, sizes)
        if pads is None:
            return NotImplemented
        places = g.shape.as_list()[1:-1]
        given = reshape(g, [-1, *places, channels, times])
        found = [
            reduce_sum(expand_dims(tap, -1) * given, [0, 1, 2])
            for tap in _taps(node.attrs, _padded(x, pads), sizes, places)
        ]
        by_filters = reshape(stack(found), filters.shape)
    return [by_x, by_filters]


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
    return list(_taps(attrs, _padded(x, pads, value), sizes, places))


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
