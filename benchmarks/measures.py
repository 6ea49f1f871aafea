"""What a benchmark found: measures with budgets, as a table or as JSON."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Measure", "as_json", "broken", "finish", "table"]


@dataclass(frozen=True)
class Measure:
    """A number, its spread over the rounds, and the most it may be.

    >>> Measure("import autograph", 41.5, "ms", budget=60).ok
    True
    """

    name: str
    value: float
    unit: str = ""
    budget: float | None = None
    spread: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        name: str,
        rounds: Sequence[float],
        unit: str = "",
        budget: float | None = None,
    ) -> Measure:
        """The median of several rounds, with the least and the most of them."""
        median = statistics.median(rounds)
        return cls(name, median, unit, budget, (min(rounds), max(rounds)))

    @property
    def ok(self) -> bool:
        """Whether the value is within the budget, if there is one."""
        return self.budget is None or self.value <= self.budget


def broken(measures: Sequence[Measure]) -> list[Measure]:
    """The measures that are over their budgets."""
    return [measure for measure in measures if not measure.ok]


def table(measures: Sequence[Measure]) -> str:
    """The measures in columns; a broken budget is said in words."""
    width = max((len(measure.name) for measure in measures), default=0)
    return "\n".join(_row(measure, width) for measure in measures)


def _row(measure: Measure, width: int) -> str:
    parts = [f"{measure.name:<{width}}  {_number(measure.value):>8} {measure.unit:<5}"]
    spread, budget = measure.spread, measure.budget
    if spread is not None:
        low, high = map(_number, spread)
        parts.append(f"{f'({low} to {high})':<20}")
    elif budget is not None:
        parts.append(" " * 20)
    if budget is not None:
        verdict = "ok" if measure.ok else "OVER BUDGET"
        parts.append(f"at most {_number(budget)}: {verdict}")
    return " ".join(parts).rstrip()


def _number(value: float) -> str:
    """Three figures are all that is reproducible."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def as_json(measures: Sequence[Measure], **more: Any) -> str:
    """The measures for machines: a list under ``measures``, and what else there is."""
    records = [
        {
            "name": measure.name,
            "value": measure.value,
            "unit": measure.unit,
            "budget": measure.budget,
            "spread": measure.spread,
            "ok": measure.ok,
        }
        for measure in measures
    ]
    version = ".".join(map(str, sys.version_info[:3]))
    return json.dumps({"python": version, "measures": records, **more}, indent=2)


def finish(measures: Sequence[Measure]) -> int:
    """The exit status: 1 if a budget is broken, which is also said on stderr."""
    over = broken(measures)
    for measure in over:
        print(f"over budget: {measure.name}", file=sys.stderr)
    return 1 if over else 0
