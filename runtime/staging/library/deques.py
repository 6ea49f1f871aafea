"""A `collections.deque` whose length a tensor decides: a list with two ends.

Branches and loops make it of a Python deque that they lengthen or shorten.
"""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

from runtime.core.graph.context import building
from runtime.staging.lists.parts import BufferedList, emit, index_tensor
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import plain_class
from runtime.staging.state.common_form import beside_each_other, register_join


class StagedDeque(StagedList):
    """A deque in a graph. Its buffers have room at both ends."""

    __autograph_backend__: ClassVar[Any]
    __slots__ = ()

    kind: ClassVar[type] = deque

    def again(self) -> StagedDeque:
        """A deque with the present elements; later changes of this object spare it."""
        self._check()
        same = StagedDeque(self._element, self._buffers, self._count, self.name)
        same._shared = self._shared
        return same

    def __getitem__(self, key: Any) -> Any:
        """The element at an index. TypeError for a slice, as of any deque."""
        if isinstance(key, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        self._check()
        position = emit("ListPlace", self._count, index_tensor(key), use="deque get")
        return self._row(position, shared=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        position = emit("ListPlace", self._count, index_tensor(key), use="deque get")
        super().__setitem__(position, value)

    def __delitem__(self, key: Any) -> None:
        self._take(key, "deque get")

    def appendleft(self, value: Any) -> None:
        """Add an element at the front."""
        self.insert(0, value)

    def extendleft(self, values: Any) -> None:
        """Add elements at the front, one after the other."""
        added = self._like(values if isinstance(values, StagedList) else list(values))
        added = added.again()
        added.reverse()
        added.extend(self)
        self._become(added._buffers, added._count)

    def pop(self, index: Any = -1) -> Any:
        """Take the last element out; IndexError if there is none."""
        return self._take(-1, "deque pop")

    def popleft(self) -> Any:
        """Take the first element out; IndexError if there is none."""
        return self._take(0, "deque pop")

    def remove(self, value: Any) -> None:
        """Take the first element out that is equal to a value."""
        message = "deque.remove(x): x not in deque"
        position = emit("ListFind", self._matches(value), message=message)
        self._take(position, "deque pop")

    def rotate(self, n: Any = 1) -> None:
        """Move elements from the right end to the left one, ``n`` times."""
        count = index_tensor(n)
        columns = [emit("ListRotate", column, count) for column in self._columns()]
        self._become(columns, self._count)


def _common_deques(one: Any, other: Any, name: str) -> tuple[Any, Any] | None:
    """Two deques as deques of the graphs of their sides; None for other values."""
    kinds = {plain_class(side.value) for side in (one, other)}
    if not kinds <= {deque, StagedDeque}:
        return None
    if any(getattr(side.value, "maxlen", None) is not None for side in (one, other)):
        return None
    return beside_each_other(one, other, name, _staged)


def _staged(side: Any, name: str, elements: Any) -> BufferedList | None:
    if isinstance(side.value, StagedDeque):
        return side.value
    if not side.value and not elements:
        return None
    with building(side.graph):
        return StagedDeque.of(list(side.value), name, elements[0] if elements else None)


register_join(deque, _common_deques)
