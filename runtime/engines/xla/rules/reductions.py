"""Rows made into numbers, and running sums along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from runtime.engines.xla.flow import Step, Value, rule
from runtime.engines.xla.rules.movement import ints


def _reduces(op: str, function: Callable[..., Value]) -> None:
    @rule(op)
    def run(
        step: Step, x: Value, axis: Any = None, keepdims: bool = False, **_: Any
    ) -> Value:
        if axis is not None:
            axis = ints(step, axis if isinstance(axis, tuple) else (axis,), "the axis")
        more: dict[str, Any] = {}
        if op in ("Max", "Min") and not jnp.size(x):
            more["initial"] = _of_nothing(op, step)
        elif op in ("Sum", "Prod"):
            # Half precision would not hold long sums.
            is_half = step.dtype == jnp.float16
            more["dtype"] = jnp.float32 if is_half else step.dtype
        return jnp.asarray(
            function(x, axis=axis, keepdims=keepdims, **more), step.dtype
        )


def _of_nothing(op: str, step: Step) -> Any:
    dtype = step.spec.dtype
    if dtype.is_floating:
        return -jnp.inf if op == "Max" else jnp.inf
    return dtype.min if op == "Max" else dtype.max


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "All": jnp.all,
    "Any": jnp.any,
    "Max": jnp.max,
    "Min": jnp.min,
    "Prod": jnp.prod,
    "Sum": jnp.sum,
}
for _op, _function in _FUNCTIONS.items():
    _reduces(_op, _function)


def _place(op: str, function: Callable[..., Value]) -> None:
    @rule(op)
    def run(step: Step, x: Value, *, axis: Any, output_type: Any) -> Value:
        (axis,) = ints(step, (axis,), "the axis")
        return function(x, axis).astype(step.dtype)


_place("ArgMax", jnp.argmax)
_place("ArgMin", jnp.argmin)


def _scans(op: str, function: Callable[..., Value], start: float) -> None:
    @rule(op)
    def run(
        step: Step, x: Value, *, axis: Any, exclusive: bool, reverse: bool
    ) -> Value:
        x = jnp.asarray(x)
        (axis,) = ints(step, (axis,), "the axis")
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f"axis {axis} of a tensor of rank {x.ndim}")
        axis %= x.ndim
        if exclusive and x.shape[axis]:
            # Each place gets what lies before it: one step later, from `start` on.
            pads = [(0, 0, 0)] * x.ndim
            pads[axis] = (-1, 1, 0) if reverse else (1, -1, 0)
            x = lax.pad(x, jnp.asarray(start, x.dtype), pads)
        return function(x, axis=axis, reverse=reverse)


_scans("Cumsum", lax.cumsum, 0)
_scans("Cumprod", lax.cumprod, 1)
_scans("CumulativeLogsumexp", lax.cumlogsumexp, -jnp.inf)
