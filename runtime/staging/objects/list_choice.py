"""Lists that a tensor chooses among several: `ListChoice` and `OpenChoice`.

Lists of one length are a list of that length, each item of which is chosen. Lists of
other, or of open, lengths are a list of the graph that is read anew after each change.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import is_
from typing import Any, ClassVar, NoReturn

from runtime.graph import Graph
from runtime.graph.context import current_graph, enclosing
from runtime.ops import convert
from runtime.ops.arrays.joining import stack
from runtime.ops.containers.list_tables import CHOOSE
from runtime.ops.convert import cast, register_tensor_conversion_function
from runtime.ops.elementwise.arithmetic import equal
from runtime.staging.builtins.membership import contains
from runtime.staging.lists.assignments import gathered, list_of, setitem
from runtime.staging.lists.elements import Element, taken_apart
from runtime.staging.lists.items import getitem
from runtime.staging.lists.parts import emit, in_their_places
from runtime.staging.lists.rows import row_at
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.choice import Choice, is_chosen_of, is_open
from runtime.staging.objects.copy import chosen
from runtime.staging.objects.kinds import (
    Reference,
    all_equal,
    behaves_as,
    in_place_of,
    is_in_place,
    unlike,
)
from runtime.staging.state.values import can_be_tensor
from runtime.tensor import Tensor
from runtime.tracing.subgraph import state_tensor
from runtime.types.specs import TensorSpec
from runtime.where.user_code import state_error

__all__ = ["ListChoice", "OpenChoice", "choice_of_lists", "open_choice_of"]


class ListChoice(Choice):
    """A list among several lists, with the methods of one.

    Its items can be changed, but not how many they are.
    """

    __slots__ = ("_row", "_seen")

    stands_for = list

    def __init__(self, rows: Sequence[Any], index: Any) -> None:
        super().__init__(rows, index)
        self._seen: list[Any] = []
        self._row: tuple[Graph | None, Any] = None, None

    def __autograph_alone__(self) -> list[Any]:
        """A list of the items."""
        return list(self._rows[0] if len(self._rows) == 1 else self)

    def __len__(self) -> int:
        lengths = {len(row) for row in self._rows}
        if len(lengths) > 1:
            raise state_error(
                "AG210",
                "a tensor chooses among lists of different lengths, of which a graph "
                "cannot tell one as a Python list",
                "make the lists equally long",
            )
        return lengths.pop()

    # --- reading ----------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """The item at an index, or the list of those in a slice."""
        if isinstance(key, Tensor):
            return self._at(key)
        if isinstance(key, slice):
            ends = (key.start, key.stop, key.step)
            items = list(self)
            tensors = any(isinstance(end, Tensor) for end in ends)
            return getitem(items, key) if tensors else items[key]
        return self._item(range(len(self))[operator.index(key)])

    def _item(self, place: int) -> Any:
        row = self._as_tensor()
        if row is not None:
            return row_at(row, place)
        return self._chosen(lambda items: items[place])

    def _at(self, index: Any) -> Any:
        row = self._as_tensor()
        if row is not None:
            return list_of(row, len(self))[index]
        return self._chosen(lambda items: _item_of(items, index))

    def _as_tensor(self) -> Any:
        """The items as one tensor, where all lists have numbers of one kind."""
        rows = list(self._rows)
        if not all(type(row) is list for row in rows) or not len(self):
            return None
        leaves = [item for row in rows for item in row]
        graph, row = self._row
        same = len(leaves) == len(self._seen) and all(
            map(operator.is_, leaves, self._seen)
        )
        if same and any(graph is outer for outer in enclosing(current_graph())):
            return row
        kinds = set(map(_kind, leaves))
        if len(kinds) > 1 or None in kinds:
            return None
        buffer = gathered(rows)
        if buffer is None:
            return None
        row = list_of(buffer, len(rows))[self._index]
        self._seen, self._row = leaves, (current_graph(), row)
        return row

    def __iter__(self) -> Iterator[Any]:
        place = 0
        while place < len(self):
            yield self._item(place)
            place += 1

    def __contains__(self, value: Any) -> Any:
        return contains(value, list(self))

    def index(self, value: Any, *within: Any) -> Any:
        """The first place of a value; ValueError if there is none."""
        items = list(self)
        if within or not items:
            return items.index(value, *within)
        return StagedList.of(items, "items", None).index(value)

    def count(self, value: Any) -> Any:
        """How often a value is in the list."""
        items = list(self)
        return StagedList.of(items, "items", None).count(value) if items else 0

    def copy(self) -> list[Any]:
        """A list of the same items."""
        return list(self)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, StagedList):
            return other == list(self)
        if not isinstance(other, (list, ListChoice)):
            return NotImplemented
        return len(self) == len(other) and all_equal(zip(self, other))

    def __ne__(self, other: object) -> Any:
        return unlike(self.__eq__(other))

    def __lt__(self, other: Any) -> NoReturn:
        raise state_error(
            "AG210",
            "a list that a tensor chose among several was ordered, which a graph "
            "cannot do",
            "compare its items",
        )

    __le__ = __gt__ = __ge__ = __lt__

    def __add__(self, other: Any) -> Any:
        return list(self) + (list(other) if isinstance(other, ListChoice) else other)

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, list):
            return NotImplemented
        if is_in_place(sys._getframe(1)):
            other.extend(self)
            return other
        return other + list(self)

    def __mul__(self, times: Any) -> Any:
        return list(self) * times

    __rmul__ = __mul__

    def tensor(self, dtype: Any = None) -> Tensor:
        """All items as one tensor, along a new first axis."""
        made: Tensor = stack(list(self))
        return made if dtype is None else cast(made, dtype)

    # --- changing ---------------------------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            self._set_slice(key, value)
            return
        if not isinstance(key, Tensor):
            key = range(len(self))[operator.index(key)]
        rows = list(self._rows)
        alone = len(set(map(id, rows))) == len(rows)
        if alone and can_be_tensor(value) and self._as_tensor() is not None:
            setitem(rows, (self._index, key), value)
            return
        self._change(
            lambda row: _item_of(row, key),
            lambda row, item: _assign(row, key, item),
            value,
        )

    def _set_slice(self, key: slice, value: Any) -> None:
        """Assign as many items as there are in a slice."""
        tensors = any(isinstance(end, Tensor) for end in (key.start, key.stop))
        if tensors or not isinstance(value, (list, tuple, ListChoice)):
            self._refuse()
        places, items = range(len(self))[key], list(value)
        if len(places) != len(items):
            self._refuse()
        for place, item in zip(places, items):
            self[place] = item

    def _become(self, items: list[Any]) -> None:
        for place, item in enumerate(items):
            self[place] = item

    def reverse(self) -> None:
        """Turn the order round."""
        self._become(list(self)[::-1])

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        """Order the items."""
        from runtime.staging.lists.list_methods import METHODS

        items = list(self)
        METHODS["list.sort"](items, key=key, reverse=reverse)
        self._become(items)

    def append(self, value: Any) -> None:
        """Add an element at the end: the lists become lists of an open length."""
        self._open(value).append(value)

    def insert(self, index: Any, value: Any) -> None:
        """Put an element before another one, as `append`."""
        self._open(value).insert(index, value)

    def pop(self, index: Any = -1) -> Any:
        """Take an element out, as `append`."""
        return self._open().pop(index)

    def _open(self, *added: Any) -> OpenChoice:
        if any(is_open(item) for row in self._rows for item in row):
            self._refuse()
        element = taken_apart(added[0], "row")[0] if added else None
        return OpenChoice.among(self._rows, self._index, element)

    clear = extend = remove = Choice._refuse
    __delitem__ = __iadd__ = __imul__ = Choice._refuse

    __hash__ = None  # type: ignore[assignment]


def _item_of(items: Any, index: Any) -> Any:
    is_python = isinstance(items, list) and isinstance(index, Tensor)
    return getitem(items, index) if is_python else items[index]


def _assign(items: Any, index: Any, value: Any) -> None:
    if isinstance(items, list) and isinstance(index, Tensor):
        setitem(items, (index,), value)
    else:
        items[index] = value


def _kind(leaf: Any) -> Any:
    """What leaves have in common that are items of one tensor; None for others."""
    if not can_be_tensor(leaf):
        return None
    spec: TensorSpec = state_tensor(leaf).spec
    dims = spec.shape.dims
    return spec.dtype, None if dims is None else tuple(dims), spec.weak


def choice_of_lists(values: Sequence[Any]) -> Any:
    """What chooses among lists; None for other values."""
    plain = all(type(v) is ListChoice or behaves_as(v, list) for v in values)
    return ListChoice if plain else None


register_tensor_conversion_function(ListChoice, ListChoice.tensor)


# --- lists of open lengths ------------------------------------------------------------


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
        self._rows = list(map(in_place_of, self._rows))
        now = _contents(self._rows)
        same = len(now) == len(self._seen) and all(map(is_, now, self._seen))
        if not same or all(
            graph is not self._graph for graph in enclosing(current_graph())
        ):
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


def open_choice_of(values: Sequence[Any]) -> Any:
    """What chooses among lists of several lengths; None for other values."""
    if not all(type(value) in (list, StagedList, OpenChoice) for value in values):
        return None
    lengths = {len(value) if type(value) is list else None for value in values}
    if len(lengths) < 2 and None not in lengths:
        return None
    items = (item for value in values if type(value) is list for item in value)
    return None if any(isinstance(item, (list, dict)) for item in items) else _made


def _made(values: Sequence[Any], index: Any) -> OpenChoice:
    if not any(type(value) is OpenChoice for value in values):
        return OpenChoice.among(values, index)
    lists = [v._rows if type(v) is OpenChoice else [v] for v in values]
    lists = [list(map(in_place_of, some)) for some in lists]
    rows = {id(row): row for some in lists for row in some}
    numbers = {key: number for number, key in enumerate(rows)}
    places = []
    for value, some in zip(values, lists):
        found = StagedList.of([numbers[id(row)] for row in some], "rows", None)
        places.append(found[value._place if type(value) is OpenChoice else 0])
    at = StagedList.of(places, "places", None)[index]
    return OpenChoice.among(list(rows.values()), at)
