"""The column of docs/backends.md about PyTorch: what programs do once exported.

A quarter; all of them with HYPOTHESIS_PROFILE=fuzz, which ``--update-golden`` wants.
`make torch`, a part of `make matrix`, installs PyTorch and runs this.
"""

from __future__ import annotations

import json

import pytest

from tests import modes, support

pytest.importorskip("torch")

from tests import torch_mode
from tests.turns import by_turns

PROGRAMS = list(support.programs())
RECORDED = support.recorded(support.UNDER_TORCH)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def answer(program: support.Program) -> str:
    """As `support.answer`; ``error`` where PyTorch, or Python, refuses it."""
    exported = torch_mode.Program(program.function)
    for case in program.cases:
        expected = modes.run(program.function, case, "plain")
        found = exported.run(case)
        if found.code is not None:
            return found.code
        if found.error is not None or expected.error is not None:
            assert found.error is not None, (case, expected)
            return "error"
        assert modes.same(found.value, expected.value), (case, found, expected)
    return "yes"


@pytest.mark.parametrize("program", by_turns(PROGRAMS), ids=support.name_of)
def test_program(program: support.Program, update_golden: bool) -> None:
    found = answer(program)
    if update_golden:
        RECORDED[support.name_of(program)] = found
        text = json.dumps(RECORDED, indent=1, sort_keys=True) + "\n"
        support.UNDER_TORCH.write_text(text, encoding="utf-8")

    assert found == RECORDED[support.name_of(program)]
