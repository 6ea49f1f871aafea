"""Convolutions and pools: the lengths and paddings are those of the kernels."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from runtime.core.errors import OpError
from runtime.engines.xla.flow import Step, Value, rule
from runtime.engines.xla.rules.movement import ints
from runtime.ops.kernels.image_blocks import Axis, counts
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


def _convolve(x: Value, filters: Value, attrs: dict[str, Any]) -> Value:
    axes = _axes(x.shape, filters.shape[:-2], attrs)
    space = "DHW"[-len(axes) :]
    return lax.conv_general_dilated(
        x,
        filters,
        [axis.stride for axis in axes],
        [axis.pads for axis in axes],
        rhs_dilation=[axis.apart for axis in axes],
        dimension_numbers=(f"N{space}C", f"{space}IO", f"N{space}C"),
        feature_group_count=max(x.shape[-1] // max(filters.shape[-2], 1), 1),
        precision="highest",
    )


def _transposed(step: Step, convolve: Any, sizes: Any, y: Value) -> Value:
    """The gradient of a convolution by the operand that has these sizes."""
    given = jax.ShapeDtypeStruct(ints(step, sizes, "the shape of a result"), y.dtype)
    return jax.linear_transpose(convolve, given)(y)[0].astype(step.dtype)


@rule("Convolution")
def _convolution(step: Step, x: Value, filters: Value, **attrs: Any) -> Value:
    x, filters = _wide(x, filters)
    return _convolve(x, filters, attrs).astype(step.dtype)


@rule("ConvolutionBackpropInput")
def _back(
    step: Step, filters: Value, y: Value, *, input_sizes: Any, **attrs: Any
) -> Value:
    filters, y = _wide(filters, y)
    return _transposed(step, lambda x: _convolve(x, filters, attrs), input_sizes, y)


@rule("ConvolutionBackpropFilter")
def _filters(
    step: Step, x: Value, y: Value, *, filter_sizes: Any, **attrs: Any
) -> Value:
    x, y = _wide(x, y)
    return _transposed(step, lambda w: _convolve(x, w, attrs), filter_sizes, y)


def _pooled(
    combine: Any, x: Value, fill: Any, axes: list[Axis], attrs: dict[str, Any]
) -> Value:
    return lax.reduce_window(
        x,
        np.asarray(fill, x.dtype),
        combine,
        (1, *[axis.size for axis in axes], 1),
        attrs["strides"],
        ((0, 0), *[axis.pads for axis in axes], (0, 0)),
        window_dilation=attrs.get("dilations"),
    )


@rule("MaxPool")
def _max_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    least = -np.inf if step.spec.dtype.is_floating else step.spec.dtype.min
    axes = _axes(x.shape, ksize[1:-1], attrs)
    return _pooled(lax.max, jnp.asarray(x), least, axes, attrs)


@rule("AvgPool")
def _avg_pool(step: Step, x: Value, *, ksize: Any, **attrs: Any) -> Value:
    (wide,) = _wide(x)
    axes = _axes(x.shape, ksize[1:-1], attrs)
    # What was added around does not count.
    divisors = counts(axes)[..., None].astype(wide.dtype)
    return (_pooled(lax.add, wide, 0, axes, attrs) / divisors).astype(step.dtype)
