"""Order among elements."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from runtime.engines.xla.flow import Step, Value, rule
from runtime.engines.xla.rules.movement import ints


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
