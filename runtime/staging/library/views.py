"""`TableView`: the `keys`, `values` and `items` of dicts in graphs, as lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.staging.lists.parts import Shared
from runtime.staging.lists.staged_list import StagedList


class TableView(StagedList):
    """The `keys`, `values` or `items` of a dict: a list of its present contents.

    A branch or a loop that hands it on makes it a list of the contents at that time.
    """

    __slots__ = ("_items", "view_of")

    view_of: Any
    _items: Callable[[], StagedList] | None

    @classmethod
    def of_table(cls, table: Any, items: Callable[[], StagedList]) -> TableView:
        """A view of a table; ``items`` returns its present items."""
        present = items()
        view = cls(present._element, present._buffers, present._count, present.name)
        view.view_of, view._items = table, items
        view._check()
        return view

    def _check(self) -> None:
        self._refresh()
        super()._check()

    def _check_given(self) -> None:
        self._refresh()
        super()._check_given()

    def _refresh(self) -> None:
        """Take over the present contents of the table."""
        items = getattr(self, "_items", None)
        if items is None:
            return
        now = items()
        now._check()
        self._element, self._graph, self._count = now._element, now._graph, now._count
        self._buffers = now._buffers
        self._shared = Shared()
        now._shared.pass_on(self._shared)

    def __copy__(self) -> TableView:
        return self if getattr(self, "_items", None) else super().__copy__()

    def __autograph_parts__(self) -> list[Any]:
        """Nothing of a view: its contents belong to the table."""
        return [] if getattr(self, "_items", None) else super().__autograph_parts__()

    def __autograph_become__(self, state: Sequence[Any]) -> None:
        if state:
            super().__autograph_become__(state)

    def __autograph_type__(self) -> type:
        raise self._cannot("be asked for its type", "the graph has a list of it")
