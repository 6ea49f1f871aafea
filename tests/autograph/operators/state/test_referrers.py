"""What refers to an object is found, also in a heap that was frozen."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from autograph.operators.state.refusals import referrers


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_who_refers_to_an_object_is_found_in_a_frozen_heap() -> None:
    value: list[int] = []
    holder = [value]
    gc.freeze()

    assert any(found is holder for found in referrers(value))
