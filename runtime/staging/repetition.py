"""``[0] * n``, ``(x, y) * n`` and ``"-" * n``, where a tensor says how often."""

from __future__ import annotations

import operator
from typing import Any

from runtime.graph import state_error
from runtime.ops import convert
from runtime.staging.elements import taken_apart
from runtime.staging.lists import StagedList
from runtime.staging.text import Values, is_text

__all__ = ["repeated"]


def repeated(items: Any, times: Any) -> Any:
    """``items * times`` of a list or text in the graph being built.

    Raises:
        StagedStateError: AG210, for a tuple: what is made in a graph is a list.
    """
    if isinstance(items, tuple):
        raise state_error(
            "AG210",
            "a tensor decides how long a tuple gets, and in a graph lists alone can "
            "have an open length",
            "make a list: `list(items) * n`",
        )
    if isinstance(items, str) or is_text(items):
        found = Values()
        fills = [found.fill(items), found.fill(times)]
        return found.text(operator.mul, fills, "str * int")
    if isinstance(items, StagedList):
        return items * times
    element = None if items else taken_apart(0, "items")[0]
    return StagedList.of(items, "items", element) * convert.as_tensor(times)
