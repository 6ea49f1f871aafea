"""Checks, which raise the flag."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from runtime.engines.xla.flow import Step, Value, rule


@rule("Assert", checks=True)
def _assert(step: Step, condition: Value, *data: Value, **_: Any) -> tuple[()]:
    step.check(condition)
    return ()


@rule("Raise", checks=True)
def _raise(step: Step, *data: Value, **_: Any) -> tuple[()]:
    step.check(False)
    return ()


@rule("RequireBound", "RequireSome", checks=True)
def _require(step: Step, value: Value, is_there: Value, **_: Any) -> Value:
    step.check(is_there)
    return value


@rule("CheckNumericsV2", checks=True)
def _check_numerics(step: Step, value: Value, **_: Any) -> Value:
    step.check(jnp.isfinite(value))
    return value
