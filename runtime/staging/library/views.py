"""The views of dicts in graphs: what `keys`, `values` and `items` give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.staging.lists.parts import Shared
from runtime.staging.lists.staged_list import StagedList

__all__ = ["TableView"]


class TableView(StagedList):
    """What `keys`, `values` and `items` of a dict give: a list of what is in it now.

    A view that a branch or a loop hands on is a list of what was in it then.
    """

    __slots__ = ("_items", "view_of")

    view_of: Any
    _items: Callable[[], StagedList] | None

    @classmethod
    def of_table(cls, table: Any, items: Callable[[], StagedList]) -> TableView:
        """A view of a table, the items of which a function gives."""
        now = items()
        view = cls(now._element, now._buffers, now._count, now.name)
        view.view_of, view._items = table, items
        view._check()
        return view

    def _check(self) -> None:
        self._look()
        super()._check()

    def _check_given(self) -> None:
        self._look()
        super()._check_given()

    def _look(self) -> None:
        """Become what is in the table now."""
        items = getattr(self, "_items", None)
        if items is None:
            return
        now = items()
        self._element, self._graph, self._count = now._element, now._graph, now._count
        self._buffers = now._buffers
        self._shared = Shared()
        now._shared.pass_on(self._shared)

    def __copy__(self) -> TableView:
        return self if getattr(self, "_items", None) else super().__copy__()

    def __autograph_parts__(self) -> list[Any]:
        """Nothing: what is in it belongs to the table."""
        return [] if getattr(self, "_items", None) else super().__autograph_parts__()

    def __autograph_become__(self, parts: Sequence[Any]) -> None:
        if parts:
            super().__autograph_become__(parts)

    def __autograph_type__(self) -> type:
        raise self._cannot("be asked for its type", "the graph has a list of it")
