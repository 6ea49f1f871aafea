"""The report of the statements that a trace stages."""

from __future__ import annotations

from autograph.operators.state.report import (
    ChangedPlace,
    Report,
    SourceLine,
    note_staged,
    reporting,
)

LINES = [SourceLine("C.add", "/src/a.py", line) for line in (3, 7)]


def place(name: str, *lines: SourceLine) -> ChangedPlace:
    return ChangedPlace(name, False, lines)


def test_what_several_traces_find_of_a_statement() -> None:
    report = Report()
    found = [place("c.n", *LINES[1:]), place("c.n", *LINES), place("xs[0]")]

    with reporting(report):
        for one in found:
            note_staged("while", "n, xs", [one])
    note_staged("if", "", found)

    (statement,) = report
    assert statement.state == ("n", "xs")
    assert statement.found == (place("c.n", *LINES),)  # `xs` has the item
    first, *others = str(report).splitlines()
    assert first == f"while at {statement.filename}:{statement.line}, state='n, xs'"
    assert others == ["  also c.n, changed by `C.add` (lines 3, 7 of a.py)"]


def test_a_line_of_the_statement_itself() -> None:
    own = SourceLine(None, "/src/a.py", 4)

    assert str(place("d['k']", own)) == "d['k'], changed by line 4 of a.py"
