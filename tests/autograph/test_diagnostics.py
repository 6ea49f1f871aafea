"""Diagnostics print the place, the line with carets, the reason and the way out."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pytest

from autograph.diagnostics import Diagnostic, Location, render
from autograph.errors import AutographError, ConversionError


def at(source: str, expression: str) -> Diagnostic:
    """A finding about the part of `source` that reads `expression`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.expr) and ast.get_source_segment(source, node) == (
            expression
        ):
            place = Location.of(node, "f.py")
            return Diagnostic("AG101", "title", "because", place, "do", source)
    raise AssertionError(expression)


def test_caret_under_expression() -> None:
    text = render(at("if 1:\n    y = f(x) + 2  # note\n", "f(x)"))

    assert text == (
        "f.py:2:9: AG101 title\n"
        "   2 |     y = f(x) + 2  # note\n"
        "     |         ^^^^\n"
        "  why: because\n"
        "  fix: do"
    )


@pytest.mark.parametrize(
    ("source", "expression", "column", "carets"),
    [
        ("é = f(x)\n", "f(x)", 5, "    ^^^^"),
        ("é = '日本' + x\n", "x", 12, "             ^"),
        ("a = '日本'\n", "'日本'", 5, "    ^^^^^^"),
        ("if 1:\n\ty = x\n", "x", 6, "\t    ^"),
        ("y = f(a,\n      b)\n", "f(a,\n      b)", 5, "    ^^^^"),
        ("y = f(a,  # one\n      b)\n", "f(a,  # one\n      b)", 5, "    ^^^^"),
    ],
)
def test_columns_are_what_people_see(
    source: str, expression: str, column: int, carets: str
) -> None:
    """Bytes become characters, wide characters take two columns, tabs stay tabs."""
    lines = render(at(source, expression)).splitlines()

    assert lines[0].split(": ")[0].rpartition(":")[2] == str(column)
    assert lines[2] == "     | " + carets


def test_line_numbers_widen_the_margin() -> None:
    source = "\n" * 12344 + "x\n"
    place = Location("f.py", 12345, 0, 12345, 1)

    assert render(Diagnostic("AG101", "t", location=place, source=source)) == (
        "f.py:12345:1: AG101 t\n 12345 | x\n       | ^"
    )


def test_source_comes_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("x = 1\n")

    text = str(Diagnostic("AG101", "t", location=Location(str(path), 1, 4, 1, 5)))

    assert "   1 | x = 1\n     |     ^" in text


@pytest.mark.parametrize("lineno", [1, 99])
def test_without_source_only_the_place(lineno: int) -> None:
    place = Location("gone.py", lineno, 3)

    assert (
        str(Diagnostic("AG101", "t", location=place)) == f"gone.py:{lineno}:4: AG101 t"
    )
    assert str(Diagnostic("AG101", "t")) == "AG101 t"


def test_color_changes_nothing_but_color() -> None:
    finding = at("x = f(1)\n", "f(1)")
    colored = render(finding, color=True)
    plain = colored
    for style in ("\x1b[1m", "\x1b[1;31m", "\x1b[36m", "\x1b[0m"):
        assert style in colored
        plain = plain.replace(style, "")

    assert plain == render(finding)


def test_errors_carry_their_diagnostics() -> None:
    first, second = Diagnostic("AG101", "one"), Diagnostic("AG104", "two")
    error = ConversionError(first, second)
    again = pickle.loads(pickle.dumps(error))

    assert str(error) == "AG101 one\nAG104 two"
    assert error.code == "AG101"
    assert isinstance(again, ConversionError)
    assert again.diagnostics == (first, second)


def test_an_error_says_something() -> None:
    with pytest.raises(ValueError, match="at least one"):
        AutographError()
