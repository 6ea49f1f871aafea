"""Products of matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from runtime.engines.xla.flow import Step, Value, rule


@rule("MatMul", "BatchMatMulV2")
def _matmul(
    step: Step,
    x: Value,
    y: Value,
    transpose_a: bool = False,
    transpose_b: bool = False,
    **_: Any,
) -> Value:
    if min(jnp.ndim(x), jnp.ndim(y)) < 2:
        raise ValueError("a product of vectors")
    x = jnp.swapaxes(x, -1, -2) if transpose_a else x
    y = jnp.swapaxes(y, -1, -2) if transpose_b else y
    # Half precision would not hold long sums.
    wide = jnp.float32 if step.dtype == jnp.float16 else None
    found = jnp.matmul(x, y, precision="highest", preferred_element_type=wide)
    return found.astype(step.dtype)
