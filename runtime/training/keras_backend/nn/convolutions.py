"""Convolutions, and the blocks that they look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import backend
from keras.src.backend.common.backend_utils import (
    check_conv_input_channels,
    check_conv_transpose_input_channels,
    compute_conv_transpose_output_shape,
)

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.core import shape as shape_of
from runtime.training.keras_backend.numpy.arrays import moveaxis
from runtime.training.keras_backend.promotion import dtype_of, together


def layout(rank: int, data_format: str | None) -> str:
    """The axes by TensorFlow's letters."""
    letters = {1: "W", 2: "HW", 3: "DHW"}[rank]
    first = backend.standardize_data_format(data_format) == "channels_first"
    return f"NC{letters}" if first else f"N{letters}C"


def each(value: Any, rank: int) -> list[int]:
    return [value] * rank if isinstance(value, int) else list(value)


def conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    inputs, kernel = together(convert_to_tensor(inputs), convert_to_tensor(kernel))
    data_format = backend.standardize_data_format(data_format)
    channels = inputs.shape[-1 if data_format == "channels_last" else 1]
    depth = kernel.shape[-2]
    if channels is not None and channels % depth:
        raise ValueError(
            "The number of input channels must be evenly divisible by kernel's "
            f"in_channels. Received input channels {channels} and kernel in_channels "
            f"{depth}. "
        )
    rank = len(inputs.shape) - 2
    axes = layout(rank, data_format)
    return tf.nn.convolution(inputs, kernel, strides, padding, axes, dilation_rate)


def depthwise_conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    inputs, kernel = together(convert_to_tensor(inputs), convert_to_tensor(kernel))
    data_format = backend.standardize_data_format(data_format)
    check_conv_input_channels(inputs, kernel, data_format)
    # Each channel is a group of its own.
    *window, channels, count = shape_of(kernel)
    kernel = tf.reshape(kernel, [*window, 1, channels * count])
    return conv(inputs, kernel, strides, padding, data_format, dilation_rate)


