"""The benchmark of saving times what it says."""

from __future__ import annotations

import json

import pytest

from benchmarks import saving

pytest.importorskip("safetensors")


def test_rates(capsys: pytest.CaptureFixture[str]) -> None:
    saving.main(["--rounds", "2", "--megabytes", "1", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["16 arrays of 0.0625 MB", "2,000 arrays of 1 kB"]
    for rates in found.values():
        assert len(rates) == 5
        assert all(len(rate) == 2 and min(rate) > 0 for rate in rates.values())


def test_report(capsys: pytest.CaptureFixture[str]) -> None:
    text = saving.report({"way": [1.0, 3.0, 2.0]})

    assert text.split() == ["way", "2", "MB/s", "(1", "to", "3)"]
