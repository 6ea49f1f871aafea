"""Assertions written in others: see `runtime.passes.lowering`."""

from __future__ import annotations

from typing import Any

from runtime.core.graph.record import decomposes
from runtime.ops.checks.assertions import Assert
from runtime.ops.reduce.reductions import reduce_all


@decomposes("AssertRelation")
def _assert_relation(
    holds: Any, x: Any, y: Any, *, relation: str, message: str, summarize: int
) -> tuple[()]:
    shown = ["x:", x, "y:", y] if "y" in relation else ["x:", x]
    condition = f"Condition {relation} did not hold."
    Assert(reduce_all(holds), [message, condition, *shown], summarize)
    return ()
