"""The size of generated code stays within its budgets (and is counted rightly)."""

from __future__ import annotations

import json

import pytest

from benchmarks import readability
from benchmarks.measures import Measure
from benchmarks.readability import Conversion, longest, measures, tokens

FOUND, REFUSED = readability.conversions()
MEASURES = {measure.name: measure for measure in measures(FOUND)}


@pytest.mark.parametrize(
    "measure",
    [m for m in MEASURES.values() if m.budget is not None],
    ids=lambda m: m.name,
)
def test_budget(measure: Measure) -> None:
    """Run ``python -m benchmarks.readability --worst 5`` to see what broke it."""
    assert measure.value <= measure.budget


def test_budgets_are_those_of_the_contract() -> None:
    budgets = {name: m.budget for name, m in MEASURES.items() if m.budget is not None}

    assert budgets == {
        "tokens out / in, median": 1.65,
        "tokens out / in, 90th percentile": 2.45,
        "lines out / in, median": 2.2,
        "lines out / in, whole corpus": 2.2,
        "lines over 88 columns and the source's": 0,
    }


def test_the_corpus_is_large_and_really_converted() -> None:
    assert len(FOUND) >= readability.FEWEST
    assert sum(conversion.rewritten for conversion in FOUND) > 0.8 * len(FOUND)


def test_tokens_leave_out_layout_and_comments() -> None:
    assert tokens("def f(x):  # why\n\n    return -x\n") == 9
    assert tokens("f(\n  1,\n)\n") == tokens("f(1,)")


def test_conversion() -> None:
    before = "def f(x):\n    return x\n"
    after = "def f(x):\n    y = x\n    return y\n"
    conversion = Conversion("f", before, after)

    assert conversion.tokens == 11 / 8
    assert conversion.lines == 1.5
    assert conversion.rewritten
    assert not Conversion("f", before, before).rewritten


def test_excess_counts_from_88_columns_or_the_longest_line_of_the_source() -> None:
    short, long, longer = ("x = " + "1" * n for n in (10, 90, 96))

    assert longest(f"{short}\n{long}\n") == 94
    assert Conversion("f", short, long).excess == 6
    assert Conversion("f", long, long).excess == 0
    assert Conversion("f", long, longer).excess == 6


def test_decorators_are_left_out() -> None:
    text = "    @cases((1,),\n           (2,))\n    def f(x):\n        return x\n"

    assert readability._definition(text) == "def f(x):\n    return x\n"


@pytest.fixture
def _measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readability, "conversions", lambda: (FOUND, REFUSED))


@pytest.mark.usefixtures("_measured_once")
def test_worst(capsys: pytest.CaptureFixture[str]) -> None:
    status = readability.main(["--worst", "2"])
    out = capsys.readouterr().out
    worst = max(FOUND, key=lambda c: (c.excess, c.tokens))

    assert status == (0 if all(m.ok for m in MEASURES.values()) else 1)
    assert out.count("--- ") == 2
    assert f"--- {worst.name}: tokens {worst.tokens:.2f}x" in out
    assert f"  | {worst.before.splitlines()[0]}\n" in out


@pytest.mark.usefixtures("_measured_once")
def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    readability.main(["--json"])
    report = json.loads(capsys.readouterr().out)

    assert [m["name"] for m in report["measures"]] == list(MEASURES)
    assert set(report["functions"]) == {c.name for c in FOUND}
    assert report["refused"] == REFUSED


def test_a_small_corpus_proves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(readability, "conversions", lambda: (FOUND[:10], []))

    assert readability.main([]) == 1
    assert "fewer than 150" in capsys.readouterr().err


def test_a_broken_budget_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = "def f(x):\n    return x\n"
    bloated = Conversion("f", before, before + "    x = x\n" * 20)
    monkeypatch.setattr(readability, "conversions", lambda: ([bloated] * 200, []))

    assert readability.main([]) == 1
    assert "over budget: tokens out / in, median\n" in capsys.readouterr().err
