"""Slow cases that need not run on every Python: the Pythons take them by turns."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["EVERYTHING", "by_turns"]

_T = TypeVar("_T")

#: Whether there is time for all of them, as in ``make fuzz``.
EVERYTHING = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"


def by_turns(cases: Sequence[_T]) -> list[_T]:
    """Every fourth case; the other three Pythons take the others."""
    return list(cases) if EVERYTHING else list(cases[sys.version_info.minor % 4 :: 4])
