"""How XLA runs the ops of this package."""

from __future__ import annotations

from typing import Any

from runtime.xla.flow import Step, Value, rule

__all__: list[str] = []


@rule("Relayout")
def _relayout(step: Step, x: Value, layout: Any) -> Value:
    return layout.pin(x)
