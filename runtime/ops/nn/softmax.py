"""Softmax and its logarithm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Fails, decomposes
from runtime.core.tensor import EagerTensor
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.convert import as_tensor
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.eager import attempt
from runtime.ops.kernels.buffers import Unbuffered, new_result
from runtime.ops.kernels.threads import allowed_threads, share
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, normal_axis, spec

# --- Softmax of the rows of a matrix

# ``exp(x) / sum(exp(x))`` is what softmax is. The largest element is commonly
# subtracted from `x` first, lest ``exp`` overflow; here that is done for those rows
# alone that need it, which are few: where the sum is finite nothing did overflow, and
# unless it is small too, no element of the result is so tiny that its ``exp`` lost
# digits. This saves two of five passes, and the rounding of the difference. Each row
# is looked at by itself: what it gives does not depend on the others.

Array = np.ndarray[Any, Any]

#: With smaller sums the elements may be too tiny to be exact.
SMALL = 2.0**-10

#: NumPy adds longer rows more precisely, shorter ones faster, by `np.einsum`: that adds
#: in 16 places at once, one after the other.
LONG = 1 << 11


def softmax_rows(x: Array, out: Array) -> Array:
    """The softmax of each row of a matrix of floats, into `out`, which is not `x`.

    NumPy may find that powers overflow, and warn of it unless told otherwise.

    >>> x = np.array([[0.0, 0.0, -np.inf], [0.5, 0.5, 0.5]], np.float32)
    >>> softmax_rows(x, np.empty_like(x))
    array([[0.5       , 0.5       , 0.        ],
           [0.33333334, 0.33333334, 0.33333334]], dtype=float32)
    """
    if x.itemsize == 2:
        # In half precision most sums of powers are out of range.
        return _shifted(x, out)
    np.exp(x, out=out)
    sums = _sums(out)
    if len(sums) == 1:
        least = most = sums.item()
    else:
        least, most = np.minimum.reduce(sums, None), np.maximum.reduce(sums, None)
    if least >= SMALL and most < math.inf:
        np.divide(out, sums, out=out)
        return out
    fit = (sums >= SMALL) & (sums < np.inf)
    if not fit.any():
        return _shifted(x, out)
    np.divide(out, sums, out=out)
    others = np.flatnonzero(~fit)
    rows = x[others]
    out[others] = _shifted(rows, rows)
    return out


def _sums(powers: Array) -> Array:
    """The sum of each row, as a column."""
    sums: Array
    if powers.shape[1] > LONG:
        sums = np.add.reduce(powers, -1, keepdims=True)
        return sums
    sums = np.einsum("ij->i", powers)
    return sums[:, np.newaxis]


def _shifted(x: Array, out: Array) -> Array:
    np.subtract(x, np.maximum.reduce(x, -1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, _sums(out), out=out)
    return out


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


define(
    "Softmax", _softmax, _infer_softmax, takes="f", family="row", fails=Fails.UNKNOWN
)
define("LogSoftmax", _log_softmax, _infer_softmax, takes="f", family="row")


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


@decomposes("Softmax")
def _softmax_decomposed(logits: Any, *, axis: int) -> Any:
    powers = tf.exp(_less_largest(logits, axis))
    return powers / tf.reduce_sum(powers, axis, keepdims=True)


@gradient("Softmax")
def _softmax_gradient(node: Applied, g: Any) -> Any:
    y, axis = node.outputs[0], node.attrs["axis"]
    return [(g - tf.reduce_sum(g * y, axis, keepdims=True)) * y]


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """The logarithm of `softmax`, without overflow."""
    return _run("LogSoftmax", logits, axis, name)


@decomposes("LogSoftmax")
def _log_softmax_decomposed(logits: Any, *, axis: int) -> Any:
    shifted = _less_largest(logits, axis)
    return shifted - tf.log(tf.reduce_sum(tf.exp(shifted), axis, keepdims=True))


@gradient("LogSoftmax")
def _log_softmax_gradient(node: Applied, g: Any) -> Any:
    axis = node.attrs["axis"]
    return [g - tf.exp(node.outputs[0]) * tf.reduce_sum(g, axis, keepdims=True)]


def _less_largest(logits: Any, axis: int) -> Any:
    """The logits less the largest, so that no power overflows."""
    return logits - tf.stop_gradient(tf.reduce_max(logits, axis, keepdims=True))


def _run(op: str, logits: Any, axis: int | None, name: str | None) -> Any:
    return run(op, as_tensor(logits), axis=-1 if axis is None else axis, name=name)
