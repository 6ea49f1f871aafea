"""Random programs on XLA give what NumPy gives, or are refused by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.random_programs import MAKERS, SEEDS, Program, differences

pytest.importorskip("jax")


@pytest.mark.parametrize("make", MAKERS)
def test_random_programs(make: Callable[[int], Program]) -> None:
    found = {seed: list(differences(make(seed), "xla")) for seed in SEEDS}
    assert not {seed: texts for seed, texts in found.items() if texts}
