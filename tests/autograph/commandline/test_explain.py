"""Error codes are explained offline."""

from __future__ import annotations

import json

import pytest

from autograph.commandline import explain as cli
from autograph.commandline.main import main
from autograph.errors import TargetError


def test_every_section_of_the_page_is_found() -> None:
    found = cli.explanations()

    assert {"AG100", "AG201", "AG301", "AG407"} <= found.keys()
    for code, one in found.items():
        assert one.code == code
        assert one.title
        assert len(one.text) > 20
        assert "\n#" not in one.text


def test_a_code_may_be_written_small() -> None:
    assert cli.explanation("ag105") is cli.explanation("AG105")


def test_a_number_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.explanation("105") is cli.explanation("AG105")
    assert main(["explain", "103", "ag102"]) == 0

    assert capsys.readouterr().out.count("AG10") == 2


def test_a_code_in_the_section_of_another_is_explained_there() -> None:
    assert cli.explanation("AG351") is cli.explanation("AG350")


def test_an_unknown_code_is_refused_with_its_neighbours() -> None:
    with pytest.raises(TargetError, match="AG407") as caught:
        cli.explanation("AG1O1")

    assert "AG101" in str(caught.value)


def test_the_command_prints_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "AG101"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("AG101 nothing to convert\n\n")


def test_the_command_prints_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "AG101", "ag102"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("AG101 nothing to convert\n")
    assert "\n\n\nAG102 no source\n" in out


def test_the_command_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(cli.explanations())
    assert lines[0].startswith("AG100  ")


def test_the_command_speaks_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "AG101", "--json"]) == 0

    (one,) = json.loads(capsys.readouterr().out)
    assert one["code"] == "AG101"


def test_the_command_refuses_an_unknown_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "AG999"]) == 2

    assert "AG407" in capsys.readouterr().err


def test_the_beginning_of_codes_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "ag1"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert "AG106  left unconverted" in lines
    assert all(line.startswith("AG1") for line in lines)


def test_codes_and_groups_are_explained_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "AG101", "AG10"]) == 0
    assert capsys.readouterr().out.count("AG101") == 2
    assert main(["explain", "AG101", "file.py::f"]) == 2
    assert "codes and targets are mixed" in capsys.readouterr().err
