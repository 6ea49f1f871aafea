"""Convolutions the other way: each element spreads over a window.

The input has groups of channels where it has more of them than the filters take.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import Export
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import shape_argument, together
from runtime.ops.arrays.shape import expand_dims, squeeze
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.kernels.convolve import correlate_windows, spread
from runtime.ops.nn.convolutions import check_groups, filters_gradient, input_gradient
from runtime.ops.nn.windows import (
    channels_first,
    dims_or_unknown,
    from_channels_last,
    padding_of_row,
    paddings,
    per_axis,
    places,
    to_channels_last,
    window_attributes,
)
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_value, merge_dims, show, spec

Array = np.ndarray[Any, Any]


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
    try:
        wanted = (target[0], *places(target, window[:-2], attrs), window[-1])
        merge_dims(wanted, dims)
        check_groups(target[-1], *window[-2:])
    except ValueError:
        raise InvalidArgumentError(
            f"a convolution of a tensor of shape {show(target)} with the filters "
            f"{show(window)} does not give the shape of the input, {show(dims)}"
        ) from None
    return spec(target, y.dtype)


def _back(filters: Array, y: Array, *, input_sizes: Any, **attrs: Any) -> Array:
    # It has no other use for the specs than to say what does not fit.
    _infer_back(
        TensorSpec(filters.shape), TensorSpec(y.shape), input_sizes=input_sizes, **attrs
    )
    pads = paddings(input_sizes, filters.shape[:-2], attrs)
    steps, dilations = attrs["strides"][1:-1], attrs["dilations"][1:-1]
    groups = max(input_sizes[-1] // max(filters.shape[-2], 1), 1)
    return spread(y, filters, input_sizes[1:-1], steps, pads, dilations, groups)


define(
    "Conv2DBackpropInput",
    _back,
    _infer_back,
    takes="f",
    family="window",
    export=Export(inputs=((0, "input_sizes", "input_sizes"),)),
)
define(
    "Conv3DBackpropInputV2",
    _back,
    _infer_back,
    takes="f",
    family="window",
    export=Export(inputs=((0, "input_sizes", "input_sizes"),)),
)


# --- The gradient of the filters


def _infer_filters(
    x: TensorSpec, y: TensorSpec, *, filter_sizes: Any, **attrs: Any
) -> TensorSpec:
    rank = len(attrs["strides"])
    dims = dims_or_unknown(x, rank, "the input")
    given = dims_or_unknown(y, rank, "the gradient")
    *sizes, inside, outside = filter_sizes
    try:
        wanted = (dims[0], *places(dims, tuple(sizes), attrs), outside)
        merge_dims(wanted, given)
        check_groups(dims[-1], inside, outside)
    except ValueError:
        raise InvalidArgumentError(
            f"a convolution of a tensor of shape {show(dims)} with filters of shape "
            f"{show(filter_sizes)} does not give the shape of its gradient, "
            f"{show(given)}"
        ) from None
    return spec(tuple(filter_sizes), y.dtype)


def _filters(x: Array, y: Array, *, filter_sizes: Any, **attrs: Any) -> Array:
    _infer_filters(
        TensorSpec(x.shape), TensorSpec(y.shape), filter_sizes=filter_sizes, **attrs
    )
    sizes = filter_sizes[:-2]
    pads = paddings(x.shape, sizes, attrs)
    steps, dilations = attrs["strides"][1:-1], attrs["dilations"][1:-1]
    groups = max(x.shape[-1] // max(filter_sizes[-2], 1), 1)
    return correlate_windows(x, y, sizes, steps, pads, dilations, groups)


for _name in ("Conv2DBackpropFilter", "Conv3DBackpropFilterV2"):
    define(
        _name,
        _filters,
        _infer_filters,
        takes="f",
        family="window",
        export=Export(inputs=((1, "filter_sizes", "filter_sizes"),)),
    )


@gradient("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _filters_back_gradient(node: Applied, g: Any) -> Any:
    x, y = node.inputs
    attrs = {key: value for key, value in node.attrs.items() if key != "filter_sizes"}
    return [
        input_gradient(attrs, x, y, g) if node.wanted[0] else None,
        _convolve_again(attrs, x, g) if node.wanted[1] else None,
    ]


# --- what users call


def _transposed(
    space: int,
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    first: bool,
    dilations: Any,
    name: str | None,
) -> Any:
    op = "Conv2DBackpropInput" if space == 2 else "Conv3DBackpropInputV2"
    attrs = window_attributes(space, strides, padding, dilations, first)
    x, windows = together((input, filters), op, name)
    found = run(
        op,
        windows,
        to_channels_last(x, space, first),
        input_sizes=_channels_last(shape_argument(output_shape, "output_shape"), first),
        name=None if first else name,
        **attrs,
    )
    return from_channels_last(found, space, first, name)


@gradient("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _convolution_back_gradient(node: Applied, g: Any) -> Any:
    filters, y = node.inputs
    if not filters.shape.is_fully_defined():
        return NotImplemented
    attrs = {key: value for key, value in node.attrs.items() if key != "input_sizes"}
    return [
        filters_gradient(attrs, g, y, filters) if node.wanted[0] else None,
        _convolve_again(attrs, g, filters) if node.wanted[1] else None,
    ]


def _convolve_again(attrs: dict[str, Any], x: Any, filters: Any) -> Any:
    """The convolution that an op is a gradient of."""
    op = "Conv2D" if len(attrs["strides"]) == 4 else "Conv3D"
    return run(op, x, filters, **attrs)


def _channels_last(shape: Any, first: bool) -> Any:
    if not first:
        return shape
    if not isinstance(shape, tuple):
        raise ValueError(
            "output_shape must be a list where the channels are the second axis"
        )
    return (shape[0], *shape[2:], shape[1])


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
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
    first = channels_first(data_format, 2)
    return _transposed(
        2, input, filters, output_shape, strides, padding, first, dilations, name
    )


def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of `conv3d`; see `conv2d_transpose`."""
    first = channels_first(data_format, 3)
    return _transposed(
        3, input, filters, output_shape, strides, padding, first, dilations, name
    )


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of `conv1d`; see `conv2d_transpose`."""
    first = channels_first(data_format, 1)
    shape = _channels_last(shape_argument(output_shape, "output_shape"), first)
    if not isinstance(shape, tuple):
        raise ValueError("output_shape must be a list of three lengths")
    x, windows = together((input, filters), "Conv2DBackpropInput", name)
    found = _transposed(
        2,
        expand_dims(to_channels_last(x, 1, first), 1),
        expand_dims(windows, 0),
        (shape[0], 1, *shape[1:]),
        (1, *per_axis(strides, 1, "strides", first)),
        padding_of_row(padding, first),
        False,
        (1, *per_axis(1 if dilations is None else dilations, 1, "dilations", first)),
        None,
    )
    found = squeeze(found, [1], name=None if first else name)
    return from_channels_last(found, 1, first, name)
