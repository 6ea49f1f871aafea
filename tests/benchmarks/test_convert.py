"""The benchmark of conversion runs, and measures what it says it does."""

from __future__ import annotations

import ast
import json
import textwrap
from typing import Any

import pytest

from benchmarks import convert, imports, stages
from benchmarks.measures import Measure

FUNCTIONS = convert.corpus()


def test_small_functions() -> None:
    functions = FUNCTIONS[:12]
    measures = {m.name: m for m in convert.small_functions(functions, rounds=1)}

    median = measures["convert a small function, median"]
    mean = measures["convert a small function, mean"]
    assert median.budget == 2
    assert 0 < median.value < mean.value * 5
    parts = [m.value for name, m in measures.items() if name.startswith("  of it")]
    if stages.available():
        assert sum(parts) == pytest.approx(mean.value)


def test_caches_are_cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round parses every file once, and each function is converted anew."""
    parsed: list[Any] = []
    original = ast.parse

    def parse(text: Any, *args: Any, **kwargs: Any) -> Any:
        parsed.append(args)
        return original(text, *args, **kwargs)

    monkeypatch.setattr(ast, "parse", parse)
    convert.forget_sources()
    for function in FUNCTIONS[:2]:
        convert._milliseconds_to_convert(function)

    assert len(parsed) == 1


def test_stages_tell_where_the_time_goes() -> None:
    """What only parses is found to be parsing."""
    if not stages.available():
        pytest.skip("no timer on this system")
    from autograph.source.parse import parse_module
    from autograph.source.text import Source

    sampler = stages.Sampler()
    with sampler.running():
        for _ in range(10):
            parse_module(Source.read(textwrap.__file__))

    assert sampler.seconds["parse"] > 0.9 * sum(sampler.seconds.values()) > 0


def test_every_stage_has_files() -> None:
    for folder in stages._FOLDERS:
        assert (stages._PACKAGE / folder).exists()


def test_shown_files() -> None:
    functions, plain = convert.shown_files(size=100)
    assert functions.unit == plain.unit == "s"
    assert 0 < functions.value < 60 > plain.value > 0


def test_large_file() -> None:
    lines, code, text = convert.large_file(rounds=1)

    assert lines.value > 2000
    assert 0 < text.value < code.value


def test_import_times() -> None:
    times = imports.milliseconds(["import sys", "import time; time.sleep(0.02)"], 1)

    assert times["import sys"][0] < 10
    assert times["import time; time.sleep(0.02)"][0] >= 20


def test_import_tree(capsys: pytest.CaptureFixture[str]) -> None:
    found = {imported.name: imported for imported in imports.import_tree("json")}

    assert found["json"].with_its_imports > found["json"].own
    assert "json.decoder" in found
    assert imports.main(["json"]) == 0
    assert "json.decoder" in capsys.readouterr().out
    assert imports.main([]) == 2


def test_main(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(convert, "corpus", lambda: FUNCTIONS[:3])
    monkeypatch.setattr(convert, "large_file", lambda rounds: [])
    monkeypatch.setattr(convert, "shown_files", list)
    monkeypatch.setattr(
        convert, "import_times", lambda rounds: [Measure("import", 70, "ms", 60)]
    )

    assert convert.main(["--rounds", "1", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["measures"][-1]["ok"] is False


def test_budgets_of_the_imports() -> None:
    assert {
        name: budget for name, (_, budget) in convert.IMPORTS.items() if budget
    } == {
        "import autograph": 60,
        "import runtime": 200,
    }
