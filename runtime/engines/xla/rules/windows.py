"""Convolutions and pools: the lengths and paddings are those of the kernels."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from runtime.core.errors import OpError
from runtime.engines.xla.flow import Step, Value, rule
from runtime.engines.xla.rules.movement import ints
from runtime.ops.kernels.image_blocks import Axis
from runtime.ops.nn.windows import axes_of


def _wide(*values: Value) -> list[Value]:
    """Half precision would not hold long sums."""
    arrays = [jnp.asarray(value) for value in values]
    return [a.astype(jnp.float32) if a.dtype == jnp.float16 else a for a in arrays]


def _axes(shape: Any, sizes: Any, attrs: dict[str, Any]) -> list[Axis]:
    try:
        return axes_of(shape, sizes, attrs)
    except OpError as error:
        raise ValueError(str(error)) from error


def _convolve(x: Value, filters: Value, attrs: dict[str, Any], groups: int) -> Value:
    sizes = filters.shape[:-2]
    axes = _axes(x.shape, sizes, attrs)
    space = "DHW"[-len(sizes) :]
    return lax.conv_general_dilated(
        x,
        filters,
        [axis.stride for axis in axes],
        [axis.pads for axis in axes],
        rhs_dilation=[axis.apart for axis in axes],
        dimension_numbers=(f"N{space}C", f"{space}IO", f"N{space}C"),
        feature_group_count=groups,
        precision="highest",
    )


@rule("Conv2D", "Conv3D")
def _convolution(step: Step, x: Value, filters: Value, **attrs: Any) -> Value:
    x, filters = _wide(x, filters)
    groups = x.shape[-1] // max(filters.shape[-2], 1)
    return _convolve(x, filters, attrs, groups).astype(step.dtype)


@rule("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def _back(
    step: Step, filters: Value, y: Value, *, input_sizes: Any, **attrs: Any
) -> Value:
    shape = ints(step, input_sizes, "the shape of a result")
    filters, y = _wide(filters, y)
    given = jax.ShapeDtypeStruct(shape, y.dtype)
    groups = max(shape[-1] // max(filters.shape[-2], 1), 1)
    back = jax.linear_transpose(lambda x: _convolve(x, filters, attrs, groups), given)
    return back(y)[0].astype(step.dtype)


@rule("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _filters(
    step: Step, x: Value, y: Value, *, filter_sizes: Any, **attrs: Any
) -> Value:
    shape = ints(step, filter_sizes, "the shape of a result")
    x, y = _wide(x, y)
    given = jax.ShapeDtypeStruct(shape, y.dtype)
    groups = max(x.shape[-1] // max(shape[-2], 1), 1)
    back = jax.linear_transpose(lambda w: _convolve(x, w, attrs, groups), given)
    return back(y)[0].astype(step.dtype)


def _pooled(
    combine: Any, x: Value, fill: Any, ksize: tuple[int, ...], attrs: dict[str, Any]
) -> Value:
    pads = [axis.pads for axis in _axes(x.shape, ksize[1:-1], attrs)]
    return lax.reduce_window(
        x,
        np.asarray(fill, x.dtype),
        combine,
        ksize,
        attrs["strides"],
        ((0, 0), *pads, (0, 0)),
        window_dilation=attrs.get("dilations"),
    )


@rule("MaxPool")
def _max_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    least = -np.inf if step.spec.dtype.is_floating else step.spec.dtype.min
    return _pooled(lax.max, jnp.asarray(x), least, ksize, attrs)


@rule("AvgPool")
def _avg_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    (wide,) = _wide(x)
    counts = np.array(math.prod(ksize), wide.dtype)
    if attrs["padding"] != "VALID":
        # What was added around does not count.
        ones = jnp.ones((1, *wide.shape[1:-1], 1), wide.dtype)
        counts = _pooled(lax.add, ones, 0, ksize, attrs)
    return (_pooled(lax.add, wide, 0, ksize, attrs) / counts).astype(step.dtype)
