"""Sets with members that only the graph knows.

`dict_conversion` makes them of Python's sets; their methods change the list of members.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.core.location.frames import frame_at
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import convert
from runtime.ops.containers.list_tables import FIRST_ONES, MEMBERS, TAKE
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.elementwise.logical import logical_and, logical_not
from runtime.staging.library.tables import StagedTable
from runtime.staging.lists.elements import Element
from runtime.staging.lists.parts import emit, in_its_place, size_of
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.kinds import is_in_place


def _is_set(value: Any) -> bool:
    return isinstance(value, (set, frozenset, StagedSet))


def _in_place(operation: Callable[..., StagedSet]) -> Callable[..., None]:
    """The method that gives a set the members that an operation returns."""

    def update(members: StagedSet, *others: Any) -> None:
        result = operation(members, *others)._keys
        members._keys._become(result._buffers, result._count)

    return update


def _operator(
    method: Callable[..., Any], in_place: bool = False
) -> Callable[[Any, Any], Any]:
    """The operator of a method, for sets alone; in place, it returns the left set."""

    def operate(members: StagedSet, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented
        result = method(members, other)
        return members if in_place else result

    return operate


def _reflected(
    operator: Callable[[Any, Any], Any], in_place: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """The operator with a set of Python on the left, which it may change in place."""

    def operate(members: StagedSet, other: Any) -> Any:
        if type(other) is not set or not is_in_place(frame_at(1)):
            return operator(members, other)
        make = lambda: set_of(members._list_of(other), members.name)  # noqa: E731
        return in_place(in_its_place(other, make), members)

    return operate


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
        self._keys._count = self._put_key(member, self._position(member))

    def discard(self, member: Any) -> None:
        """Take a member out, if it is there."""
        position = self._position(member)
        removed = convert.cast(convert.as_tensor(position < self._count), dtypes.int32)
        self._remove_at(position, self._count - removed)

    def remove(self, member: Any) -> None:
        """Take a member out; KeyError if it is not there."""
        position = self._position(member)
        self._check_present(position, member)
        self._remove_at(position, self._count - 1)

    def pop(self) -> Any:
        """Take a member out, the first one."""
        (member,) = self._popped(False, "pop from an empty set")
        return member

    def _list_of(self, other: Any) -> StagedList:
        """The members of another set, or the items of another iterable."""
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
        """The members that another set has (``wanted``), or lacks."""
        other_list = self._list_of(other)
        columns = self._keys._columns()
        compared = (*columns, *other_list._columns())
        if not self._keys._element.is_like(other_list._element):
            raise self._cannot("be compared so", "the members are of several kinds")
        indices = emit(MEMBERS, *compared, weak=False, wanted=wanted)
        chosen = [emit(TAKE, column, indices) for column in columns]
        return StagedSet(
            [StagedList(self._keys._element, chosen, size_of(indices), "keys")],
            self.name,
        )

    def union(self, *others: Any) -> StagedSet:
        """The members of this set and of others."""
        result = self.copy()
        for other in others:
            result = set_of(result._keys + self._list_of(other), self.name)
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
        other_set = set_of(self._list_of(other), self.name)
        return self.difference(other_set).union(other_set.difference(self))

    update = _in_place(union)
    intersection_update = _in_place(intersection)
    difference_update = _in_place(difference)
    symmetric_difference_update = _in_place(symmetric_difference)

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

    def __lt__(self, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented
        return logical_and(self.issubset(other), logical_not(self.issuperset(other)))

    def __gt__(self, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented
        return logical_and(self.issuperset(other), logical_not(self.issubset(other)))

    def _taken_from(self, other: Any) -> StagedSet:
        """The members of another set that are not in this one."""
        return set_of(self._list_of(other), self.name).difference(self)

    __le__, __ge__ = _operator(issubset), _operator(issuperset)
    __or__, __and__ = _operator(union), _operator(intersection)
    __sub__, __xor__ = _operator(difference), _operator(symmetric_difference)
    __ior__ = _operator(update, in_place=True)
    __iand__ = _operator(intersection_update, in_place=True)
    __isub__ = _operator(difference_update, in_place=True)
    __ixor__ = _operator(symmetric_difference_update, in_place=True)
    __ror__, __rand__ = _reflected(__or__, __ior__), _reflected(__and__, __iand__)
    __rsub__ = _reflected(_operator(_taken_from), __isub__)
    __rxor__ = _reflected(__xor__, __ixor__)


def set_of(items: StagedList, name: str = "set") -> StagedSet:
    """The set of the elements of a list."""
    indices = emit(FIRST_ONES, *items._columns(), weak=False)
    columns = [emit(TAKE, column, indices) for column in items._columns()]
    members = StagedList(items._element, columns, size_of(indices), "keys")
    return StagedSet([members], name)
