"""Random programs about names, effects and objects; `make fuzz` tries more of them."""

from __future__ import annotations

import pytest

from tests.names_fuzz import is_right, verdict
from tests.operand_world import load_operands
from tests.turns import by_turns


@pytest.mark.parametrize("number", by_turns(range(200)))
def test_a_random_program_of_operands(number: int) -> None:
    found = verdict(load_operands(number))

    assert is_right(found), found


def test_what_is_right() -> None:
    assert is_right("equal")
    assert is_right("AG210")
    assert not is_right("gives {}, not {0: 1}")
    assert not is_right("TypeError: AG is no code")
