"""``autograph explain file.py::function``: a line for each statement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograph.commandline.main import main
from autograph.commandline.statements import explained
from autograph.commandline.targets import parse_target

Captured = pytest.CaptureFixture[str]

PROGRAM = """\
import math


class Till:
    def __init__(self):
        self.sales = 0

    def sell(self, prices, limit=None):
        log = []
        for price in prices:
            if limit is None:
                continue
            if price > limit:
                self.sales += price
                log.append(price)
        if __debug__:
            assert math.sqrt(4.0) == 2.0
        return log


def evens(numbers):
    for number in numbers:
        if number % 2 == 0:
            yield number


def broken(n):
    if n > 0:
        m = (1, 2)
    else:
        m = 5
    return m
"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with the program, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "explained_shop.py").write_text(PROGRAM)


def kinds(target: str) -> list[tuple[int, str]]:
    return [(line.line, line.kind) for line in explained(parse_target(target))]


def test_each_statement_has_a_line() -> None:
    assert kinds("explained_shop.py::Till.sell") == [
        (8, "as written"),
        (9, "as written"),
        (10, "staged"),
        (11, "Python's"),
        (12, "as written"),
        (13, "staged"),
        (14, "as written"),
        (15, "as written"),
        (16, "Python's"),
        (17, "operators"),
        (18, "as written"),
    ]
    assert len(kinds("explained_shop.py")) == len(kinds("explained_shop"))


def test_the_state_of_a_statement_and_what_makes_it_state() -> None:
    lines = {
        line.line: line for line in explained(parse_target("explained_shop:Till.sell"))
    }

    assert lines[13].notes == (
        "staged: cond",
        "  state: self.sales, assigned in line 14",
        "  state: log, changed by log.append in line 15",
    )


def test_what_stays_is_told_with_a_way_out() -> None:
    loop = explained(parse_target("explained_shop.py::evens"))[1]

    assert loop.kind == "refused"
    assert loop.notes == (
        "stays as written: the statement has a `yield` in it",
        "make a list in a loop and return it",
    )


def test_a_trace_adds_what_only_it_knows(capsys: Captured) -> None:
    pytest.importorskip("runtime", exc_type=ImportError)
    assert (
        main(
            [
                "explain",
                "explained_shop.py::evens",
                "explained_shop.py::broken(5)",
                "--json",
            ]
        )
        == 0
    )
    static, traced = json.loads(capsys.readouterr().out)
    assert static["trace"] == ""
    assert traced["statements"][0]["text"] == "def broken(n):"
    assert "trace broken(n=5): " in traced["trace"]


def test_a_refusal_of_the_trace_is_told(capsys: Captured) -> None:
    pytest.importorskip("runtime", exc_type=ImportError)
    assert main(["explain", "explained_shop.py::broken(int32[])"]) == 1

    text = capsys.readouterr().out
    assert text.startswith("    27  def broken(n):\n")
    assert "AG201" in text


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("explained_shop.py::missing", "AG403"),
        ("no_such.py", "AG401"),
        ("explained_shop.py::f(1)", "AG403"),
    ],
)
def test_targets_that_are_not_there(target: str, code: str, capsys: Captured) -> None:
    pytest.importorskip("runtime", exc_type=ImportError)
    assert main(["explain", target]) == 2
    assert code in capsys.readouterr().err


def test_a_file_that_cannot_be_imported(capsys: Captured) -> None:
    pytest.importorskip("runtime", exc_type=ImportError)
    Path("explained_stops.py").write_text(
        "def f(x):\n    return x\n\n\nopen('missing')\n"
    )

    assert main(["explain", "explained_stops.py::f(1)"]) == 2
    assert "FileNotFoundError" in capsys.readouterr().err


def test_each_case_of_a_chain_and_of_a_match_is_told() -> None:
    Path("explained_cases.py").write_text(
        "def f(n):\n"
        "    if n > 3:\n"
        "        m = 1\n"
        "    elif n > 2:\n"
        "        m = 2\n"
        "    else:\n"
        "        m = 3\n"
        "    match n:\n"
        "        case 1:\n"
        "            m = 4\n"
        "        case 2:\n"
        "            m = 5\n"
        "    return m\n"
    )
    lines = {line.line: line for line in explained(parse_target("explained_cases.py"))}

    assert lines[2].notes == ("staged: case",)
    assert lines[4].notes == ("staged: a case of the statement above",)
    assert lines[8].kind == "staged"