def separable_conv(
    inputs: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    deep = depthwise_conv(
        inputs, depthwise_kernel, strides, padding, data_format, dilation_rate
    )
    return conv(deep, pointwise_kernel, 1, "valid", data_format)


def conv_transpose(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    output_padding: Any = None,
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    inputs, kernel = together(convert_to_tensor(inputs), convert_to_tensor(kernel))
    data_format = backend.standardize_data_format(data_format)
    check_conv_transpose_input_channels(inputs, kernel, data_format)
    rank = len(inputs.shape) - 2
    *window, filters, _ = shape_of(kernel)
    dims = compute_conv_transpose_output_shape(
        shape_of(inputs),
        window,
        filters,
        strides,
        padding,
        output_padding,
        data_format,
        dilation_rate,
    )
    axes, function = layout(rank, data_format), f"conv{rank}d_transpose"
    return getattr(tf.nn, function)(
        inputs, kernel, dims, strides, padding, axes, dilation_rate
    )


def _pair(value: Any) -> tuple[int, int]:
    first, second = each(value, 2)
    return first, second


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    x = convert_to_tensor(input)
    (kh, kw), (dh, dw) = _pair(kernel_size), _pair(dilation)
    (ph, pw), (sh, sw) = _pair(padding), _pair(stride)
    x = tf.pad(x, [[0, 0], [0, 0], [ph, ph], [pw, pw]])
    count, channels, height, width = shape_of(x)
    rows = (height - (kh - 1) * dh - 1) // sh + 1
    columns = (width - (kw - 1) * dw - 1) // sw + 1
    down = [slice(i * dh, i * dh + (rows - 1) * sh + 1, sh) for i in range(kh)]
    along = [slice(j * dw, j * dw + (columns - 1) * sw + 1, sw) for j in range(kw)]
    found = tf.stack([x[:, :, i, j] for i in down for j in along], 2)
    return tf.reshape(found, [count, channels * kh * kw, rows * columns])


def fold(
    x: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    x = convert_to_tensor(x)
    (height, width), (kh, kw) = _pair(output_size), _pair(kernel_size)
    (dh, dw), (ph, pw), (sh, sw) = _pair(dilation), _pair(padding), _pair(stride)
    count, depth, _ = shape_of(x)
    rows = (height + 2 * ph - dh * (kh - 1) - 1) // sh + 1
    columns = (width + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    channels = depth // (kh * kw)
    x = tf.reshape(x, [count, channels, kh, kw, rows, columns])
    # Each block is added to the places that it was taken from.
    down = _places(height + 2 * ph, kh, rows, dh, sh, x.dtype)
    along = _places(width + 2 * pw, kw, columns, dw, sw, x.dtype)
    found = tf.einsum("ncijrs,hir,wjs->nchw", x, down, along)
    return found[:, :, ph : ph + height, pw : pw + width]


def _places(
    length: int, window: int, count: int, dilation: int, stride: int, dtype: Any
) -> Any:
    """One where element `i` of window `r` lies, by place, element and window."""
    starts = tf.range(count)[None, :] * stride
    places = tf.range(window)[:, None] * dilation + starts
    return tf.one_hot(places, length, axis=0, dtype=dtype)


def depth_to_space(x: Any, block_size: int, data_format: str = "channels_last") -> Any:
    x = convert_to_tensor(x)
    b = block_size
    if data_format == "channels_last":
        n, h, w, c = shape_of(x)
        x = tf.reshape(x, [n, h, w, b, b, c // b**2])
        x = tf.transpose(x, [0, 1, 3, 2, 4, 5])
        return tf.reshape(x, [n, h * b, w * b, c // b**2])
    n, c, h, w = shape_of(x)
    x = tf.reshape(x, [n, c // b**2, b, b, h, w])
    x = tf.transpose(x, [0, 1, 4, 2, 5, 3])
    return tf.reshape(x, [n, c // b**2, h * b, w * b])


def space_to_depth(x: Any, block_size: int, data_format: str = "channels_last") -> Any:
    x = convert_to_tensor(x)
    b = block_size
    if data_format == "channels_last":
        n, h, w, c = shape_of(x)
        x = tf.reshape(x, [n, h // b, b, w // b, b, c])
        x = tf.transpose(x, [0, 1, 3, 2, 4, 5])
        return tf.reshape(x, [n, h // b, w // b, c * b**2])
    n, c, h, w = shape_of(x)
    x = tf.reshape(x, [n, c, h // b, b, w // b, b])
    x = tf.transpose(x, [0, 1, 3, 5, 2, 4])
    return tf.reshape(x, [n, c * b**2, h // b, w // b])


def one_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Any:
    if sparse:
        raise ValueError("Unsupported value `sparse=True` with this backend")
    x = convert_to_tensor(x)
    if dtype_of(x) not in ("int32", "int64"):
        x = tf.cast(x, "int64")
    if dtype == "bool":
        return tf.cast(tf.one_hot(x, num_classes, axis=axis), "bool")
    return tf.one_hot(x, num_classes, axis=axis, dtype=dtype or "float32")


def multi_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Any:
    x = convert_to_tensor(x)
    marks = one_hot(x, num_classes, axis=axis, dtype=dtype, sparse=sparse)
    place = 1 if len(x.shape) > 1 else 0
    if dtype == "bool":
        return tf.reduce_any(marks, place)
    return tf.maximum(tf.reduce_max(marks, place), 0)  # no words: no marks


# --- pooling --------------------------------------------------------------------------


def _pool(function: Any) -> Any:
    def pool(
        inputs: Any,
        pool_size: Any,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
    ) -> Any:
        if padding.lower() not in ("same", "valid"):
            raise ValueError(f"Invalid padding '{padding}', must be 'same' or 'valid'.")
        inputs = convert_to_tensor(inputs)
        steps = pool_size if strides is None else strides
        axes = layout(len(inputs.shape) - 2, data_format)
        return function(inputs, pool_size, steps, padding, axes)

    return pool


max_pool, average_pool = _pool(tf.nn.max_pool), _pool(tf.nn.avg_pool)


def _windows(length: int, count: int) -> list[tuple[int, int]]:
    """The parts of an axis, as even as they can be."""
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def _adaptive(one_axis: Any) -> Any:
    def pool(inputs: Any, output_size: Any, data_format: str | None = None) -> Any:
        x = convert_to_tensor(inputs)
        first = backend.standardize_data_format(data_format) == "channels_first"
        for number, count in enumerate(each(output_size, len(x.shape) - 2)):
            if count is not None:
                x = one_axis(x, count, number + (2 if first else 1))
        return x

    return pool


def _average(x: Any, count: int, axis: int) -> Any:
    length = x.shape[axis]
    weights = np.zeros((length, count))
    for i, (start, end) in enumerate(_windows(length, count)):
        weights[start:end, i] = 1 / (end - start)
    found = tf.tensordot(x, tf.cast(weights, x.dtype), [[axis], [0]])
    return moveaxis(found, -1, axis)


def _maximum(x: Any, count: int, axis: int) -> Any:
    parts = [
        tf.reduce_max(tf.gather(x, tf.range(start, end), axis=axis), axis)
        for start, end in _windows(x.shape[axis], count)
    ]
    return tf.stack(parts, axis)


adaptive_average_pool, adaptive_max_pool = _adaptive(_average), _adaptive(_maximum)
