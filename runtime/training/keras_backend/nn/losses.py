"""Cross entropies."""

from __future__ import annotations

from typing import Any

from keras.src import backend

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor
from runtime.training.keras_backend.nn.activations import clipped, log_softmax
from runtime.training.keras_backend.promotion import as_float


def _pair(target: Any, output: Any) -> tuple[Any, Any]:
    output = as_float(output)
    target = convert_to_tensor(target, output.dtype)
    if len(target.shape) != len(output.shape) or not all(
        a == b or None in (a, b) for a, b in zip(target.shape, output.shape)
    ):
        raise ValueError(
            "Arguments `target` and `output` must have the same shape. Received: "
            f"target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}"
        )
    return target, output


def _log_probabilities(output: Any, from_logits: bool, axis: int) -> Any:
    if from_logits:
        return log_softmax(output, axis=axis)
    output = output / tf.reduce_sum(output, axis, keepdims=True)
    return tf.math.log(clipped(output, backend.epsilon(), 1 - backend.epsilon()))


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    target, output = _pair(target, output)
    if len(target.shape) < 1:
        raise ValueError(
            "Arguments `target` and `output` must be at least rank 1. Received: "
            f"target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}"
        )
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(target, output, axis)
    return -tf.reduce_sum(target * _log_probabilities(output, False, axis), axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    output = as_float(output)
    target = convert_to_tensor(target, "int32")
    if len(target.shape) == len(output.shape) and target.shape[-1] == 1:
        target = tf.squeeze(target, [-1])
    if len(output.shape) < 1:
        raise ValueError(
            "Argument `output` must be at least rank 1. "
            f"Received: output.shape={tuple(output.shape)}"
        )
    classes = [d for a, d in enumerate(output.shape) if a != axis % len(output.shape)]
    if len(classes) != len(target.shape) or not all(
        a == b or None in (a, b) for a, b in zip(target.shape, classes)
    ):
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the "
            f"last dimension: target.shape={tuple(target.shape)}, "
            f"output.shape={tuple(output.shape)}"
        )
    marks = tf.one_hot(target, tf.shape(output)[axis], axis=axis, dtype=output.dtype)
    found = _log_probabilities(output, from_logits, axis)
    return -tf.reduce_sum(marks * found, axis)


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    target, output = _pair(target, output)
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    output = clipped(output, backend.epsilon(), 1 - backend.epsilon())
    likely = target * tf.math.log(output)
    return -(likely + (1 - target) * tf.math.log(1 - output))
