"""Activations, normalisation, dropout: what networks are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import Export, Fails, decomposes
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arrays.creation import zeros_like
from runtime.ops.arrays.gather import gather, where
from runtime.ops.arrays.joining import concat
from runtime.ops.arrays.shape import reshape, shape
from runtime.ops.convert import as_tensor, cast, convert_to_tensor
from runtime.ops.derivatives import partials
from runtime.ops.elementwise.arithmetic import (
    add,
    greater_equal,
    multiply,
    subtract,
    truediv,
)
from runtime.ops.elementwise.factories import FLOATS, REAL, unary_function, unary_op
from runtime.ops.elementwise.functions import (
    erf,
    rsqrt,
    sigmoid,
)
from runtime.ops.elementwise.functions import tanh as _tanh
from runtime.ops.kernels.extremes import extreme
from runtime.ops.kernels.select import select
from runtime.ops.operands import define, run
from runtime.ops.random.streams import uniform
from runtime.ops.reduce.statistics import (
    clip_by_norm,
)
from runtime.ops.shapes import dims_of, spec

Array = np.ndarray[Any, Any]

# --- activations ----------------------------------------------------------------------

#: The constants that keep the mean at 0 and the variance at 1.
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


def _relu_kernel(x: Array) -> Any:
    return extreme(np.maximum, x, 0)


def _relu6_kernel(x: Array) -> Any:
    return np.clip(x, 0, 6)


def _elu(x: Array) -> Array:
    result: Array = select(x > 0, x, np.expm1(np.minimum(x, 0)))
    return result


def _selu(x: Array) -> Array:
    negative = SELU_ALPHA * np.expm1(np.minimum(x, 0))
    result: Array = SELU_SCALE * select(x > 0, x, negative)
    return result


def _leaky_relu(x: Array, *, alpha: float) -> Array:
    result: Array = select(x > 0, x, x * alpha)
    return result


def _infer_same(x: TensorSpec, **attrs: Any) -> TensorSpec:
    return spec(dims_of(x), x.dtype)


_ACTIVATIONS = Export(output="activations")
unary_op("Relu", _relu_kernel, REAL, export=_ACTIVATIONS)
unary_op("Relu6", _relu6_kernel, REAL, export=_ACTIVATIONS)
unary_op("Elu", _elu, FLOATS, export=_ACTIVATIONS)
unary_op("Selu", _selu, FLOATS, export=_ACTIVATIONS)
define(
    "LeakyRelu",
    _leaky_relu,
    _infer_same,
    takes="f",
    family="elementwise",
    fails=Fails.NEVER,
    export=_ACTIVATIONS,
)

tanh = _tanh


def relu(features: Any, name: str | None = None) -> Any:
    """The larger of each element and 0.

    >>> print(relu([-1.0, 2.0]))
    tf.Tensor([0. 2.], shape=(2,), dtype=float32)
    """
    return _relu(features, name)


def relu6(features: Any, name: str | None = None) -> Any:
    """The elements cut to the range from 0 to 6."""
    return _relu6(features, name)


def elu(features: Any, name: str | None = None) -> Any:
    """The elements above 0, ``exp(x) - 1`` below."""
    return _elu_function(features, name)


def selu(features: Any, name: str | None = None) -> Any:
    """`elu`, scaled so that it keeps a mean of 0 and a variance of 1."""
    return _selu_function(features, name)


_relu = unary_function("relu", "Relu", "")


@decomposes("Relu")
def _relu_decomposed(x: Any) -> Any:
    return tf.maximum(x, 0)


partials("Relu", lambda x, y: y > 0)


_relu6 = unary_function("relu6", "Relu6", "")


@decomposes("Relu6")
def _relu6_decomposed(x: Any) -> Any:
    # As `np.clip`, which leaves -0.0 as it is.
    return where(x > 6, 6, where(x < 0, 0, x))


_elu_function = unary_function("elu", "Elu", "")


@decomposes("Elu")
def _elu_decomposed(x: Any) -> Any:
    return where(x > 0, x, tf.expm1(tf.minimum(x, 0)))


_selu_function = unary_function("selu", "Selu", "")


@decomposes("Selu")
def _selu_decomposed(x: Any) -> Any:
    return SELU_SCALE * where(x > 0, x, SELU_ALPHA * tf.expm1(tf.minimum(x, 0)))


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Any:
    """The elements above 0, and `alpha` times those below."""
    x = as_tensor(features)
    if x.dtype.is_integer:
        x = cast(x, dtypes.float32)
    return run("LeakyRelu", x, alpha=float(alpha), name=name)


@decomposes("LeakyRelu")
def _leaky_relu_decomposed(x: Any, *, alpha: float) -> Any:
    return where(x > 0, x, x * alpha)


def crelu(features: Any, axis: int = -1, name: str | None = None) -> Any:
    """`relu` of the elements and of their negatives, joined along an axis."""
    x = as_tensor(features)
    return relu(concat([x, -x], axis), name=name)


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """Each element times the probability that a standard normal number is below it.

    With `approximate` by the formula with tanh.
    """
    x = as_tensor(features)
    if approximate:
        scale = math.sqrt(2 / math.pi)
        # scale * (x + 0.044715 * x ** 3), in fewer operations.
        inner = x * (scale + 0.044715 * scale * (x * x))
        return multiply(x, 0.5 + 0.5 * tanh(inner), name=name)
    return multiply(x, 0.5 + 0.5 * erf(x / math.sqrt(2)), name=name)


def silu(features: Any, beta: Any = 1.0, name: str | None = None) -> Any:
    """``x * sigmoid(beta * x)``; also called swish."""
    x = as_tensor(features)
    return multiply(x, sigmoid(x if _is_one(beta) else multiply(x, beta)), name=name)


swish = silu


def _is_one(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 1


# --- layers ---------------------------------------------------------------------------


def dropout(
    x: Any,
    rate: Any,
    noise_shape: Any = None,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """The elements, each with the probability `rate` replaced by 0; the others are
    scaled by ``1 / (1 - rate)``, so that the expected sum stays.

    `noise_shape` broadcasts to `x`: what it does not tell apart is kept or dropped
    together.
    """
    tensor = as_tensor(x)
    if not tensor.dtype.is_floating:
        raise ValueError(f"dropout needs floating numbers, not {tensor.dtype.name}")
    if isinstance(rate, (int, float)):
        if not 0 <= rate < 1:
            raise ValueError(f"rate must be in [0, 1), not {rate}")
        if rate == 0:
            return tensor
        scaled = multiply(tensor, 1.0 / (1.0 - rate))
    else:
        rate = convert_to_tensor(rate, tensor.dtype)
        scaled = truediv(tensor, subtract(1.0, rate))
    drawn = uniform(
        shape(tensor) if noise_shape is None else _noise_shape(tensor, noise_shape),
        dtype=tensor.dtype,
        seed=seed,
    )
    return where(greater_equal(drawn, rate), scaled, zeros_like(scaled), name=name)


def _noise_shape(x: Any, noise_shape: Any) -> Any:
    """The shape with None replaced by the lengths of `x`."""
    if not isinstance(noise_shape, (list, tuple)):
        return noise_shape
    lengths = shape(x)
    return [
        lengths[axis] if dim is None else dim for axis, dim in enumerate(noise_shape)
    ]


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Any:
    """The tensor with a vector added along its last axis (``NCHW``: its second)."""
    x = as_tensor(value)
    vector = convert_to_tensor(bias, x.dtype)
    if vector.shape.rank not in (1, None):
        raise InvalidArgumentError(f"bias must be a vector, not {vector.shape}")
    if data_format is not None and data_format.startswith("NC"):
        if x.shape.rank is None:
            raise ValueError("the rank of the value must be known")
        vector = reshape(vector, [1, -1] + [1] * (x.shape.rank - 2))
    elif data_format is not None and data_format[0] != "N":
        raise ValueError(f"data_format must be 'NHWC' or 'NCHW', not {data_format!r}")
    return add(x, vector, name=name)


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Any:
    """``(x - mean) / sqrt(variance + epsilon) * scale + offset``; the latter two may be
    None.
    """
    factor = rsqrt(add(variance, variance_epsilon))
    if scale is not None:
        factor = multiply(factor, scale)
    moved = multiply(mean, factor)
    moved = -moved if offset is None else subtract(offset, moved)
    return add(multiply(x, factor), moved, name=name)


def embedding_lookup(
    params: Any, ids: Any, max_norm: float | None = None, name: str | None = None
) -> Any:
    """The rows of `params` for the ids, scaled down to `max_norm` where given."""
    rows = gather(params, ids, name=name)
    if max_norm is None:
        return rows
    return clip_by_norm(
        rows, max_norm, axes=list(range(as_tensor(ids).ndim, rows.ndim))
    )
