"""Cases by the hundred, of which each of the four Pythons takes a quarter.

``make test`` takes the quarter of its Python. ``make matrix`` runs the other Pythons,
which take the other quarters. The folders that it tests on one Python alone
(``SAME_ON_ALL`` in the Makefile) take them there, with ``TURNS=others``. ``make fuzz``
takes all at once.
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
_OTHERS = os.environ.get("TURNS") == "others"
_TURN = sys.version_info.minor % 4


def by_turns(cases: Sequence[object]) -> list[Any]:
    """The cases of this Python; with ``TURNS=others`` all, the others marked slow."""
    if EVERYTHING:
        return list(cases)
    own = list(cases[_TURN::4])
    others = [case for number, case in enumerate(cases) if number % 4 != _TURN]
    return [*own, *map(_slow, others)] if _OTHERS else own


def _slow(case: object) -> object:
    values = case if type(case) is tuple else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)


def quarter(cases: Sequence[_T]) -> list[_T]:
    """Every fourth case, or all where there is time."""
    return list(cases) if EVERYTHING else list(cases[_TURN::4])
