"""Comparisons in columns and as diffs, colour, JSON."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograph.commandline.output import (
    Reporter,
    as_record,
    side_by_side,
    unified_diff,
    wants_color,
)
from autograph.diagnostics import Diagnostic, Location

BEFORE = "def f(x):\n    if x:\n        g(x)\n    return x\n"
AFTER = """\
def f(x):
    def if_true():
        g(x)

    cond(x, if_true)
    return x
"""


def test_columns() -> None:
    assert side_by_side(BEFORE, AFTER, width=60) == (
        "def f(x):                      def f(x):\n"
        "    if x:                    <\n"
        "                             >     def if_true():\n"
        "        g(x)                           g(x)\n"
        "                             >\n"
        "                             >     cond(x, if_true)\n"
        "    return x                       return x\n"
    )


def test_moved_code_stays_aligned() -> None:
    """Code that is further to the right now is still the same code."""
    text = side_by_side("a = 1\nb = 2\n", "def f():\n    a = 1\n    b = 2\n", width=40)

    assert text.splitlines()[1].split() == ["a", "=", "1", "a", "=", "1"]


lines = st.lists(st.text("ab \t日é(),", max_size=60), max_size=12)


@given(before=lines, after=lines, width=st.integers(20, 70))
def test_columns_fit_and_lose_nothing(
    before: list[str], after: list[str], width: int
) -> None:
    text = side_by_side("\n".join(before), "\n".join(after), width=width)
    column = (width - 3) // 2

    def columns(line: str) -> int:
        return sum(2 if char == "日" else 1 for char in line)

    assert all(columns(line) <= 2 * column + 3 for line in text.splitlines())
    for side in (before, after):
        for char in "ab日é(),":
            assert text.count(char) >= "".join(side).count(char)
    wanted = "".join(before + after)
    assert sorted(c for c in text if c in "ab日é(),") == sorted(
        c for c in wanted if c in "ab日é(),"
    )


def test_diff() -> None:
    text = unified_diff("a\nb\n", "a\nc\n", "f.py")

    assert text == "--- f.py\n+++ f.py (converted)\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    assert unified_diff("a\n", "a\n", "f.py") == ""


def test_diff_in_color() -> None:
    colored = unified_diff("a\nb\n", "a\nc\n", "f.py", color=True)

    assert "\x1b[31m-b\x1b[0m" in colored
    assert "\x1b[32m+c\x1b[0m" in colored
    assert "\n a\n" in colored


def test_columns_in_color() -> None:
    colored = side_by_side("a\nb c\n", "a\nb d\ne\n", width=20, color=True)

    starts = [line[:5].strip() for line in colored.splitlines()]

    assert starts == ["a", "\x1b[33m", "\x1b[32m"]
    assert colored.count("\x1b[0m\n") == 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "choice", "variables", "expected"),
    [
        (Terminal(), "auto", {}, True),
        (io.StringIO(), "auto", {}, False),
        (io.StringIO(), "always", {}, True),
        (Terminal(), "never", {}, False),
        (Terminal(), "auto", {"NO_COLOR": "1"}, False),
        (Terminal(), "auto", {"NO_COLOR": ""}, True),
        (Terminal(), "auto", {"TERM": "dumb"}, False),
        (Terminal(), "always", {"NO_COLOR": "1"}, True),
    ],
)
def test_when_to_color(
    stream: io.StringIO,
    choice: str,
    variables: dict[str, str],
    expected: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert wants_color(stream, choice) is expected


def test_streams_that_cannot_write_everything() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    reporter = Reporter(out, io.StringIO())

    reporter.result("x = 'é'")
    reporter.flush()

    assert raw.getvalue() == b"x = '\\xe9'\n"


def test_record() -> None:
    place = Location("f.py", 2, 4, 2, 9)
    found = [Diagnostic("AG101", "t", "m", place, "do")]
    record = as_record("f.py", "f.py", "x\n", found)

    assert json.loads(json.dumps(record)) == {
        "target": "f.py",
        "filename": "f.py",
        "text": "x\n",
        "diagnostics": [
            {
                "code": "AG101",
                "title": "t",
                "message": "m",
                "fix": "do",
                "location": {
                    "filename": "f.py",
                    "line": 2,
                    "column": 5,
                    "end_line": 2,
                    "end_column": 10,
                },
            }
        ],
        "notes": [],
    }
