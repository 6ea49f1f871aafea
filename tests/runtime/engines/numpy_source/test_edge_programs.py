"""Random programs about tensors at the edges of dtypes: see `tests.edge_programs`."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from tests.edge_programs import check
from tests.turns import by_turns

SEEDS = by_turns(range(100))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_executor_gives_what_eager_code_gives(seed: int) -> None:
    tally: collections.Counter[str] = collections.Counter()
    with np.errstate(all="ignore"):
        check(seed, tally)
    assert tally
