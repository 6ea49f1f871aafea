"""What a branch works on: copies of the lists in its state."""

from __future__ import annotations

from operator import is_
from typing import Any

from runtime.staging.objects.copy import Copy
from runtime.staging.objects.kinds import kind_of

__all__ = ["BranchCopies"]


class BranchCopies:
    """Copies of the lists in the state of a branch, and what each is a copy of.

    A list that the branch leaves as it was is the original again, so that a list that
    nothing changes stays the object that it is.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """The value with copies of the lists in it; one copy of each list."""
        if id(value) in self._made:
            return self._made[id(value)][1]
        copy = value
        cls = type(value)
        if _of_graph(value) is not None and not issubclass(cls, Copy):
            copy = _of_graph(value)(value)
        elif cls is list:
            copy = list(map(self.of, value))
        elif cls is tuple or cls is dict:
            parts = _parts(value)
            copies = list(map(self.of, parts))
            if not all(map(is_, parts, copies)):
                copy = cls(copies if cls is tuple else zip(value, copies))
        if copy is not value:
            self._made[id(value)] = value, copy
            self._made[id(copy)] = value, copy
        return copy

    def original(self, value: Any) -> Any:
        """What a value is a copy of, if it is as it was; else the value."""
        if id(value) not in self._made:
            return value
        original, _ = self._made[id(value)]
        return original if self._unchanged(original, value) else value

    def _unchanged(self, original: Any, copy: Any) -> bool:
        if isinstance(original, dict) and list(original) != list(copy):
            return False
        one, other = _parts(original), _parts(copy)
        return len(one) == len(other) and all(
            a is self.original(b) for a, b in zip(one, other)
        )


def _of_graph(value: Any) -> Any:
    """What makes a copy of a container of the graph; None for other values."""
    kind = kind_of(type(value))
    return None if kind is None else kind.again


def _parts(value: Any) -> list[Any]:
    if _of_graph(value) is not None:
        return list(value._flatten())
    return list(value.values() if isinstance(value, dict) else value)
