"""Reductions of rows, running sums, sorting and searching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
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


# --- order among elements -------------------------------------------------------------


@rule("Sort")
def _sort(step: Step, x: Value, axis: int, descending: bool) -> Value:
    ordered = jnp.sort(x, axis)
    return jnp.flip(ordered, axis) if descending else ordered


def _places(x: Value, axis: int, descending: bool) -> Value:
    """What sorts the elements, with equal ones in their order; NaN is the largest."""
    if not descending:
        return jnp.argsort(x, axis, stable=True)
    flipped = jnp.argsort(jnp.flip(x, axis), axis, stable=True)
    return jnp.shape(x)[axis] - 1 - jnp.flip(flipped, axis)


@rule("ArgSort")
def _argsort(step: Step, x: Value, axis: int, descending: bool) -> Value:
    return _places(x, axis, descending).astype(step.dtype)


@rule("TopKV2")
def _top_k(step: Step, x: Value, k: Any, index_type: Any, **_: Any) -> Any:
    (k,) = ints(step, (k,), "how many elements are picked")
    if not 0 <= k <= jnp.shape(x)[-1]:
        raise ValueError
    found = _places(jnp.asarray(x), -1, True)[..., :k]
    return jnp.take_along_axis(x, found, -1), found.astype(index_type.np_dtype)


@rule("SearchSorted")
def _search(step: Step, rows: Value, values: Value, side: str, out_type: Any) -> Value:
    def search(row: Value, wanted: Value) -> Value:
        return jnp.searchsorted(row, wanted, side)

    rows, values = jnp.asarray(rows), jnp.asarray(values)
    for _ in range(rows.ndim - 1):
        search = jax.vmap(search)
    return search(rows, values).astype(step.dtype)


@rule("Where", "UniqueWithCounts")
def _unknown_length(step: Step, x: Value, **_: Any) -> Any:
    raise step.refused(
        "XLA needs to know all lengths when it compiles, and here values decide how "
        "many elements there are; tf.where(condition, x, y), with what leaves a sum or "
        "a maximum as it is for `y`, keeps the length"
    )
