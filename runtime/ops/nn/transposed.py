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
from runtime.ops.define import define, run
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.kernels.convolve import correlate_windows, spread
from runtime.ops.nn.convolutions import filters_gradient, fit, input_gradient
from runtime.ops.nn.windows import (
    axes_of,
    channels_first,
    dims_or_unknown,
    places,
    slide,
    window_attributes,
)
from runtime.ops.shapes import Dims, dims_value, merge_dims, show, spec

Array = np.ndarray[Any, Any]


def _check_fits(dims: Dims, window: Any, given: Dims, attrs: dict[str, Any]) -> None:
    """Raise ValueError unless a convolution of one shape gives the other one."""
    channels, (inside, outside) = dims[-1], window[-2:]
    merge_dims((dims[0], *places(dims, window[:-2], attrs), outside), given)
    if channels is not None and inside is not None and channels != inside:
        if not fit(channels, inside, outside):
            raise ValueError


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
        _check_fits(target, window, dims, attrs)
    except ValueError:
        raise InvalidArgumentError(
            f"a convolution of a tensor of shape {show(target)} with the filters "
            f"{show(window)} does not give the shape of the input, {show(dims)}"
        ) from None
    return spec(target, y.dtype)


def _back(filters: Array, y: Array, *, input_sizes: Any, **attrs: Any) -> Array:
    # It has no other use for the specs than to say what does not fit.
    specs = TensorSpec(filters.shape), TensorSpec(y.shape)
    _infer_back(*specs, input_sizes=input_sizes, **attrs)
    groups = max(input_sizes[-1] // max(filters.shape[-2], 1), 1)
    return spread(y, filters, axes_of(input_sizes, filters.shape[:-2], attrs), groups)


def _infer_filters(
    x: TensorSpec, y: TensorSpec, *, filter_sizes: Any, **attrs: Any
) -> TensorSpec:
    rank = len(attrs["strides"])
    dims = dims_or_unknown(x, rank, "the input")
    given = dims_or_unknown(y, rank, "the gradient")
    try:
        _check_fits(dims, filter_sizes, given, attrs)
    except ValueError:
        raise InvalidArgumentError(
            f"a convolution of a tensor of shape {show(dims)} with filters of shape "
            f"{show(filter_sizes)} does not give the shape of its gradient, "
            f"{show(given)}"
        ) from None
    return spec(tuple(filter_sizes), y.dtype)


def _filters(x: Array, y: Array, *, filter_sizes: Any, **attrs: Any) -> Array:
    specs = TensorSpec(x.shape), TensorSpec(y.shape)
    _infer_filters(*specs, filter_sizes=filter_sizes, **attrs)
    groups = max(x.shape[-1] // max(filter_sizes[-2], 1), 1)
    return correlate_windows(x, y, axes_of(x.shape, filter_sizes[:-2], attrs), groups)


_INPUT_OPS = ("Conv2DBackpropInput", "Conv3DBackpropInputV2")
_FILTER_OPS = ("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
for _names, _kernel, _infer, _sizes in (
    (_INPUT_OPS, _back, _infer_back, (0, "input_sizes", "input_sizes")),
    (_FILTER_OPS, _filters, _infer_filters, (1, "filter_sizes", "filter_sizes")),
):
    for _name in _names:
        _export = Export(inputs=(_sizes,))
        define(_name, _kernel, _infer, takes="f", family="window", export=_export)


@gradient(*_FILTER_OPS)
def _filters_back_gradient(node: Applied, g: Any) -> Any:
    x, y = node.inputs
    attrs = {key: value for key, value in node.attrs.items() if key != "filter_sizes"}
    return [
        input_gradient(attrs, x, y, g) if node.wanted[0] else None,
        _convolve_again(attrs, x, g) if node.wanted[1] else None,
    ]


@gradient(*_INPUT_OPS)
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


# --- what users call


def _transposed(
    space: int,
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    name: str | None,
) -> Any:
    first = channels_first(data_format, space)
    op = _INPUT_OPS[space == 3]
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
    return _transposed(
        2, input, filters, output_shape, strides, padding, data_format, dilations, name
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
    return _transposed(
        3, input, filters, output_shape, strides, padding, data_format, dilations, name
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
    return _transposed(
        1, input, filters, output_shape, strides, padding, data_format, dilations, name
    )
