"""What helpers and methods change in a staged statement is merged."""

from __future__ import annotations

import pytest

from autograph.operators.state.kinds import kinds_of
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


def test_attributes_that_a_class_calls_caches_are_no_state() -> None:
    class Reader:
        __autograph_caches__ = ("is_open",)

    reader = Reader()
    reader.is_open, reader.seen = True, 1
    attributes = kinds_of(reader)[0]
    before = attributes.read(reader)
    assert before == {"seen": 1}
    reader.seen, reader.more = 2, 3

    attributes.fill(reader, before)

    assert vars(reader) == {"is_open": True, "seen": 1}
