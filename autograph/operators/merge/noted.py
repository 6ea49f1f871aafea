"""What is known of values that only the run has: of tests, and of indexes."""

from __future__ import annotations

from typing import Any
from weakref import ref

from ..dispatch import backend_of

#: Consequences of living tests, by their ids: another test for each outcome, and
#: the outcome of that.
_consequences: dict[int, tuple[ref[Any], dict[bool, tuple[Any, bool]]]] = {}


#: The first and the last value of living indexes that a loop counts, by their ids.
_ends: dict[int, tuple[ref[Any], tuple[int, int]]] = {}


def note_ends(item: Any, ends: Any) -> None:
    """Note between which numbers the item of a loop is; ``ends``: see `Items`."""
    if isinstance(item, tuple):
        for part, inner in zip(item, ends or ()):
            note_ends(part, inner)
    elif ends is not None and backend_of(item) is not None:
        key = id(item)
        _ends[key] = ref(item, lambda _: _ends.pop(key, None)), ends


def ends_of(index: Any) -> tuple[int, int] | None:
    """The first and the last value of an index, if they are known."""
    return _ends.get(id(index), (None, None))[1]


def outcomes_of(test: Any) -> dict[bool, tuple[Any, bool]]:
    """For each outcome of a test, another test that it decides, and its outcome."""
    return _consequences.get(id(test), (None, {}))[1]


def noted(test: Any, outcomes: dict[bool, tuple[Any, bool]]) -> Any:
    """Note which other test is decided where a test holds, or does not."""
    if backend_of(test) is not None:
        key = id(test)
        _consequences[key] = ref(test, lambda _: _consequences.pop(key, None)), outcomes
    return test
