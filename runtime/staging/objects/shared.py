"""What lists in graphs have in common that stand for one of the program's."""

from __future__ import annotations

import operator
from typing import Any

from runtime.graph.context import current_graph
from runtime.staging.lists.elements import with_contents
from runtime.staging.objects.copied import contents_of
from runtime.where.user_code import state_error

__all__ = ["Shared"]


class Shared:
    """What lists have in common that stand for one of the program's."""

    def __init__(self) -> None:
        #: Whether another list still has it as an element.
        self.is_row = False
        #: The lists and dicts that became elements, with what was in them then.
        self.given: list[tuple[Any, list[Any]]] = []
        #: Another object after each change, and after each of a list in the list.
        self.version = object()
        self.within = object()
        #: Whether the lists in it are surely as many objects, which nothing else has.
        self.is_apart = True
        #: Whether it was changed by way of a list that it is in.
        self.is_stale = False
        self._graph = current_graph()

    def give(self, value: Any) -> None:
        """Note the lists and dicts in an element that is put into the list."""
        for given, contents in with_contents(value):
            if isinstance(given, Shared):
                known = any(given is other for other, _ in self.given)
                if known or given._graph is not current_graph() or given.is_row:
                    self.is_apart = False
            self.given.append((given, contents))

    def check(self, name: str = "items") -> None:
        """Refuse to go on where an element would have to change with a list."""
        for given, contents in self.given:
            now = contents_of(given)
            if len(now) != len(contents) or any(map(operator.is_not, now, contents)):
                raise state_error(
                    "AG210",
                    f"a {_kind(given)} was put into the list {name!r}, "
                    "whose length a tensor decides, and changed afterwards; a graph "
                    "keeps a copy, which would not change",
                    "change it before, or put a copy of it into the list",
                )

    def change_within(self) -> None:
        """Note that a list in the list is changed."""
        self.within = object()
        for given, _ in self.given:
            if isinstance(given, Shared):
                given.is_stale = True


def _kind(given: Any) -> str:
    return "list" if isinstance(given, Shared) else type(given).__name__
