"""Each entry of docs/limitations.md has a code in it, or a test of what it says.

`limitations.txt` names the tests.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "limitations.md"
CODE = re.compile(r"\bAG\d{3}\b")


def _entries() -> list[str]:
    """The items of the lists and the rows of the tables, each on one line."""
    page = re.sub(
        r"^```.*?^```$", "", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    page = page.replace("\n  ", " ")
    page = re.sub(r"^\|[^\n]*\n\|-", "|-", page, flags=re.M)  # a heading of a table
    return [line[2:] for line in page.splitlines() if line.startswith(("- ", "| "))]


def _named() -> dict[str, str]:
    """The tests, by the beginnings of the entries that they are for."""
    lines = (Path(__file__).with_name("limitations.txt")).read_text(encoding="utf-8")
    _, _, table = lines.partition("\n\n")
    rows = table.splitlines()
    return {begins: test.strip() for begins, test in zip(rows[::2], rows[1::2])}


ENTRIES, NAMED = _entries(), _named()


def test_each_entry_has_a_code_or_a_test() -> None:
    assert len(ENTRIES) > 80
    without = [
        e for e in ENTRIES if not CODE.search(e) and not e.startswith(tuple(NAMED))
    ]

    assert without == [], "name a test of it in limitations.txt"


@pytest.mark.parametrize("begins", NAMED)
def test_the_entry_and_its_test_exist(begins: str) -> None:
    assert sum(entry.startswith(begins) for entry in ENTRIES) == 1
    path, _, name = NAMED[begins].partition("::")

    text = (TESTS / path).read_text(encoding="utf-8")
    assert re.search(rf"^def {name}\(", text, re.MULTILINE)
