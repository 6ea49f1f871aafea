"""Random programs give the same in plain Python, converted, as text, eager and staged.

``make fuzz`` searches for long; the failing program that it shows, made small, becomes
a named case of ``tests/runtime/staging/test_regressions.py``.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.modes_fuzz import Tally, check
from tests.tensor_programs import random_tensor_program, tensor_programs


@given(tensor_programs())
@settings(
    max_examples=settings().max_examples // 6,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_drawn_program(text: str) -> None:
    """Slow to draw, but what it finds is made small."""
    check(text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 160, 20))
def test_numbered_programs(seed: int) -> None:
    """Many programs, quickly made; nearly all can be staged."""
    tally = Tally()
    for number in range(seed, seed + 20):
        check(random_tensor_program(number), tally)

    assert tally.programs == 20
    assert tally.staged >= 14
