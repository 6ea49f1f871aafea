"""Convolutions of batches of rows, images and volumes, by channel, and transposed.

Three ops go round: images `x` and filters `w` give a result `y`, filters and a result
give images, and images and a result give filters. Each is the gradient of the others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import Export, decomposes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import shape_argument, together
from runtime.ops.arrays.dimensions import length, lengths
from runtime.ops.convert import as_tensor
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.kernels.convolve import convolve, correlate_windows, spread
from runtime.ops.nn.windows import (
    axes_of,
    channels_first,
    dims_or_unknown,
    like,
    places,
    slide,
    window_attributes,
)
from runtime.ops.operands import define, run
from runtime.ops.shapes import Dims, dims_value, merge_dims, show, spec

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


def _check_gives(
    dims: Dims, window: Any, given: Dims, attrs: dict[str, Any], what: str
) -> None:
    """Raise InvalidArgumentError unless a convolution of one shape gives the other."""
    channels, (inside, outside) = dims[-1], window[-2:]
    fits = (
        channels in (None, inside) or inside is None or fit(channels, inside, outside)
    )
    try:
        merge_dims((dims[0], *places(dims, window[:-2], attrs), outside), given)
    except ValueError:
        fits = False
    if not fits:
        raise InvalidArgumentError(
            f"a convolution of a tensor of shape {show(dims)} with filters of shape "
            f"{show(window)} does not give the shape of {what}, {show(given)}"
        )


def _infer_back(
    filters: TensorSpec, y: TensorSpec, *, input_sizes: Any, **attrs: Any
) -> TensorSpec:
    rank = len(attrs["strides"])
    dims = dims_or_unknown(y, rank, "the input")
    window = dims_or_unknown(filters, rank, "the filters")
    target = dims_value(input_sizes)
    if target is None:
        target = (None,) * rank
    target = dims_or_unknown(spec(target, y.dtype), rank, "output_shape")
    if dims[-1] is not None and window[-1] not in (dims[-1], None):
        raise InvalidArgumentError(
            f"the input {show(dims)} has {dims[-1]} channels, and the filters "
            f"{show(window)} are for {window[-1]}"
        )
    _check_gives(target, window, dims, attrs, "the input")
    return spec(target, y.dtype)


def _infer_filters(
    x: TensorSpec, y: TensorSpec, *, filter_sizes: Any, **attrs: Any
) -> TensorSpec:
    rank = len(attrs["strides"])
    dims = dims_or_unknown(x, rank, "the input")
    given = dims_or_unknown(y, rank, "the gradient")
    _check_gives(dims, filter_sizes, given, attrs, "its gradient")
    return spec(tuple(filter_sizes), y.dtype)


# --- kernels --------------------------------------------------------------------------


def _convolution(
    x: Array, filters: Array, *bias: Array, relu: bool = False, **attrs: Any
) -> Array:
    rank = len(attrs["strides"])
    *sizes, inside, outside = filters.shape
    if x.ndim != rank or filters.ndim != rank or not fit(x.shape[-1], inside, outside):
        raise ValueError
    axes = axes_of(x.shape, sizes, attrs)
    return convolve(x, filters, axes, bias[0] if bias else None, relu)


def _depthwise(x: Array, filters: Array, **attrs: Any) -> Array:
    if x.ndim != 4 or filters.ndim != 4 or x.shape[-1] != filters.shape[2]:
        raise ValueError
    *sizes, channels, times = filters.shape
    filters = filters.reshape(*sizes, 1, channels * times)
    return convolve(x, filters, axes_of(x.shape, sizes, attrs), by_channel=True)


def _back(filters: Array, y: Array, *, input_sizes: Any, **attrs: Any) -> Array:
    # It has no other use for the specs than to say what does not fit.
    specs = TensorSpec(filters.shape), TensorSpec(y.shape)
    _infer_back(*specs, input_sizes=input_sizes, **attrs)
    groups = max(input_sizes[-1] // max(filters.shape[-2], 1), 1)
    return spread(y, filters, axes_of(input_sizes, filters.shape[:-2], attrs), groups)


def _filters(x: Array, y: Array, *, filter_sizes: Any, **attrs: Any) -> Array:
    specs = TensorSpec(x.shape), TensorSpec(y.shape)
    _infer_filters(*specs, filter_sizes=filter_sizes, **attrs)
    groups = max(x.shape[-1] // max(filter_sizes[-2], 1), 1)
    return correlate_windows(x, y, axes_of(x.shape, filter_sizes[:-2], attrs), groups)


# --- ops ------------------------------------------------------------------------------

#: What gives images, filters and results: the primitive, and its names in TensorFlow.
_OPS = {
    "x": ("ConvolutionBackpropInput", "Conv2DBackpropInput", "Conv3DBackpropInputV2"),
    "w": (
        *("ConvolutionBackpropFilter", "Conv2DBackpropFilter"),
        "Conv3DBackpropFilterV2",
    ),
    "y": ("Convolution", "Conv2D", "Conv3D"),
}
#: What each is given.
_OPERANDS = {"x": "wy", "w": "xy", "y": "xw"}
_KERNELS: Any = {
    "x": (_back, _infer_back, ((0, "input_sizes", "input_sizes"),)),
    "w": (_filters, _infer_filters, ((1, "filter_sizes", "filter_sizes"),)),
    "y": (_convolution, _infer_convolution, ()),
}


def _give(what: str, rank: int, values: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """Images, filters or a result in place of what `values` has, from the others."""
    if what == "x":
        dims = shape_of(values["x"])
        attrs = {"input_sizes": tuple([dims[axis] for axis in range(rank)]), **attrs}
    elif what == "w":
        attrs = {"filter_sizes": tuple(values["w"].shape.as_list()), **attrs}
    operands = [values[each] for each in _OPERANDS[what]]
    return run(_OPS[what][rank - 3], *operands, **attrs)


def _gradient(given: str, node: Applied, g: Any) -> Any:
    """The gradients of what gives `given`: images, filters or a result."""
    operands = _OPERANDS[given]
    values = {**dict(zip(operands, node.inputs)), given: g}
    if given != "w" and not values["w"].shape.is_fully_defined():
        return NotImplemented
    sizes = ("input_sizes", "filter_sizes")
    attrs = {key: value for key, value in node.attrs.items() if key not in sizes}
    return [
        _give(what, len(attrs["strides"]), values, attrs) if is_wanted else None
        for what, is_wanted in zip(operands, node.wanted)
    ]


for _given, (_primitive, *_names) in _OPS.items():
    _kernel, _infer, _inputs = _KERNELS[_given]
    for _name in (_primitive, *_names):
        _facts: Any = {"family": "window", "export": Export(inputs=_inputs)}
        define(_name, _kernel, _infer, takes="f", **_facts)
        gradient(_name)(partial(_gradient, _given))
    for _name in _names:
        decomposes(_name)(partial(run, _primitive))

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


define(
    "DepthwiseConv2dNative", _depthwise, _infer_depthwise, takes="f", family="window"
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
    by_x, by_filters = _gradient("y", node._replace(inputs=(x, grouped)), g)
    if by_filters is not None:
        by_filters = tf.reshape(by_filters, filters.shape)
    return [by_x, by_filters]


# --- functions ------------------------------------------------------------------------


def _convolve(
    space: int,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
    op: str = "",
) -> Any:
    first = channels_first(data_format, space)
    op = op or _OPS["y"][max(space - 1, 1)]
    attrs = window_attributes(space, first, padding, dilations, strides=strides)
    x, windows = together((input, filters), op, name)
    return slide(op, x, [windows], space, first, name, attrs)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
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


conv3d = like(
    conv2d,
    "conv3d",
    partial(_convolve, 3),
    "As `conv2d`, over a batch of volumes (number, depth, height, width, channels).",
)


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str | None = None,
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
    return conv2d(found, pointwise_filter, 1, "VALID", data_format, name=name)


# --- transposed -----------------------------------------------------------------------


def _transposed(
    space: int,
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    first = channels_first(data_format, space)
    op = _OPS["x"][max(space - 1, 1)]
    shape = shape_argument(output_shape, "output_shape")
    if (first or space == 1) and not isinstance(shape, tuple):
        raise ValueError("output_shape must be a list for rows and for 'NC...'")
    if first:
        shape = (shape[0], *shape[2:], shape[1])
    if space == 1:
        shape = (shape[0], 1, *shape[1:])
    attrs = window_attributes(space, first, padding, dilations, strides=strides)
    x, windows = together((input, filters), op, name)
    attrs = {"input_sizes": shape, **attrs}
    return slide(op, x, [windows], space, first, name, attrs)


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of `conv2d`: what turns a gradient of its result into one of its
    input, which has `output_shape`. The filters are (height, width, out, in).

    >>> pixels, ones = [[[[1.0], [2.0]]]], [[[[1.0]], [[1.0]]]]
    >>> result = conv2d_transpose(pixels, ones, [1, 1, 4, 1], strides=[1, 2])
    >>> print(result.numpy().ravel())
    [1. 1. 2. 2.]
    """
    return _transposed(
        2, input, filters, output_shape, strides, padding, data_format, dilations, name
    )


conv3d_transpose = like(
    conv2d_transpose,
    "conv3d_transpose",
    partial(_transposed, 3),
    "The transpose of `conv3d`; see `conv2d_transpose`.",
)
conv1d_transpose = like(
    conv2d_transpose,
    "conv1d_transpose",
    partial(_transposed, 1),
    "The transpose of `conv1d`; see `conv2d_transpose`.",
)
