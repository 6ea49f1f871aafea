"""A list that a tensor chooses among lists of different, or of open, lengths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from operator import is_
from typing import Any, ClassVar

from runtime.graph.context import current_graph
from runtime.ops import convert
from runtime.ops.containers.list_tables import CHOOSE
from runtime.ops.elementwise.arithmetic import equal
from runtime.staging.lists.elements import Element, taken_apart
from runtime.staging.lists.lists import StagedList
from runtime.staging.lists.parts import emit, in_their_places
from runtime.staging.objects.copy import chosen
from runtime.staging.objects.kinds import Reference
from runtime.staging.objects.views import is_chosen_of, set_chooser

__all__ = ["OpenChoice"]


class OpenChoice(Reference, StagedList):
    """One of several lists, which changes when they do, and they when it does.

    ``rows`` are the lists, and ``place`` a scalar tensor that tells which of them.
    """

    __autograph_backend__: ClassVar[Any]
    __slots__ = ("_place", "_rows", "_seen")

    _place: Any
    _rows: list[Any]
    #: What was in the lists when this one was read.
    _seen: list[Any]

    @classmethod
    def among(
        cls, rows: Sequence[Any], index: Any, element: Element | None = None
    ) -> OpenChoice:
        """The list at an index, counted from either end; IndexError if there is none.

        ``element`` is what is to be put into it.
        """
        for row in rows:
            if len(row) if type(row) is list else True:
                found = _listed(row, None).element
                element = found if element is None else element.joined(found, "rows")
        if element is None:
            element = taken_apart(0, "rows")[0]
        count = convert.constant(len(rows))
        place = emit("ListPlace", count, index, use="get", weak=False)
        made = cls(element, [], count, "row")
        made._rows, made._place = list(rows), place
        made._read()
        return made

    def place(self) -> Any:
        """The place of the list, counted from the front."""
        return self._place

    __autograph_is__ = is_chosen_of

    def _read(self) -> None:
        """Take what the chosen list has in it now."""
        lists = [_listed(row, self._element) for row in self._rows]
        for one in lists:
            one._widen(self.element if self._buffers else self._element)
        self._seen = _contents(self._rows)
        self._buffers = [
            emit(CHOOSE, self._place, *buffers, weak=buffers[0].spec.weak)
            for buffers in zip(*(one._buffers for one in lists))
        ]
        counts = (one._count for one in lists)
        self._count = emit(CHOOSE, self._place, *counts, weak=False)
        self._graph = current_graph()

    def _check(self) -> None:
        now = _contents(self._rows)
        same = len(now) == len(self._seen) and all(map(is_, now, self._seen))
        graph = current_graph()
        while same and graph is not None and graph is not self._graph:
            graph = graph.parent
        if not same or graph is None:
            self._read()
        super()._check()

    def _become(self, columns: Iterable[Any], count: Any) -> None:
        columns = list(columns)
        plain = [row for row in self._rows if type(row) is list]
        if plain:
            makes = [partial(StagedList.of, row, "row", self._element) for row in plain]
            new = dict(zip(map(id, plain), in_their_places(plain, makes)))
            self._rows = [new.get(id(row), row) for row in self._rows]
        for number, row in enumerate(self._rows):
            takes = convert.cast(equal(self._place, number), "int32")
            row._widen(self.element)
            parts = [
                emit(CHOOSE, takes, old, added, weak=added.spec.weak)
                for old, added in zip(row._buffers, columns)
            ]
            row._become(parts, emit(CHOOSE, takes, row._count, count, weak=False))
        super()._become(columns, count)
        self._seen = _contents(self._rows)

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        super().append(value)
        self._become(self._buffers, self._count)

    def insert(self, index: Any, value: Any) -> None:
        """Put an element before another one."""
        super().insert(index, value)
        self._become(self._buffers, self._count)

    def again(self) -> StagedList:
        """The list as it is now, as a list of its own."""
        self._check()
        return StagedList(self._element, self._buffers, self._count, self.name)

    # To the compiler it is the lists that change.

    def __autograph_parts__(self) -> list[Any]:
        return [self._place, *self._rows]

    def __autograph_become__(self, parts: Sequence[Any]) -> None:
        self._place, *self._rows = parts

    def _flatten(self) -> tuple[Any, ...]:
        self._check()
        return super()._flatten()

    def _unflatten(self, parts: Sequence[Any]) -> Any:
        *buffers, count = parts
        return chosen(StagedList(self._element, buffers, count, self.name), None)

    def __copy__(self) -> Any:
        return self.again()


def _listed(row: Any, element: Element | None) -> StagedList:
    """A list of Python as one in the graph; one in the graph as a copy of itself."""
    if type(row) is list:
        return StagedList.of(row, "row", element)
    return StagedList(row._element, row._buffers, row._count, row.name)


def _contents(rows: Sequence[Any]) -> list[Any]:
    """What is in the lists, to see whether they have changed."""
    found: list[Any] = []
    for row in rows:
        if type(row) is list:
            found += [len(row), *row]
        else:
            found += [row._count, *row._buffers]
    return found


def _choice_of(values: Sequence[Any]) -> Any:
    if not all(type(value) in (list, StagedList) for value in values):
        return None
    lengths = {len(value) if type(value) is list else None for value in values}
    if len(lengths) < 2 and None not in lengths:
        return None
    items = (item for value in values if type(value) is list for item in value)
    return None if any(isinstance(item, (list, dict)) for item in items) else _made


def _made(values: Sequence[Any], index: Any) -> OpenChoice:
    return OpenChoice.among(values, index)


set_chooser(_choice_of)
