"""The benchmark of the commands runs, on a few files."""

from __future__ import annotations

import json

import pytest

from benchmarks import tools


def test_all_commands_take_the_same_files(capsys: pytest.CaptureFixture[str]) -> None:
    tools.main(["--lines", "300", "--rounds", "1", "--json"])

    record = json.loads(capsys.readouterr().out)
    values = {one["name"]: one["value"] for one in record["measures"]}
    assert values["lines"] >= 300
    assert values["autograph build, lines per second"] > 0
