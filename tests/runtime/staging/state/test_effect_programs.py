"""Random programs of recursion and of names for containers: `tests.effect_programs`."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from tests.effect_programs import check
from tests.turns import by_turns


@pytest.mark.parametrize("seed", by_turns(range(0, 60, 5)))
def test_effects_and_names_are_pythons(seed: int) -> None:
    tally: collections.Counter[str] = collections.Counter()
    for number in range(seed, seed + 5):
        with np.errstate(all="ignore"):
            check(number, tally)

    assert tally["staged equal"]
