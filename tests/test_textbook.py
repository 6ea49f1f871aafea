"""Programs of textbooks: what gave Python's result on tensors goes on giving it."""

from __future__ import annotations

import pytest

from tests import textbook_modes
from tests.textbook_modes import MODES, Program
from tests.turns import by_turns

PROGRAMS = list(textbook_modes.programs())
RECORDED = textbook_modes.recorded()
#: Each program in two of the modes: the examples of a textbook are many.
PAIRS = [
    (program, mode)
    for number, program in enumerate(by_turns(PROGRAMS))
    for mode in (MODES[number % 5], MODES[(number + 2) % 5])
]


def test_there_are_300_programs() -> None:
    unseen = [program for program in PROGRAMS if program.name.startswith("unseen/")]
    assert (len(PROGRAMS), len(unseen)) == (300, 60)
    assert all(program.calls for program in PROGRAMS)
    assert RECORDED.keys() == {program.name for program in PROGRAMS}


@pytest.mark.parametrize(
    ("program", "mode"), PAIRS, ids=[f"{p.name}-{mode}" for p, mode in PAIRS]
)
def test_equal_stays_equal(program: Program, mode: str) -> None:
    case = 0
    expected = RECORDED[program.name][mode][case]
    verdict = textbook_modes.compare(program, case, mode)
    assert verdict.kind != "different" or expected == "different", verdict.text
    if expected == "equal":
        assert verdict.kind == "equal", verdict.text
