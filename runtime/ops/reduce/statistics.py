"""Reductions made of others: variance, logsumexp, norms, clipping by norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.graph.record import REDUCTION, decomposes
from runtime.core.types import dtypes
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arrays.creation import zeros_like
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.shape import reshape, squeeze, stop_gradient
from runtime.ops.convert import as_tensor, cast, constant
from runtime.ops.elementwise.arithmetic import (
    add,
    equal,
    maximum,
    multiply,
    not_equal,
    squared_difference,
    subtract,
    truediv,
)
from runtime.ops.elementwise.complex_numbers import conj
from runtime.ops.elementwise.functions import (
    abs,
    exp,
    is_finite,
    log,
    rsqrt,
    sqrt,
    square,
)
from runtime.ops.operands import define
from runtime.ops.reduce.reductions import (
    reduce,
    reduce_max,
    reduce_mean,
    reduce_sum,
    reduced,
)
from runtime.ops.shapes import dims_of, normal_axes, spec

Array = np.ndarray[Any, Any]


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean squared distance from the mean along `axis`, of a floating tensor.

    >>> print(reduce_variance([1.0, 3.0]))
    tf.Tensor(1.0, shape=(), dtype=float32)
    """
    x = as_tensor(input_tensor)
    if x.dtype.kind not in "fc":
        raise TypeError(
            f"the variance of a {x.dtype.name} tensor: tf.cast it to floats"
        )
    distance = subtract(x, reduce_mean(x, axis, keepdims=True))
    if x.dtype.is_complex:
        squares = cast(multiply(distance, conj(distance)), x.dtype.real_dtype)
    else:
        squares = square(distance)
    return reduce_mean(squares, axis, keepdims, name=name)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The standard deviation: the square root of the variance."""
    return sqrt(reduce_variance(input_tensor, axis, keepdims), name=name)


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """``log(reduce_sum(exp(x)))`` without overflow.

    >>> [reduce_logsumexp(x).numpy().item() for x in ([0.0], [1000.0, 0.0])]
    [0.0, 1000.0]
    """
    x = as_tensor(input_tensor)
    largest = reduce_max(x, axis, keepdims=True)
    # An infinite maximum would give inf - inf.
    shift = stop_gradient(where(is_finite(largest), largest, zeros_like(largest)))
    result = add(
        log(reduce_sum(exp(subtract(x, shift)), axis, keepdims=True)), shift, name=name
    )
    return result if keepdims else _without_axes(result, x, axis)


def _without_axes(result: Any, x: Any, axis: Any) -> Any:
    """Drop the axes that a reduction has left with length 1."""
    return reshape(result, []) if axis is None else squeeze(result, axis)


def _euclidean_norm(x: Array, *, axis: Any, keepdims: bool) -> Any:
    squares = (x * x.conj()).real if x.dtype.kind == "c" else x * x
    axes = normal_axes(axis, x.ndim)
    total = np.sum(squares, axes, dtype=squares.dtype, keepdims=keepdims)
    return np.sqrt(total).astype(x.dtype)


def _infer_euclidean_norm(x: TensorSpec, *, axis: Any, keepdims: bool) -> TensorSpec:
    return spec(reduced(dims_of(x), axis, keepdims), x.dtype)


define(
    "EuclideanNorm",
    _euclidean_norm,
    _infer_euclidean_norm,
    takes="fiuc",
    family="reduction",
    export=REDUCTION,
)


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The square root of the sum of squares along `axis`; the dtype stays.

    >>> print(reduce_euclidean_norm([3.0, 4.0]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """
    return reduce("EuclideanNorm", input_tensor, axis, keepdims, name)


@decomposes("EuclideanNorm")
def _euclidean_norm_decomposed(x: Any, *, axis: Any, keepdims: bool) -> Any:
    total = reduce_sum(tf.real(x * conj(x)), axis, keepdims)
    if x.dtype.is_integer:
        total = cast(total, dtypes.float64)
    return cast(sqrt(total), x.dtype)


def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """How many elements along `axis` are not zero (not empty strings)."""
    x = as_tensor(input)
    counted = cast(not_equal(x, zeros_like(x)), as_dtype(dtype))
    return reduce_sum(counted, axis, bool(keepdims), name=name)


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """Which part of the elements is zero, as a float32."""
    x = as_tensor(value)
    return reduce_mean(cast(equal(x, zeros_like(x)), dtypes.float32), name=name)


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean and the variance along `axes`."""
    tensor = as_tensor(x)
    mean = reduce_mean(tensor, axes, keepdims=True)
    distances = squared_difference(tensor, stop_gradient(mean))
    variance = reduce_mean(distances, axes, keepdims)
    return (mean if keepdims else squeeze(mean, axes)), variance


# --- norms ----------------------------------------------------------------------------


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None
) -> Any:
    """`x` divided by its Euclidean norm along `axis`; tiny norms count as `epsilon`."""
    tensor = as_tensor(x)
    total = reduce_sum(square(tensor), axis, keepdims=True)
    return multiply(tensor, rsqrt(maximum(total, epsilon)), name=name)


def clip_by_norm(
    t: Any, clip_norm: Any, axes: Any = None, name: str | None = None
) -> Any:
    """`t`, scaled down where its Euclidean norm (along `axes`) exceeds `clip_norm`.

    >>> print(clip_by_norm([3.0, 4.0], 1.0))
    tf.Tensor([0.6 0.8], shape=(2,), dtype=float32)
    """
    x = as_tensor(t)
    total = reduce_sum(multiply(x, x), axes, keepdims=True)
    positive = total > 0
    # The root of 0 has no gradient: take that of 1 and put the 0 back afterwards.
    safe = sqrt(where(positive, total, 1))
    norm = where(positive, safe, total)
    return truediv(multiply(x, clip_norm), maximum(norm, clip_norm), name=name)


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The Euclidean norm of all elements of several tensors; None is passed over."""
    parts = [reduce_sum(square(abs(t))) for t in t_list if t is not None]
    if not parts:
        return constant(0.0)
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return sqrt(total, name=name)


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """The tensors scaled by one factor so that their `global_norm` is at most
    `clip_norm`, and the norm before that.
    """
    norm = global_norm(t_list, name) if use_norm is None else use_norm
    scale = truediv(clip_norm, maximum(norm, clip_norm))
    # An infinite norm gives NaNs rather than zeros: the trouble must stay visible.
    scale = where(is_finite(norm), scale, float("nan"))
    clipped = [None if t is None else multiply(t, scale) for t in t_list]
    return clipped, norm
