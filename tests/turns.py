"""Cases by the hundred: ``make test`` takes a quarter, ``make matrix`` the others.

Which quarter depends on the Python, so that the Pythons take different ones.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

__all__ = ["EVERYTHING", "by_turns", "quarter"]

_T = TypeVar("_T")

#: Whether there is time for all of them, as in ``make fuzz``.
EVERYTHING = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
_TURN = sys.version_info.minor % 4


def by_turns(cases: Sequence[object]) -> list[Any]:
    """The cases as parameters (tuples: several), of which three quarters are slow."""
    return [
        case if number % 4 == _TURN else _slow(case)
        for number, case in enumerate(cases)
    ]


def _slow(case: object) -> object:
    values = case if type(case) is tuple else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)


def quarter(cases: Sequence[_T]) -> list[_T]:
    """Every fourth case, or all where there is time."""
    return list(cases) if EVERYTHING else list(cases[_TURN::4])
