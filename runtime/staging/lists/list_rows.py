"""Lists of an open length in such lists: all of one length, the rows of a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from runtime.staging.lists.elements import Element, ElementList, changed_element
from runtime.staging.lists.lists import StagedList
from runtime.staging.lists.parts import size_of
from runtime.staging.objects.copied import cannot_tell
from runtime.staging.objects.shared import Shared
from runtime.tensor import EagerTensor, Tensor

__all__ = ["RowList"]


class RowList(StagedList):
    """A list that was read from another one, which still has it: a copy.

    It cannot be changed, nor used once it is not what the other list has any more.
    """

    __slots__ = ("_of", "_seen")

    why = ElementList.why
    __autograph_is__ = cannot_tell

    def read_from(self, shared: Shared) -> None:
        """Note what the other list is like now."""
        self._of, self._seen = shared, shared.within
        self._shared.is_row = True
        self._shared.given += shared.given

    def _check(self) -> None:
        super()._check()
        if self._of.within is not self._seen:
            raise self._cannot(
                "be used here",
                "the list of lists that it was read from was changed since: read it "
                "again",
            )

    def _become(self, columns: Iterable[Any], count: Any) -> None:
        changed_element(self)

    def _unflatten(self, parts: Sequence[Any]) -> RowList:
        return self._same(super()._unflatten(parts))

    def __copy__(self) -> RowList:
        return self._same(super().__copy__())

    def _same(self, copy: StagedList) -> RowList:
        row = cast(RowList, copy)
        row._of, row._seen = self._of, self._seen
        return row


def _list_of_row(rows: Any, shared: Shared | None) -> Any:
    """The list for the tensor of a row, or for its value."""
    if isinstance(rows, EagerTensor):
        return [EagerTensor(rows._array[i, ...]) for i in range(len(rows._array))]
    if not isinstance(rows, Tensor):
        return np.asarray(rows).tolist()
    kind = StagedList if shared is None else RowList
    made = kind(Element.number(rows.spec), [rows], size_of(rows), "row")
    if isinstance(made, RowList) and shared is not None:
        made.read_from(shared)
    return made


Element.list_of_row = staticmethod(_list_of_row)
