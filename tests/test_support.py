"""docs/support.md says what the programs of tests/constructs do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import support, textbook_modes

PAGE = Path(__file__).parents[1] / "docs" / "support.md"
BACKENDS = PAGE.with_name("backends.md")
PROGRAMS = list(support.programs())
#: The answers of the programs, by their functions.
FOUND: dict[Callable[..., Any], dict[str, str]] = {}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.function.__name__)
def test_program(program: support.Program) -> None:
    modes = ("converted", *support.TENSOR_MODES)
    answers = {mode: support.answer(program, mode) for mode in modes}
    FOUND[program.function] = answers

    assert answers["converted"] == "yes"
    for mode in support.TENSOR_MODES:
        assert answers[mode] == "yes" or support.CODE.fullmatch(answers[mode]), mode
    assert answers["staged"] == answers["interpreted"]


@pytest.mark.slow  # it runs all programs
def test_page(update_golden: bool) -> None:
    for program in PROGRAMS:
        if program.function not in FOUND:
            test_program(program)
    text = support.matrix([(p, FOUND[p.function]) for p in PROGRAMS])
    text += support.refusals(textbook_modes.recorded())
    if update_golden:
        PAGE.write_text(text, encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == text


@pytest.mark.slow  # as above
def test_backends(update_golden: bool) -> None:
    for program in PROGRAMS:
        if program.function not in FOUND:
            test_program(program)
    text = support.backends([(p, FOUND[p.function]) for p in PROGRAMS])
    if update_golden:
        BACKENDS.write_text(text, encoding="utf-8")

    assert BACKENDS.read_text(encoding="utf-8") == text
