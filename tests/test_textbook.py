"""Programs of textbooks: what gave Python's result on tensors goes on giving it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests import textbook_modes
from tests.textbook_modes import MODES, Verdict
from tests.turns import quarter

RECORDED = textbook_modes.recorded()
#: Each program in one of the modes: the examples of a textbook are many.
PAIRS = [
    (name, mode)
    for number, name in enumerate(quarter(sorted(RECORDED)))
    if RECORDED[name][mode := MODES[number % 5]][0] != "slow"
]


def test_there_are_300_programs() -> None:
    programs = list(textbook_modes.programs())
    unseen = [program for program in programs if program.name.startswith("unseen/")]
    assert (len(programs), len(unseen)) == (300, 60)
    assert all(program.calls for program in programs)
    assert RECORDED.keys() == {program.name for program in programs}


def test_equal_stays_equal() -> None:
    # In a process of its own: what a trace searches the heap for takes long in one that
    # has run thousands of tests, and the calls have a time limit.
    pairs = ",".join(f"{name}:{mode}" for name, mode in PAIRS)
    command = [sys.executable, "-m", "tests.textbook_modes", "--pairs", pairs]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    lost = []
    for (name, mode), found in zip(PAIRS, json.loads(done.stdout), strict=True):
        verdict, before = Verdict(*found), RECORDED[name][mode][0]
        is_worse = before == "equal" and verdict.kind != "equal"
        if is_worse or (verdict.kind == "different" and before != "different"):
            lost.append((name, mode, verdict))
    assert lost == []
