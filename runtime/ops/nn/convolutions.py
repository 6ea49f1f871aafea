"""Convolutions: of batches of rows, images and volumes, and by channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import decomposes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import together
from runtime.ops.arrays.dimensions import length, lengths
from runtime.ops.convert import as_tensor
from runtime.ops.define import define, run
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.kernels.convolve import After, convolve
from runtime.ops.nn.windows import (
    axes_of,
    channels_first,
    dims_or_unknown,
    places,
    slide,
    window_attributes,
)
from runtime.ops.shapes import show, spec

Array = np.ndarray[Any, Any]

# --- rules ----------------------------------------------------------------------------


def fit(channels: int, inside: int, outside: int | None) -> bool:
    """Whether filters for `inside` channels can be shared out among the channels."""
    if not channels or not inside or channels % inside:
        return False
    return outside is None or outside % (channels // inside) == 0


def _infer_convolution(
    x: TensorSpec, filters: TensorSpec, *bias: TensorSpec, **attrs: Any
) -> TensorSpec:
    rank = len(attrs["strides"])
    dims = dims_or_unknown(x, rank, "the input")
    window = dims_or_unknown(filters, rank, "the filters")
    channels, (inside, outside) = dims[-1], window[-2:]
    if channels is not None and inside is not None:
        if not fit(channels, inside, outside):
            raise InvalidArgumentError(
                f"the input {show(dims)} has {channels} channels, and the filters "
                f"{show(window)} take {inside}: they must be as many, or groups of "
                "that many, with as many filters for each"
            )
    return spec((dims[0], *places(dims, window[:-2], attrs), outside), x.dtype)


def _infer_depthwise(x: TensorSpec, filters: TensorSpec, **attrs: Any) -> TensorSpec:
    dims = dims_or_unknown(x, 4, "the input")
    window = dims_or_unknown(filters, 4, "the filters")
    channels, (inside, times) = dims[-1], window[-2:]
    if channels is None:
        channels = inside
    elif inside is not None and channels != inside:
        raise InvalidArgumentError(
            f"the input {show(dims)} has {channels} channels, and the filters "
            f"{show(window)} are for {inside}"
        )
    outside = None if channels is None or times is None else channels * times
    return spec((dims[0], *places(dims, window[:-2], attrs), outside), x.dtype)


# --- kernels --------------------------------------------------------------------------


def _convolution(
    x: Array,
    filters: Array,
    *bias: Array,
    relu: bool = False,
    **attrs: Any,
) -> Array:
    rank = len(attrs["strides"])
    *sizes, inside, outside = filters.shape
    if x.ndim != rank or filters.ndim != rank or not fit(x.shape[-1], inside, outside):
        raise ValueError
    after = After(bias[0] if bias else None, relu)
    return convolve(x, filters, axes_of(x.shape, sizes, attrs), after)


def _depthwise(x: Array, filters: Array, **attrs: Any) -> Array:
    if x.ndim != 4 or filters.ndim != 4 or x.shape[-1] != filters.shape[2]:
        raise ValueError
    *sizes, channels, times = filters.shape
    filters = filters.reshape(*sizes, 1, channels * times)
    return convolve(x, filters, axes_of(x.shape, sizes, attrs), by_channel=True)


for _name in ("Conv2D", "Conv3D"):
    define(_name, _convolution, _infer_convolution, takes="f", family="window")
# Made by the optimiser: a convolution, a vector that is added, and `relu`.
define("FusedConv2D", _convolution, _infer_convolution, takes="f", family="window")


@decomposes("FusedConv2D")
def _fused_convolution_decomposed(
    x: Any, filters: Any, *bias: Any, relu: bool, **attrs: Any
) -> Any:
    found = run("Conv2D", x, filters, **attrs)
    if bias:
        found = found + bias[0]
    return tf.relu(found) if relu else found


@gradient("Conv2D", "Conv3D")
def _convolution_gradient(node: Applied, g: Any) -> Any:
    x, filters = node.inputs
    if not filters.shape.is_fully_defined():
        return NotImplemented
    return [
        input_gradient(node.attrs, x, g, filters) if node.wanted[0] else None,
        filters_gradient(node.attrs, x, g, filters) if node.wanted[1] else None,
    ]


def input_gradient(attrs: dict[str, Any], x: Any, g: Any, filters: Any) -> Any:
    """The gradient of the input, from the filters and the gradient of the result."""
    rank = len(attrs["strides"])
    op = "Conv2DBackpropInput" if rank == 4 else "Conv3DBackpropInputV2"
    whole = shape_of(x)
    dims = tuple(whole[place] for place in range(rank))
    return run(op, filters, g, input_sizes=dims, **attrs)


def filters_gradient(attrs: dict[str, Any], x: Any, g: Any, filters: Any) -> Any:
    """The gradient of the filters, from the input and the gradient of the result."""
    sizes = tuple(filters.shape.as_list())
    op = "Conv2DBackpropFilter" if len(sizes) == 4 else "Conv3DBackpropFilterV2"
    return run(op, x, g, filter_sizes=sizes, **attrs)


define(
    "DepthwiseConv2dNative", _depthwise, _infer_depthwise, takes="f", family="window"
)

# --- functions ------------------------------------------------------------------------


def _convolve(
    space: int,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    name: str | None,
    op: str = "",
) -> Any:
    first = channels_first(data_format, space)
    op = op or f"Conv{max(space, 2)}D"
    attrs = window_attributes(space, first, padding, dilations, strides=strides)
    x, windows = together((input, filters), op, name)
    return slide(op, x, [windows], space, first, name, attrs)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The products of filters (height, width, in, out) with the windows of a batch of
    images (number, height, width, channels).

    `padding` is ``'VALID'`` (windows lie inside), ``'SAME'`` (as many windows as
    elements, divided by the stride) or one pair (before, after) for each axis. The
    channels may be several groups of `in`, for each of which there are as many filters.

    >>> image = [[[[1.0], [2.0]], [[3.0], [4.0]]]]
    >>> ones = [[[[1.0]], [[1.0]]], [[[1.0]], [[1.0]]]]
    >>> print(conv2d(image, ones, strides=1, padding="VALID"))
    tf.Tensor([[[[10.]]]], shape=(1, 1, 1, 1), dtype=float32)
    """
    return _convolve(2, input, filters, strides, padding, data_format, dilations, name)


