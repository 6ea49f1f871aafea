"""The benchmark of calls: its parts run, and a small soak is clean."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import calls


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "CALLS", 1)
    monkeypatch.setattr(calls, "BATCHES", 2)
    monkeypatch.setattr(calls, "BUDGETS", {1: (None, None), 4: (None, None)})
    monkeypatch.setattr(calls, "_installed", lambda name: None)


def names(part: Callable[[int], Any]) -> list[str]:
    return [measure.name for measure in part(1)]


def test_calls_are_measured_over_numpy() -> None:
    assert names(calls.calls) == [
        "NumPy, 1 arguments",
        "no guards, 1: over NumPy",
        "guards, 1: over NumPy",
        "NumPy, 4 arguments",
        "no guards, 4: over NumPy",
        "guards, 4: over NumPy",
    ]


def test_other_forms_of_calls() -> None:
    assert len(names(calls.forms)) == 6


@pytest.mark.slow
def test_memory() -> None:
    (measure,) = calls.memory(1)

    assert 0 < measure.value < 200


@pytest.mark.slow
def test_a_small_soak() -> None:
    wrong, most, sizes = calls.soak(
        calls=320, signatures=24, threads=8, limit=8, samples=2
    )

    assert wrong == 0
    assert most <= 8
    assert len(sizes) == 2


def test_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(calls.PARTS, "call", lambda rounds: iter(()))

    assert calls.main(["--only", "call", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"] == []
