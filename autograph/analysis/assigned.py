"""Which expressions a definition gives to a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast


def assigned_values(definition: Any, name: str) -> Iterator[Any]:
    """The expressions whose values an assignment gives to a name; none if it takes the
    value apart.
    """
    if definition.__class__ is gast.AnnAssign:
        yield definition.value
    elif definition.__class__ is gast.Assign:
        for target in definition.targets:
            yield from _matched(target, definition.value, name)


def _matched(target: Any, value: Any, name: str) -> Iterator[Any]:
    if target.__class__ is gast.Name:
        if target.id == name:
            yield value
    elif target.__class__ in (gast.Tuple, gast.List):
        same = value.__class__ in (gast.Tuple, gast.List) and not any(
            element.__class__ is gast.Starred for element in (*target.elts, *value.elts)
        )
        if same and len(target.elts) == len(value.elts):
            for part, element in zip(target.elts, value.elts):
                yield from _matched(part, element, name)
