"""Lists of the program's own: a branch works on copies of those in its state."""

from __future__ import annotations

from typing import Any

from runtime.staging.lists.lists import StagedList
from runtime.staging.state.values import is_table

__all__ = ["Copies"]


class Copies:
    """Copies of lists for one branch, and what each is a copy of.

    What the branch leaves as it was is the original again, so that a list that nothing
    changes stays the object that it is.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """The value with copies of the lists in it; one copy of each list."""
        if id(value) in self._made:
            return self._made[id(value)][1]
        copy = value
        if type(value) is StagedList or is_table(value):
            copy = value.again()
        elif type(value) is list:
            copy = list(map(self.of, value))
        elif type(value) is tuple or type(value) is dict:
            parts = _parts(value)
            copies = list(map(self.of, parts))
            if any(a is not b for a, b in zip(parts, copies)):
                items: Any = copies if type(value) is tuple else zip(value, copies)
                copy = type(value)(items)
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


def _parts(value: Any) -> list[Any]:
    if isinstance(value, StagedList) or is_table(value):
        return list(value._flatten())
    return list(value.values() if isinstance(value, dict) else value)
