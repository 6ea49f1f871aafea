"""Sets with members that only the graph knows."""

from __future__ import annotations

import sys
from typing import Any

from runtime.ops import convert
from runtime.ops.containers.list_tables import FIRST_ONES, MEMBERS, TAKE
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.elementwise.logical import logical_and, logical_not
from runtime.staging.library.tables import StagedTable
from runtime.staging.lists.elements import Element
from runtime.staging.lists.lists import StagedList
from runtime.staging.lists.parts import emit, in_its_place, size_of
from runtime.staging.objects.kinds import is_in_place
from runtime.staging.state.branches import raise_if
from runtime.tensor import Tensor
from runtime.types import dtypes

__all__ = ["StagedSet", "set_of"]


class StagedSet(StagedTable):
    """A set in a graph. Its members are in the order in which they were added."""

    __slots__ = ()

    kind = set
    changed = "Set changed size during iteration"

    @classmethod
    def _python(cls, keys: list[Any], *columns: list[Any]) -> Any:
        return set(keys)

    def add(self, member: Any) -> None:
        """Add a member, unless it is there."""
        self._keys._count = self._put_key(member, self._place(member))

    def discard(self, member: Any) -> None:
        """Take a member out, if it is there."""
        place = self._place(member)
        there = convert.cast(convert.as_tensor(place < self._count), dtypes.int32)
        self._take_out(place, self._count - there)

    def remove(self, member: Any) -> None:
        """Take a member out; KeyError if it is not there."""
        place = self._place(member)
        self._check_there(place, member)
        self._take_out(place, self._count - 1)

    def pop(self) -> Any:
        """Take a member out, the first one."""
        error = KeyError("pop from an empty set")
        raise_if(convert.as_tensor(equal(self._count, 0)), error)
        member = self._keys._row(convert.constant(0), shared=False)
        self._take_out(convert.constant(0, dtypes.int32), self._count - 1)
        return member

    def update(self, *others: Any) -> None:
        """Add the members of others."""
        for other in others:
            joined = set_of(self._keys + self._list_of(other), self.name)
            self._keys._become(joined._keys._buffers, joined._count)

    def _list_of(self, other: Any) -> StagedList:
        """The members of another set, or the items of what is no set."""
        if isinstance(other, StagedTable):
            return other.keys()
        if isinstance(other, Tensor):
            return StagedList(
                Element.number(other.spec), [other], size_of(other), self.name
            )
        if isinstance(other, StagedList):
            return other
        items = list(other)
        return StagedList.of(items, self.name, None if items else self._keys.element)

    def _picked(self, other: Any, wanted: bool) -> StagedSet:
        """The members that are in another set, or that are not."""
        beside = self._list_of(other)
        columns = self._keys._columns()
        both = (*columns, *beside._columns())
        if not self._keys._element.is_like(beside._element):
            raise self._cannot("be compared so", "the members are of several kinds")
        places = emit(MEMBERS, *both, weak=False, wanted=wanted)
        picked = [emit(TAKE, column, places) for column in columns]
        return StagedSet(
            [StagedList(self._keys._element, picked, size_of(places), "keys")],
            self.name,
        )

    def union(self, *others: Any) -> StagedSet:
        """The members of this set and of others."""
        result = self.copy()
        result.update(*others)
        return result

    def intersection(self, *others: Any) -> StagedSet:
        """The members that all others have, too."""
        result = self
        for other in others:
            result = result._picked(other, True)
        return result.copy()

    def difference(self, *others: Any) -> StagedSet:
        """The members that no other has."""
        result = self
        for other in others:
            result = result._picked(other, False)
        return result.copy()

    def symmetric_difference(self, other: Any) -> StagedSet:
        """The members of one of two sets alone."""
        beside = set_of(self._list_of(other), self.name)
        return self.difference(beside).union(beside.difference(self))

    def intersection_update(self, *others: Any) -> None:
        """Keep the members that all others have, too."""
        picked = self.intersection(*others)._keys
        self._keys._become(picked._buffers, picked._count)

    def difference_update(self, *others: Any) -> None:
        """Take the members of others out."""
        picked = self.difference(*others)._keys
        self._keys._become(picked._buffers, picked._count)

    def issubset(self, other: Any) -> Any:
        """Whether all members are in another set."""
        return equal(self._picked(other, False)._count, 0)

    def issuperset(self, other: Any) -> Any:
        """Whether all members of another set are in this one."""
        return set_of(self._list_of(other), self.name).issubset(self)

    def isdisjoint(self, other: Any) -> Any:
        """Whether no member is in another set."""
        return equal(self._picked(other, True)._count, 0)

    def __eq__(self, other: object) -> Any:
        if not _is_set(other):
            return False
        return logical_and(self.issubset(other), self.issuperset(other))

    def __le__(self, other: Any) -> Any:
        return self.issubset(other) if _is_set(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return self.issuperset(other) if _is_set(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented
        return logical_and(self.issubset(other), logical_not(self.issuperset(other)))

    def __gt__(self, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented
        return logical_and(self.issuperset(other), logical_not(self.issubset(other)))

    def __or__(self, other: Any) -> StagedSet:
        return self.union(other) if _is_set(other) else NotImplemented

    def __and__(self, other: Any) -> StagedSet:
        return self.intersection(other) if _is_set(other) else NotImplemented

    def __sub__(self, other: Any) -> StagedSet:
        return self.difference(other) if _is_set(other) else NotImplemented

    def __xor__(self, other: Any) -> StagedSet:
        return self.symmetric_difference(other) if _is_set(other) else NotImplemented

    def __rsub__(self, other: Any) -> StagedSet:
        if not _is_set(other):
            return NotImplemented
        whole = self._instead_of(other, is_in_place(sys._getframe(1)))
        if whole is not self:
            return whole.__isub__(self)
        return set_of(self._list_of(other), self.name).difference(self)

    def _instead_of(self, other: Any, in_place: bool) -> StagedSet:
        """What stands for a set of Python that is changed in place; else this one."""
        if type(other) is not set or not in_place:
            return self
        make = lambda: set_of(self._list_of(other), self.name)  # noqa: E731
        found: StagedSet = in_its_place(other, make)
        return found

    def __ror__(self, other: Any) -> StagedSet:
        whole = self._instead_of(other, is_in_place(sys._getframe(1)))
        return whole.__ior__(self) if whole is not self else self.__or__(other)

    def __rand__(self, other: Any) -> StagedSet:
        whole = self._instead_of(other, is_in_place(sys._getframe(1)))
        return whole.__iand__(self) if whole is not self else self.__and__(other)

    def __rxor__(self, other: Any) -> StagedSet:
        whole = self._instead_of(other, is_in_place(sys._getframe(1)))
        return whole.__ixor__(self) if whole is not self else self.__xor__(other)

    def __ior__(self, other: Any) -> StagedSet:
        self.update(other)
        return self

    def __iand__(self, other: Any) -> StagedSet:
        self.intersection_update(other)
        return self

    def __ixor__(self, other: Any) -> StagedSet:
        picked = self.symmetric_difference(other)._keys
        self._keys._become(picked._buffers, picked._count)
        return self

    def __isub__(self, other: Any) -> StagedSet:
        self.difference_update(other)
        return self


def _is_set(value: Any) -> bool:
    return isinstance(value, (set, frozenset, StagedSet))


def set_of(items: StagedList, name: str = "set") -> StagedSet:
    """The set of the elements of a list."""
    places = emit(FIRST_ONES, *items._columns(), weak=False)
    columns = [emit(TAKE, column, places) for column in items._columns()]
    members = StagedList(items._element, columns, size_of(places), "keys")
    return StagedSet([members], name)
