"""Converted code on Python values means what the original means."""

from __future__ import annotations

import pytest

import autograph
from tests.corpus_loader import Entry, entries
from tests.idle import idle
from tests.observe import observe, same_lines

CASES = [
    pytest.param(entry, arguments, id=f"{entry.name}-{number}")
    for entry in entries()
    for number, arguments in enumerate(entry.cases)
]


@pytest.mark.parametrize(("entry", "arguments"), CASES)
def test_corpus(entry: Entry, arguments: tuple[object, ...]) -> None:
    original = observe(entry.function, arguments)
    converted = observe(autograph.convert(entry.function), arguments)

    assert converted.meaning == original.meaning
    assert same_lines(original, converted)

    with idle():
        as_written = observe(autograph.convert(entry.function), arguments)

    assert as_written == original
