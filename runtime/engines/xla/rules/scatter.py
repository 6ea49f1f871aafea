"""Values written to the places that indices name."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from runtime.engines.xla.flow import Step, Value, rule
from runtime.engines.xla.rules.movement import ints, places


def _write(how: str, x: Value, index: tuple[Value, ...], updates: Value) -> Value:
    if how == "set" and jax.default_backend() != "cpu":
        index, updates = _without_duplicates(x, index, updates)
    return getattr(x.at[index], how)(updates, mode="drop")


def _without_duplicates(x: Value, index: tuple[Value, ...], updates: Value) -> Any:
    """Where the last update of each place goes, since only CPUs write in order."""
    numbers = jnp.arange(index[0].size).reshape(index[0].shape)
    target = jnp.full(x.shape[: len(index)], -1)
    last = target.at[index].max(numbers, mode="drop")
    is_last = last.at[index].get(mode="clip") == numbers
    return tuple([jnp.where(is_last, i, n) for i, n in zip(index, x.shape)]), updates


def _scattered(step: Step, how: str, x: Value, indices: Value, updates: Value) -> Value:
    updates = jnp.asarray(updates)
    index = places(step, x.shape, indices)
    if updates.shape != (*np.shape(indices)[:-1], *x.shape[len(index) :]):
        raise ValueError
    if not index:
        # The update is of the whole.
        return getattr(x.at[...], how)(updates.reshape(x.shape))
    return x if 0 in updates.shape else _write(how, x, index, updates)


@rule("ScatterNd", checks=True)
def _scatter_nd(step: Step, indices: Value, updates: Value, shape: Any) -> Value:
    zeros = jnp.zeros(ints(step, shape, "the shape of a result"), step.dtype)
    return _scattered(step, "add", zeros, indices, updates)


def _scatters(op: str, how: str) -> None:
    @rule(op, checks=True)
    def run(step: Step, x: Value, indices: Value, updates: Value, **_: Any) -> Value:
        return _scattered(step, how, jnp.asarray(x), indices, updates)


for _op, _how in (("Add", "add"), ("Update", "set"), ("Max", "max"), ("Min", "min")):
    _scatters(f"TensorScatter{_op}", _how)
