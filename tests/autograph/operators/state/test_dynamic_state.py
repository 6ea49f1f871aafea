"""What helpers and methods change in a staged statement is merged."""

from __future__ import annotations

import pytest

from tests.state_programs import PROGRAMS, VALUES
from tests.toybackend.toy import staged

#: The small library has no structures in loops, and no exceptions.
BEYOND = (
    "list_of_an_object dataclass_replaced item_by_a_helper list_rebound_in_a_loop "
    "nested_list change_then_raise"
).split()
PROGRAMS = [program for program in PROGRAMS if program.__name__ not in BEYOND]


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.__name__ for p in PROGRAMS])
def test_staged_is_python(program) -> None:
    run = staged(program)

    assert [run(value) for value in VALUES] == [program(value) for value in VALUES]
