"""Ops of neural networks written in others: see `runtime.passes.lowering`."""

from __future__ import annotations

from typing import Any

from runtime.core.graph.record import decomposes
from runtime.core.types import dtypes
from runtime.ops.arrays.dimensions import length, lengths, number
from runtime.ops.arrays.gather import gather_nd, where
from runtime.ops.arrays.joining import stack
from runtime.ops.arrays.sequences import range as numbers_from
from runtime.ops.arrays.shape import expand_dims, reshape, stop_gradient
from runtime.ops.convert import cast
from runtime.ops.define import run
from runtime.ops.elementwise.arithmetic import maximum, minimum
from runtime.ops.elementwise.functions import exp, expm1, is_finite, log
from runtime.ops.elementwise.logical import logical_and
from runtime.ops.nn.activations import SELU_ALPHA, SELU_SCALE
from runtime.ops.nn.activations import relu as relu_of
from runtime.ops.reduce.reductions import reduce_max, reduce_sum

# --- activations ----------------------------------------------------------------------


@decomposes("Relu")
def _relu(x: Any) -> Any:
    return maximum(x, 0)


@decomposes("Relu6")
def _relu6(x: Any) -> Any:
    # As `np.clip`, which leaves -0.0 as it is.
    return where(x > 6, 6, where(x < 0, 0, x))


@decomposes("Elu")
def _elu(x: Any) -> Any:
    return where(x > 0, x, expm1(minimum(x, 0)))


@decomposes("Selu")
def _selu(x: Any) -> Any:
    return SELU_SCALE * where(x > 0, x, SELU_ALPHA * expm1(minimum(x, 0)))


@decomposes("LeakyRelu")
def _leaky_relu(x: Any, *, alpha: float) -> Any:
    return where(x > 0, x, x * alpha)


@decomposes("Softmax")
def _softmax(logits: Any, *, axis: int) -> Any:
    powers = exp(_shifted(logits, axis))
    return powers / reduce_sum(powers, axis, keepdims=True)


@decomposes("LogSoftmax")
def _log_softmax(logits: Any, *, axis: int) -> Any:
    shifted = _shifted(logits, axis)
    return shifted - log(reduce_sum(exp(shifted), axis, keepdims=True))


def _shifted(logits: Any, axis: int) -> Any:
    """The logits less the largest, so that no power overflows."""
    return logits - stop_gradient(reduce_max(logits, axis, keepdims=True))


# --- convolutions and windows ---------------------------------------------------------


@decomposes("FusedConv2D")
def _fused_convolution(
    x: Any, filters: Any, *bias: Any, relu: bool, **attrs: Any
) -> Any:
    found = run("Conv2D", x, filters, **attrs)
    if bias:
        found = found + bias[0]
    return relu_of(found) if relu else found


@decomposes("DepthwiseConv2dNative")
def _depthwise(x: Any, filters: Any, **attrs: Any) -> Any:
    if x.shape.rank is None or filters.shape.rank is None:
        return NotImplemented
    # Each channel is a group of its own. It is the number of them in the images that
    # the filters have to have.
    *sizes, _, times = lengths(filters)
    filters = reshape(filters, [*sizes, 1, length(x, 3) * times])
    return run("Conv2D", x, filters, **attrs)


@decomposes("MaxPool3D")
def _max_pool(x: Any, **attrs: Any) -> Any:
    return _pooled("MaxPool", x, attrs)


@decomposes("AvgPool3D")
def _avg_pool(x: Any, **attrs: Any) -> Any:
    if x.dtype is not dtypes.float16 or x.shape.rank is None:
        return _pooled("AvgPool", x, attrs)
    # The mean is rounded to half precision once.
    return cast(_pooled("AvgPool", cast(x, dtypes.float32), attrs), x.dtype)


def _pooled(op: str, x: Any, attrs: dict[str, Any]) -> Any:
    """Volumes pooled along the last two axes of space, then along the first."""
    if x.shape.rank is None:
        return NotImplemented
    number, depth, *image, channels = lengths(x)
    found = _pool(op, reshape(x, [number * depth, *image, channels]), attrs, (2, 3))
    _, rows, columns, _ = lengths(found)
    found = reshape(found, [number, depth, rows * columns, channels])
    found = _pool(op, found, attrs, (1, None))
    return reshape(found, [number, length(found, 1), rows, columns, channels])


def _pool(op: str, x: Any, attrs: dict[str, Any], axes: tuple[Any, ...]) -> Any:
    """Images pooled as the volumes are to be along `axes` (None: not at all)."""

    def along(values: Any) -> tuple[int, ...]:
        return (1, *(1 if axis is None else values[axis] for axis in axes), 1)

    windows = {
        key: along(attrs[key])
        for key in ("ksize", "strides", "dilations")
        if key in attrs
    }
    return run(
        op,
        x,
        padding=attrs["padding"],
        explicit_paddings=(),
        data_format="NHWC",
        name=None,
        **windows,
    )


# --- rankings -------------------------------------------------------------------------


@decomposes("InTopKV2")
def _in_top_k(targets: Any, predictions: Any, *, k: Any) -> Any:
    classes = length(predictions, -1)
    places = cast(targets, dtypes.int64)
    valid = logical_and(places >= 0, places < classes)
    rows = numbers_from(0, length(predictions, 0), dtype=dtypes.int64)
    picked = stack([rows, where(valid, places, 0)], 1)
    own = gather_nd(predictions, picked)
    larger = predictions > expand_dims(own, 1)
    count = reduce_sum(cast(larger, dtypes.int64), 1)
    return logical_and(logical_and(valid, is_finite(own)), count < number(k))
