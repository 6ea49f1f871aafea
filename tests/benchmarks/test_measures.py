"""Measures: budgets, tables, JSON, exit status."""

from __future__ import annotations

import json

import pytest

from benchmarks.measures import Measure, as_json, broken, finish, table

WITHIN = Measure("within", 1.5, "x", budget=1.8)
OVER = Measure("over", 2.25, "ms", budget=2, spread=(2.0, 2.5))
FREE = Measure("free", 279)


def test_budgets() -> None:
    assert WITHIN.ok
    assert not OVER.ok
    assert FREE.ok
    assert Measure("exactly", 2, budget=2).ok
    assert broken([WITHIN, OVER, FREE]) == [OVER]


def test_of_rounds_is_their_median_with_the_spread() -> None:
    assert Measure.of("m", [3.0, 1.0, 2.0], "ms", 2) == Measure(
        "m", 2.0, "ms", 2, (1.0, 3.0)
    )


def test_table() -> None:
    assert table([WITHIN, OVER, FREE]).splitlines() == [
        "within       1.5 x                          at most 1.8: ok",
        "over        2.25 ms    (2 to 2.5)           at most 2: OVER BUDGET",
        "free         279",
    ]


def test_json() -> None:
    found = json.loads(as_json([OVER], refused=["f"]))

    assert found["refused"] == ["f"]
    assert found["measures"] == [
        {
            "name": "over",
            "value": 2.25,
            "unit": "ms",
            "budget": 2,
            "spread": [2.0, 2.5],
            "ok": False,
        }
    ]


def test_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert finish([WITHIN, FREE]) == 0
    assert capsys.readouterr().err == ""
    assert finish([WITHIN, OVER]) == 1
    assert capsys.readouterr().err == "over budget: over\n"
