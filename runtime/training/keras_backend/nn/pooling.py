"""Pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import backend

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.nn.convolutions import each, layout
from runtime.training.keras_backend.numpy.arrays import moveaxis


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
        rank = len(inputs.shape) - 2
        steps = each(pool_size if strides is None else strides, rank)
        size, kind = each(pool_size, rank), layout(rank, data_format)
        return function(inputs, size, steps, padding.upper(), kind)

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
