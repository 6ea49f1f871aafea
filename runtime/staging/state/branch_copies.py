"""The state that a branch works on: copies of the lists in it.

`branches.trace_branch` gives each branch copies, so that the other branch sees the
lists as they were before.
"""

from __future__ import annotations

from operator import is_
from typing import Any

from runtime.staging.objects.copy import Copy
from runtime.staging.objects.kinds import kind_of

__all__ = ["BranchCopies"]


class BranchCopies:
    """Copies of the lists in the state of a branch, and their originals.

    A copy that the branch does not change becomes the original again after the branch,
    so that an unchanged list keeps its identity.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """The value with a copy of each list in it, always the same copy."""
        if id(value) in self._made:
            return self._made[id(value)][1]
        copy = value
        cls = type(value)
        if _of_graph(value) is not None and not issubclass(cls, Copy):
            copy = _of_graph(value)(value)
        elif cls is list:
            copy = list(map(self.of, value))
        elif cls is tuple or cls is dict:
            items = _parts(value)
            copies = list(map(self.of, items))
            if not all(map(is_, items, copies)):
                copy = cls(copies if cls is tuple else zip(value, copies))
        if copy is not value:
            self._made[id(value)] = value, copy
            self._made[id(copy)] = value, copy
        return copy

    def original(self, value: Any) -> Any:
        """The original of an unchanged copy; any other value itself."""
        if id(value) not in self._made:
            return value
        original, _ = self._made[id(value)]
        return original if self._unchanged(original, value) else value

    def _unchanged(self, original: Any, copy: Any) -> bool:
        if isinstance(original, dict) and list(original) != list(copy):
            return False
        items, items_of_copy = _parts(original), _parts(copy)
        return len(items) == len(items_of_copy) and all(
            a is self.original(b) for a, b in zip(items, items_of_copy)
        )


def _of_graph(value: Any) -> Any:
    """The function that copies a container of the graph; None for other values."""
    kind = kind_of(type(value))
    return None if kind is None else kind.again


def _parts(value: Any) -> list[Any]:
    if _of_graph(value) is not None:
        return list(value._flatten())
    return list(value.values() if isinstance(value, dict) else value)
