"""Random programs about numbers at the edges of dtypes: see `tests.number_programs`."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from tests.number_programs import check
from tests.turns import by_turns

SEEDS = by_turns(range(160))


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_are_exact_or_refused(seed: int) -> None:
    tally: collections.Counter[str] = collections.Counter()
    with np.errstate(all="ignore"):
        check(seed, tally)
    assert tally
