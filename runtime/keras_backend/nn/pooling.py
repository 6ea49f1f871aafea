"""Pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import backend

import runtime as tf
from runtime.keras_backend.core import convert_to_tensor
from runtime.keras_backend.nn.convolutions import each, layout


def _pooled(
    function: Any,
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
) -> Any:
    if padding.lower() not in ("same", "valid"):
        raise ValueError(f"Invalid padding '{padding}', must be 'same' or 'valid'.")
    inputs = convert_to_tensor(inputs)
    rank = len(inputs.shape) - 2
    return function(
        inputs,
        each(pool_size, rank),
        each(pool_size if strides is None else strides, rank),
        padding.upper(),
        layout(rank, data_format),
    )


def max_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    return _pooled(tf.nn.max_pool, inputs, pool_size, strides, padding, data_format)


def average_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    return _pooled(tf.nn.avg_pool, inputs, pool_size, strides, padding, data_format)


def _windows(length: int, count: int) -> list[tuple[int, int]]:
    """The parts of an axis, as even as they can be."""
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def _adaptive(one_axis: Any, x: Any, output_size: Any, data_format: str | None) -> Any:
    x = convert_to_tensor(x)
    first = backend.standardize_data_format(data_format) == "channels_first"
    rank = len(x.shape) - 2
    for number, count in enumerate(each(output_size, rank)):
        if count is not None:
            x = one_axis(x, count, number + (2 if first else 1))
    return x


def _average(x: Any, count: int, axis: int) -> Any:
    length = x.shape[axis]
    weights = np.zeros((length, count))
    for i, (start, end) in enumerate(_windows(length, count)):
        weights[start:end, i] = 1 / (end - start)
    found = tf.tensordot(x, tf.cast(weights, x.dtype), [[axis], [0]])
    order = list(range(len(x.shape) - 1))
    return tf.transpose(found, [*order[:axis], len(order), *order[axis:]])


def _maximum(x: Any, count: int, axis: int) -> Any:
    parts = [
        tf.reduce_max(tf.gather(x, tf.range(start, end), axis=axis), axis)
        for start, end in _windows(x.shape[axis], count)
    ]
    return tf.stack(parts, axis)


def adaptive_average_pool(
    inputs: Any, output_size: Any, data_format: str | None = None
) -> Any:
    return _adaptive(_average, inputs, output_size, data_format)


def adaptive_max_pool(
    inputs: Any, output_size: Any, data_format: str | None = None
) -> Any:
    return _adaptive(_maximum, inputs, output_size, data_format)
