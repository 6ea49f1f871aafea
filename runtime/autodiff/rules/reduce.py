"""Gradients of sums, products and extremes over axes, and of running ones."""

from __future__ import annotations

import math
from typing import Any

from runtime.core.types import dtypes
from runtime.core.types.shapes import TensorShape
from runtime.ops.arrays.creation import fill, ones, ones_like, zeros_like
from runtime.ops.arrays.dimensions import ALL, length
from runtime.ops.arrays.gather import where
from runtime.ops.arrays.rearrange import broadcast_to, pad, reverse
from runtime.ops.arrays.shape import ensure_shape, reshape, size
from runtime.ops.convert import cast
from runtime.ops.define import Slice, run
from runtime.ops.derivatives import Applied, gradient, linear, without_gradient
from runtime.ops.elementwise.arithmetic import equal, maximum, minimum
from runtime.ops.elementwise.complex_numbers import conj
from runtime.ops.elementwise.functions import exp, log
from runtime.ops.elementwise.logical import logical_or
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.reduce.reductions import reduce_prod, reduce_sum
from runtime.ops.reduce.scans import cumprod, cumsum, cumulative_logsumexp
from runtime.staging.control_flow.while_loops import while_loop


@gradient("CumulativeLogsumexp")
def _cumulative_logsumexp(node: Applied, g: Any) -> Any:
    # Each element has its share of all sums from its own on. These shares are added as
    # logarithms, the positive and the negative ones apart: no number gets too great.
    x, y, attrs = node.inputs[0], node.outputs[0], node.attrs
    turned = {**attrs, "reverse": not attrs["reverse"]}

    def shares(weights: Any) -> Any:
        # A sum of nothing, -inf, has no shares either.
        none = logical_or(weights <= 0, equal(y, -math.inf))
        logs = log(where(none, ones_like(weights), weights))
        logs -= where(none, zeros_like(y), y)
        logs = where(none, fill(shape_of(x), cast(-math.inf, x.dtype)), logs)
        return exp(cumulative_logsumexp(logs, **turned) + x)

    return [shares(g) - shares(-g)]


without_gradient("All", "Any", "ArgMax", "ArgMin")


def _with_axes(node: Applied, reduced: Any) -> Any:
    """A reduced tensor with axes of length 1 where it was reduced."""
    x, axis = node.inputs[0], node.attrs["axis"]
    if node.attrs["keepdims"] or x.shape.rank == 0:
        return reduced
    if axis is None:
        if x.shape.rank is None:
            return reduced  # a scalar broadcasts
        return reshape(reduced, [1] * x.shape.rank)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if x.shape.rank is None or not all(isinstance(a, int) for a in axes):
        # The shape of the result with axes kept says where they are.
        return reshape(reduced, shape_of(reduce_sum(x, axis, keepdims=True)))
    places = {a % x.shape.rank for a in axes}
    dims = shape_of(x)
    kept = [1 if place in places else dims[place] for place in range(x.shape.rank)]
    return reshape(reduced, kept)


def _spread(node: Applied, g: Any) -> Any:
    return broadcast_to(_with_axes(node, g), shape_of(node.inputs[0]))


@linear("Sum")
def _sum(node: Applied, g: Any) -> Any:
    return [_spread(node, g)]


@linear("Mean")
def _mean(node: Applied, g: Any) -> Any:
    x = node.inputs[0]
    if x.shape.is_fully_defined() and g.shape.is_fully_defined():
        count: Any = x.shape.num_elements() // max(g.shape.num_elements(), 1)
    else:
        count = size(x, dtypes.int64) // maximum(size(g, dtypes.int64), 1)
        count = cast(count, g.dtype)
    return [_spread(node, g / count)]


@gradient("Max", "Min")
def _extreme(node: Applied, g: Any) -> Any:
    x = node.inputs[0]
    chosen = equal(x, _with_axes(node, node.outputs[0]))
    # Equal ones share the gradient.
    share = cast(chosen, x.dtype)
    count = reduce_sum(share, node.attrs["axis"], keepdims=True)
    return [where(chosen, _with_axes(node, g) / count, 0 * share)]


@gradient("Prod")
def _prod(node: Applied, g: Any) -> Any:
    x, axis = node.inputs[0], node.attrs["axis"]
    given = _with_axes(node, g)
    if axis is None:
        # Products of all others by running ones from both ends: no division by zero.
        flat = reshape(x, [-1])
        others = cumprod(flat, exclusive=True) * cumprod(
            flat, exclusive=True, reverse=True
        )
        return [given * conj(reshape(others, shape_of(x)))]
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    others = None
    if len(axes) == 1:
        others = cumprod(x, axes[0], exclusive=True) * cumprod(
            x, axes[0], exclusive=True, reverse=True
        )
    elif all(isinstance(a, int) for a in axes):
        others = _others_along(x, list(axes))
    if others is None:
        return NotImplemented
    return [given * conj(others)]


def _others_along(x: Any, axes: list[int]) -> Any:
    """For each element the product of all others along several axes."""
    if not axes:
        return ones_like(x)
    first, *rest = axes
    along = cumprod(x, first, exclusive=True) * cumprod(
        x, first, exclusive=True, reverse=True
    )
    if not rest:
        return along
    return along * _others_along(reduce_prod(x, first, keepdims=True), rest)


# --- running --------------------------------------------------------------------------


@linear("Cumsum")
def _cumsum(node: Applied, g: Any) -> Any:
    axis, exclusive = node.attrs["axis"], node.attrs["exclusive"]
    return [cumsum(g, axis, exclusive, not node.attrs["reverse"])]


@gradient("Cumprod")
def _cumprod(node: Applied, g: Any) -> Any:
    x, axis = conj(node.inputs[0]), node.attrs["axis"]
    if type(axis) is not int or x.shape.rank is None:
        return NotImplemented
    axis %= x.shape.rank
    if node.attrs["reverse"]:
        x, g = reverse(x, [axis]), reverse(g, [axis])
    if node.attrs["exclusive"]:
        g = _later(g, axis, 1)

    # Element i is in all products from the i-th on. Their gradients, without what lies
    # before i, are s[i] = g[i] + x[i + 1] * s[i + 1]: no division, as x may be 0.
    def doubled(step: Any, factor: Any, total: Any) -> Any:
        total = total + factor * _later(total, axis, step)
        return step * 2, factor * _later(factor, axis, step), total

    count, state = x.shape[axis], (1, _later(x, axis, 1), g)
    if count is None:
        count = length(x, axis)
        state = (ones((), count.dtype), *state[1:])
        dims = [TensorShape([]), x.shape, x.shape]
        state = while_loop(lambda step, *_: step < count, doubled, state, dims)
    else:
        while state[0] < count:
            state = doubled(*state)
    found = cumprod(x, axis, exclusive=True) * state[2]
    return [reverse(found, [axis]) if node.attrs["reverse"] else found]


def _later(x: Any, axis: int, step: Any) -> Any:
    """At each place what lies `step` places after it, and 0 at the end."""
    step = minimum(step, length(x, axis)) if x.shape[axis] is None else step
    if type(step) is int and step >= x.shape[axis]:
        return zeros_like(x)
    key = (*[ALL] * axis, Slice(step, None, None))
    paddings = [(0, 0)] * x.shape.rank
    paddings[axis] = (0, step)
    found = pad(run("StridedSlice", x, key=key), paddings)
    return found if x.shape[axis] is not None else ensure_shape(found, x.shape)
