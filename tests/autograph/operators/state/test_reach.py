"""What refers to an object is found, also in a heap that was frozen."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import autograph
from autograph.operators.state.reach import referrers
from tests.toybackend import toy


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_who_refers_to_an_object_is_found_in_a_frozen_heap() -> None:
    value: list[int] = []
    holder = [value]
    gc.freeze()

    assert any(found is holder for found in referrers(value))


class Distance:
    def __init__(self, value):  # type: ignore[no-untyped-def]
        self.value = value

    def __mul__(self, other):  # type: ignore[no-untyped-def]
        if other > 2:
            return self.value * 2
        return self.value


def test_methods_that_python_calls_are_converted_in_a_frozen_heap() -> None:
    gc.freeze()
    x = toy.Parameter()

    def program(x):  # type: ignore[no-untyped-def]
        return Distance(7) * x

    with pytest.raises(TypeError) as caught:
        autograph.convert(program)(x)
    assert autograph.convert_raising(caught.value)
