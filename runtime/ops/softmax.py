"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.context import current_graph
from runtime.ops.buffers import Unbuffered, new_result
from runtime.ops.convert import as_tensor
from runtime.ops.define import define, run
from runtime.ops.partial import dims_of, normal_axis, spec
from runtime.ops.quick import attempt
from runtime.ops.softmax_rows import softmax_rows
from runtime.ops.threads import allowed_threads, share
from runtime.specs import TensorSpec
from runtime.tensor import EagerTensor

__all__ = ["log_softmax", "softmax"]

Array = np.ndarray[Any, Any]

#: As many elements at a time stay in the cache.
BLOCK = 1 << 19

#: What stands for the last axis.
_LAST = (None, -1)


def _infer_softmax(logits: TensorSpec, *, axis: int) -> TensorSpec:
    dims = dims_of(logits)
    if dims is not None:
        normal_axis(axis, len(dims))
    return spec(dims, logits.dtype)


def _softmax(logits: Array, *, axis: int) -> Array:
    if axis != -1:
        axis = normal_axis(axis, logits.ndim)
        moved = np.moveaxis(logits, axis, -1)
        return np.moveaxis(_softmax(moved, axis=-1), -1, axis)
    if not logits.size:
        return logits
    length = logits.shape[-1]
    result = new_result(logits.shape, logits.dtype)
    rows, found = logits, result
    if logits.ndim != 2:
        rows, found = logits.reshape(-1, length), result.reshape(-1, length)
    if logits.size <= BLOCK:
        softmax_rows(rows, found)
        return result
    count = -(-logits.size // BLOCK)
    edges = [number * len(rows) // count for number in range(count + 1)]

    def run(number: int) -> None:
        part = slice(*edges[number : number + 2])
        with Unbuffered(length):
            softmax_rows(rows[part], found[part])

    share(run, count, allowed_threads())
    return result


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
    if type(logits) is EagerTensor and axis in _LAST and current_graph() is None:
        array = logits._array
        if array.dtype.kind == "f" and array.ndim:
            found = attempt(_softmax, array, axis=-1)
            if found is not None:
                return found
    return _run("Softmax", logits, axis, name)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """The logarithm of `softmax`, without overflow."""
    return _run("LogSoftmax", logits, axis, name)


def _run(op: str, logits: Any, axis: int | None, name: str | None) -> Any:
    return run(op, as_tensor(logits), axis=-1 if axis is None else axis, name=name)
