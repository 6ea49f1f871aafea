"""Copies of lists and dicts that a tensor chooses among: not to be changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from runtime.staging.elements import (
    ChosenDict,
    ChosenList,
    changed_element,
    plain_kind,
)
from runtime.staging.lists import StagedList

__all__ = ["chosen", "in_one_kind", "is_chosen"]


def chosen(value: Any, matters: Callable[[], bool] | None) -> Any:
    """The copy with a change of it refused, by AG210, if ``matters()`` says so then.

    The compiler asks for it where the lists that a graph chose among have other names
    by which they can be reached. Values of other kinds are given back as they are.
    """
    copy: Any = value
    if type(value) is list:
        copy = ChosenList(value)
    elif type(value) is dict:
        copy = ChosenDict(value)
    elif type(value) is StagedList:
        parts = value._element, value._buffers, value._count, value.name
        copy = _ChosenStagedList(*parts)
        copy._graph = value._graph
    if copy is not value:
        copy.matters = matters
    return copy


def is_chosen(value: Any) -> bool:
    """Whether a value is such a copy of a list."""
    return type(value) in (ChosenList, _ChosenStagedList)


def in_one_kind(one: Any, other: Any) -> tuple[Any, Any] | None:
    """Two lists or dicts of which one alone may be changed: both as what may not be.

    None for other values.
    """
    kinds = type(one), type(other)
    if kinds == (StagedList, _ChosenStagedList):
        return chosen(one, None), other
    if kinds == (_ChosenStagedList, StagedList):
        return one, chosen(other, None)
    plain = {plain_kind(kind) for kind in kinds}
    if kinds[0] is kinds[1] or len(plain) != 1 or None in plain:
        return None
    strict = next(kind for kind in (*kinds, ChosenList) if plain_kind(kind) is not kind)
    return strict(one), strict(other)


class _ChosenStagedList(StagedList):
    """A list of an open length that is a copy."""

    __slots__ = ("matters",)

    why = ChosenList.why

    def __autograph_settled__(self) -> StagedList:
        """An ordinary list where a change does not matter any more."""
        matters = getattr(self, "matters", None)
        return self if matters is None or matters() else self.copy()

    def _become(self, columns: Iterable[Any], count: Any) -> None:
        matters = getattr(self, "matters", None)
        if matters is None or matters():
            changed_element(self)
        super()._become(columns, count)
