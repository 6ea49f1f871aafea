"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.ops.convert import as_tensor
from runtime.ops.define import define, run
from runtime.ops.partial import dims_of, normal_axis, spec
from runtime.specs import TensorSpec

__all__ = ["log_softmax", "softmax"]

Array = np.ndarray[Any, Any]


def _infer_softmax(logits: TensorSpec, *, axis: int) -> TensorSpec:
    dims = dims_of(logits)
    if dims is not None:
        normal_axis(axis, len(dims))
    return spec(dims, logits.dtype)


def _softmax(logits: Array, *, axis: int) -> Array:
    axis = normal_axis(axis, logits.ndim)
    if not logits.size:
        return logits
    # Without the largest element exp cannot overflow.
    powers: Array = logits - np.maximum.reduce(logits, axis, keepdims=True)
    np.exp(powers, out=powers)
    powers /= np.add.reduce(powers, axis, keepdims=True)
    return powers


def _log_softmax(logits: Array, *, axis: int) -> Array:
    axis = normal_axis(axis, logits.ndim)
    if not logits.size:
        return logits
    shifted: Array = logits - np.maximum.reduce(logits, axis, keepdims=True)
    shifted -= np.log(np.add.reduce(np.exp(shifted), axis, keepdims=True))
    return shifted


define("Softmax", _softmax, _infer_softmax, takes="f")
define("LogSoftmax", _log_softmax, _infer_softmax, takes="f")


def softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Probabilities along an axis (the last): ``exp(logits) / sum(exp(logits))``.

    >>> print(softmax([0.0, 0.0]))
    tf.Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """
    return _run("Softmax", logits, axis, name)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """The logarithm of `softmax`, without overflow."""
    return _run("LogSoftmax", logits, axis, name)


def _run(op: str, logits: Any, axis: int | None, name: str | None) -> Any:
    return run(op, as_tensor(logits), axis=-1 if axis is None else axis, name=name)
