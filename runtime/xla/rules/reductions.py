"""Rows made into numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from runtime.xla.flow import Step, Value, rule
from runtime.xla.rules.movement import ints

__all__: list[str] = []


def _reduces(op: str, function: Callable[..., Value]) -> None:
    @rule(op)
    def run(step: Step, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
        if axis is not None:
            axis = ints(step, axis if isinstance(axis, tuple) else (axis,), "the axis")
        return jnp.asarray(function(x, axis=axis, keepdims=keepdims), step.dtype)


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