def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """As `conv2d`, over a batch of volumes (number, depth, height, width, channels)."""
    return _convolve(3, input, filters, strides, padding, data_format, dilations, name)


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """As `conv2d`, over a batch of rows (number, width, channels).

    >>> row = [[[1.0], [2.0], [4.0]]]
    >>> print(conv1d(row, [[[1.0]], [[-1.0]]], stride=1, padding="VALID").numpy()[0])
    [[-1.]
     [-2.]]
    """
    return _convolve(1, input, filters, stride, padding, data_format, dilations, name)


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """`conv1d`, `conv2d` or `conv3d`, by the number of axes of the filters."""
    windows = as_tensor(filters)
    space = (windows.shape.rank or 0) - 2
    if space not in (1, 2, 3):
        raise ValueError(f"filters must have 3, 4 or 5 axes, not {windows.shape}")
    return _convolve(
        space, input, windows, strides, padding, data_format, dilations, name
    )


def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: Any, name: str | None = None
) -> Any:
    """`conv2d` with windows whose elements lie `rate` apart."""
    return conv2d(value, filters, 1, padding, dilations=rate, name=name)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The products of filters (height, width, channels, n) with the windows of each
    channel alone, which gives n channels for each.

    >>> pixels, factors = [[[[1.0, 2.0]]]], [[[[10.0], [100.0]]]]
    >>> print(depthwise_conv2d(pixels, factors, [1, 1, 1, 1], "VALID").numpy())
    [[[[ 10. 200.]]]]
    """
    op = "DepthwiseConv2dNative"
    return _convolve(
        2, input, filter, strides, padding, data_format, dilations, name, op
    )


@decomposes("DepthwiseConv2dNative")
def _depthwise_decomposed(x: Any, filters: Any, **attrs: Any) -> Any:
    if x.shape.rank is None or filters.shape.rank is None:
        return NotImplemented
    # Each channel is a group of its own. It is the number of them in the images that
    # the filters have to have.
    *sizes, _, times = lengths(filters)
    filters = tf.reshape(filters, [*sizes, 1, length(x, 3) * times])
    return run("Conv2D", x, filters, **attrs)


@gradient("DepthwiseConv2dNative")
def _depthwise_gradient(node: Applied, g: Any) -> Any:
    x, filters = node.inputs
    if not filters.shape.is_fully_defined():
        return NotImplemented
    # Each channel is a group of its own.
    *sizes, channels, times = filters.shape.as_list()
    grouped = tf.reshape(filters, [*sizes, 1, channels * times])
    by_x = by_filters = None
    if node.wanted[0]:
        by_x = input_gradient(node.attrs, x, g, grouped)
    if node.wanted[1]:
        found = filters_gradient(node.attrs, x, g, grouped)
        by_filters = tf.reshape(found, filters.shape)
    return [by_x, by_filters]


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """A `depthwise_conv2d`, and then a `conv2d` of windows of one element."""
    found = depthwise_conv2d(
        input, depthwise_filter, strides, padding, data_format, dilations
    )
    return conv2d(found, pointwise_filter, 1, "VALID", data_format or "NHWC", name=name)
