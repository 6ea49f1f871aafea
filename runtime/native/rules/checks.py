"""Checks, which end the native function where they do not hold."""

from __future__ import annotations

from typing import Any

from runtime.native.flow import Step, rule
from runtime.native.types import BIT
from runtime.native.values import Value

__all__: list[str] = []


@rule("Assert")
def _assert(step: Step, condition: Value, *data: Value, **_: Any) -> tuple[()]:
    step.check(condition)
    return ()


@rule("Raise")
def _raise(step: Step, *data: Value, **_: Any) -> tuple[()]:
    step.check(BIT(0))
    return ()


@rule("RequireBound", "RequireSome")
def _require(step: Step, value: Value, is_there: Value, **_: Any) -> Value:
    step.check(is_there)
    return value
