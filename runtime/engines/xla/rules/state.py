"""Variables."""

from __future__ import annotations

from typing import Any

from runtime.engines.xla.flow import Step, Value, as_spec, rule


@rule("ReadVariableOp")
def _read(step: Step, variable: Any) -> Value:
    return step.flow.variables[id(variable)]


@rule("AssignVariableOp")
def _assign(step: Step, value: Value, variable: Any) -> Value:
    value = as_spec(value, step.spec)
    step.flow.variables[id(variable)] = value
    return value
