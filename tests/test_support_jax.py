"""The column of docs/support.md about JAX: what the programs do under `jax.jit`.

A quarter; all of them with HYPOTHESIS_PROFILE=fuzz, which ``--update-golden`` wants.
"""

from __future__ import annotations

import json

import pytest

from tests import modes, support

pytest.importorskip("jax")

from tests import jax_mode
from tests.turns import by_turns

PROGRAMS = list(support.programs())
RECORDED = support.under_jax()


def answer(program: support.Program) -> str:
    """As `support.answer`; ``error`` where JAX, or Python, refuses what is asked."""
    staged = jax_mode.Program(program.function)
    for case in program.cases:
        expected = modes.run(program.function, case, "plain")
        found = staged.run(case)
        if found.code is not None:
            return found.code
        if found.error is not None and found.error != expected.error:
            return "error"
        assert found.error == expected.error, case
        assert found.message == expected.message, case
        assert modes.same(found.value, expected.value), case
    return "yes"


@pytest.mark.parametrize("program", by_turns(PROGRAMS), ids=support.name_of)
def test_program(program: support.Program, update_golden: bool) -> None:
    found = answer(program)
    if update_golden:
        RECORDED[support.name_of(program)] = found
        text = json.dumps(RECORDED, indent=1, sort_keys=True) + "\n"
        support.UNDER_JAX.write_text(text, encoding="utf-8")

    assert found == RECORDED[support.name_of(program)]
