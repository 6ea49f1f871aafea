"""Running sums and products along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.core.graph.record import AXIS_INPUT
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import int_argument
from runtime.ops.convert import as_tensor, cast
from runtime.ops.derivatives import Applied, gradient, linear
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, known_int, normal_axis, spec

Array = np.ndarray[Any, Any]


def _infer_scan(
    x: TensorSpec, *, axis: Any, exclusive: bool, reverse: bool
) -> TensorSpec:
    dims, place = dims_of(x), known_int(axis)
    if dims is not None and place is not None:
        normal_axis(place, len(dims))
    return spec(dims, x.dtype)


def _scan(name: str, ufunc: np.ufunc, start: float, takes: str) -> None:
    """Define the op of a running reduction that begins with the value `start`."""

    def kernel(x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
        axis = normal_axis(axis, x.ndim)
        ordered = np.flip(x, axis) if reverse else x
        if exclusive and x.shape[axis]:
            # Each place gets what lies before it: one step later, from `start` on.
            result = np.empty_like(x)
            here = (slice(None),) * axis
            result[(*here, slice(0, 1))] = start
            before, after = (*here, slice(None, -1)), (*here, slice(1, None))
            ufunc.accumulate(ordered[before], axis, x.dtype, out=result[after])
        else:
            result = ufunc.accumulate(ordered, axis, x.dtype)
        return np.flip(result, axis) if reverse else result

    define(name, kernel, _infer_scan, takes=takes, family="scan", export=AXIS_INPUT)


_scan("Cumsum", np.add, 0, "fiuc")
_scan("Cumprod", np.multiply, 1, "fiuc")
_scan("CumulativeLogsumexp", np.logaddexp, -np.inf, "f")


def cumsum(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """The running sum along an axis.

    `exclusive` leaves each element itself out, `reverse` runs from the end.

    >>> print(cumsum([1, 2, 3]))
    tf.Tensor([1 3 6], shape=(3,), dtype=int32)
    """
    return _run_scan("Cumsum", x, axis, exclusive, reverse, name)


@linear("Cumsum")
def _cumsum_gradient(node: Applied, g: Any) -> Any:
    axis, exclusive = node.attrs["axis"], node.attrs["exclusive"]
    return [cumsum(g, axis, exclusive, not node.attrs["reverse"])]


def cumprod(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """The running product along an axis; see `cumsum`."""
    return _run_scan("Cumprod", x, axis, exclusive, reverse, name)


def cumulative_logsumexp(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """The logarithm of the running sum of exponentials; see `cumsum`."""
    return _run_scan("CumulativeLogsumexp", x, axis, exclusive, reverse, name)


@gradient("CumulativeLogsumexp")
def _cumulative_logsumexp_gradient(node: Applied, g: Any) -> Any:
    # Each element has its share of all sums from its own on. These shares are added as
    # logarithms, the positive and the negative ones apart: no number gets too great.
    x, y, attrs = node.inputs[0], node.outputs[0], node.attrs
    turned = {**attrs, "reverse": not attrs["reverse"]}

    def shares(weights: Any) -> Any:
        # A sum of nothing, -inf, has no shares either.
        none = tf.logical_or(weights <= 0, tf.equal(y, -math.inf))
        logs = tf.log(tf.where(none, tf.ones_like(weights), weights))
        logs -= tf.where(none, tf.zeros_like(y), y)
        logs = tf.where(none, tf.fill(shape_of(x), cast(-math.inf, x.dtype)), logs)
        return tf.exp(cumulative_logsumexp(logs, **turned) + x)

    return [shares(g) - shares(-g)]


def _run_scan(
    op: str, x: Any, axis: Any, exclusive: bool, reverse: bool, name: str | None
) -> Any:
    return run(
        op,
        as_tensor(x),
        axis=int_argument(axis, "axis"),
        exclusive=exclusive,
        reverse=reverse,
        name=name,
    )
