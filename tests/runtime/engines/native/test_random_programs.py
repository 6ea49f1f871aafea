"""Random programs as native code give what NumPy gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.random_programs import MAKERS, SEEDS, Program, differences

pytest.importorskip("llvmlite")


@pytest.mark.parametrize("make", MAKERS)
def test_random_programs(make: Callable[[int], Program]) -> None:
    found = {seed: list(differences(make(seed), "native")) for seed in SEEDS}
    assert not {seed: texts for seed, texts in found.items() if texts}
