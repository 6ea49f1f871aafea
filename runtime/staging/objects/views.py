"""Lists, dicts and objects that a tensor chooses among several.

What a tensor chooses is one of the program's objects: it is seen to change when they
are changed, and a change of it is a change of one of them. So nothing is copied: a view
has the objects and the tensor, and reads and changes them as they are then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence, Sized
from operator import is_
from typing import Any, ClassVar, NoReturn, cast

from runtime.errors import StagedStateError
from runtime.graph import Graph
from runtime.graph.context import building, current_graph
from runtime.ops import convert
from runtime.ops.elementwise.arithmetic import equal
from runtime.staging.lists.lists import StagedList
from runtime.staging.lists.parts import index_tensor
from runtime.staging.lists.rows import emit
from runtime.staging.objects.copy import ChosenCopy, watch_of
from runtime.staging.objects.kinds import (
    Reference,
    check_in_place,
    identical,
    is_mutable,
)
from runtime.staging.state.values import can_be_tensor
from runtime.types import dtypes, nest
from runtime.where.user_code import state_error

__all__ = [
    "View",
    "choose",
    "distinct",
    "is_chosen_of",
    "is_open",
    "reference",
    "referred",
    "register",
    "same_kind",
    "set_chooser",
    "view_among",
    "where_one",
]

_CHANGED = (
    "change it in the branches of an `if`, by the name that it has there, or begin "
    "with a copy that is meant to be one: `chosen = list(chosen)`"
)


class View(Reference):
    """One of several objects, of which a tensor tells the place.

    ``rows`` are the objects, and ``index`` a scalar tensor that counts them from the
    front, or from the back if it is negative.
    """

    __slots__ = ("__weakref__", "_index", "_kept", "_objects")

    #: The class of the objects.
    stands_for: ClassVar[type]

    def __init__(self, rows: Sequence[Any], index: Any) -> None:
        self._objects = tuple(rows)
        self._index = index
        #: A copy of what was in the view at the end of a body.
        self._kept: Any = None

    @property
    def _rows(self) -> tuple[Any, ...]:
        """The objects; AG210 if one of the graph has taken the place of one of them."""
        check_in_place(self._objects)
        return self._objects

    def __autograph_type__(self) -> type:
        return type(self).stands_for

    # --- in the state of a statement --------------------------------------------------

    def _flatten(self) -> tuple[Any, ...]:
        return (self._index,)

    def _unflatten(self, parts: Sequence[Any]) -> Any:
        return type(self)(self._rows, parts[0])

    def _same_structure(self, other: View) -> bool:
        mine, others = self._rows, other._rows
        return len(mine) == len(others) and all(map(is_, mine, others))

    def _part_names(self, name: str) -> list[str]:
        return [f"place_{name}"]

    def __autograph_chosen__(self) -> tuple[Any, ...]:
        """What the compiler looks into for changes: the objects."""
        return self._rows

    def __autograph_alone__(self) -> Any:
        """An object of its own that has in it what is in the view."""
        raise NotImplementedError

    def among(self, rows: Sequence[Any], graph: Graph) -> View | None:
        """The view as one of more objects; None if some of its own are missing."""
        places = [_place_in(rows, row) for row in self._rows]
        if None in places:
            return None
        if places == list(range(len(rows))):
            return self
        with building(graph):
            index = StagedList.of(places, "rows", None)[self._index]
        return type(self)(rows, index)

    # --- in use -----------------------------------------------------------------------

    def _chosen(self, part: Callable[[Any], Any]) -> Any:
        """A part of the object, of which ``part`` gives that of each."""
        return choose([part(row) for row in self._rows], self._index)

    def _change(
        self, read: Callable[[Any], Any], write: Callable[[Any, Any], None], value: Any
    ) -> None:
        """Give a part of the object another value.

        An object may be there twice, so that one is read after the other is written.
        """
        place = self.place()
        for number, row in enumerate(self._rows):
            write(row, where_one(equal(place, number), value, read(row)))

    def place(self) -> Any:
        """The place of the object, counted from the front."""
        return emit("ListPlace", self._count(), self._index, use="get", weak=False)

    def __autograph_is__(self, other: Any) -> Any:
        """Whether the object is another one, or the one that another view is of."""
        return is_chosen_of(self, other)

    def _count(self) -> Any:
        return convert.constant(len(self._rows), dtypes.int32)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        kind = type(self).stands_for.__name__
        raise state_error(
            "AG210",
            f"a {kind} that a tensor chose among several was changed so that it has "
            "other items in number than they have",
            _CHANGED,
        )

    def __repr__(self) -> str:
        return f"<one of {len(self._rows)} objects, which a tensor chooses>"


def same_kind(rows: Sequence[Any]) -> bool:
    """Whether one view can be of all of these objects, and read as one of them."""
    kind = _view_of(rows)
    if not isinstance(kind, type) or not issubclass(kind, View):
        return False
    return len({len(row) for row in rows if isinstance(row, Sized)}) < 2


def reference(value: Any, graph: Graph | None) -> Any:
    """A view of one object, which can be merged with views; else the value.

    It keeps a copy, too, of what is in the object now.
    """
    if graph is None:
        return value
    if isinstance(value, View):
        found: Any = type(value)(value._rows, value._index)
    elif not same_kind([value]):
        return value
    else:
        found = view_among(value, [value], graph)
    if not isinstance(found, View):
        return value
    with contextlib.suppress(StagedStateError):
        found._kept = found.__autograph_alone__()
    return found


def referred(value: Any) -> Any:
    """A list, dict or object such that a graph can choose it and it stays itself.

    A copy is what it is, as long as it is not stale.
    """
    if isinstance(value, ChosenCopy):
        watch_of(value).reading()
        return value
    return reference(value, current_graph())


def view_among(value: Any, rows: Sequence[Any], graph: Graph) -> View | None:
    """A view, or one of the objects, as one of these; None if it is none of them."""
    if isinstance(value, View):
        return value.among(rows, graph)
    place, kind = _place_in(rows, value), _view_of(rows)
    if place is None or kind is None:
        return None
    with building(graph):
        view: View = kind(rows, convert.constant(place, dtypes.int32))
    return view


def _place_in(rows: Sequence[Any], row: Any) -> int | None:
    return next((place for place, other in enumerate(rows) if other is row), None)


def where_one(test: Any, value: Any, other: Any) -> Any:
    """``value if test else other``, of which an object stays the object that it is."""
    return choose([other, value], convert.cast(test, dtypes.int32))


def is_chosen_of(chosen: Any, other: Any) -> Any:
    """Whether the one of ``_rows`` that a tensor chose is another object.

    That may be chosen among several, too: it has ``_rows`` and a `place` then.
    """
    stands_for_one = hasattr(type(other), "__autograph_is__")
    both = stands_for_one and hasattr(type(other), "place")
    if stands_for_one and not both:
        return identical(other, chosen)
    mine, others = chosen._rows, other._rows if both else (other,)
    numbers: dict[int, int] = {}
    for row in (*mine, *others):  # each has one number, also if it is there twice
        numbers.setdefault(id(row), len(numbers))
    if {*map(id, mine)}.isdisjoint(map(id, others)):
        return False
    number = _numbered(chosen, numbers)
    if not both:
        return equal(number, numbers[id(other)])
    return equal(number, _numbered(other, numbers))


def _numbered(chosen: Any, numbers: dict[int, int]) -> Any:
    found = [numbers[id(row)] for row in chosen._rows]
    if found == list(range(len(found))):
        return chosen.place()
    return StagedList.of(found, "numbers", None)[chosen.place()]


# --- choosing -------------------------------------------------------------------------

_Maker = Callable[[Sequence[Any], Any], Any]
_makers: list[Callable[[Sequence[Any]], _Maker | None]] = []


def register(maker: Callable[[Sequence[Any]], _Maker | None]) -> None:
    """Have ``maker(values)`` say what makes a view of such values, if they are its."""
    _makers.append(maker)


def set_chooser(maker: Callable[[Sequence[Any]], _Maker | None]) -> None:
    """Have ``maker(values)`` say what chooses among values that no view is of."""
    global _chooser
    _chooser = maker


def _no_chooser(values: Sequence[Any]) -> _Maker | None:
    return None


_chooser: Callable[[Sequence[Any]], _Maker | None] = _no_chooser


def _view_of(values: Sequence[Any]) -> _Maker | None:
    found = (maker(values) for maker in _makers)
    return next(filter(None, found), None)


def choose(values: Sequence[Any], index: Any) -> Any:
    """The value at an index: a view, if it is one that can be changed.

    Raises:
        StagedStateError: AG210, they are of several kinds.
    """
    first = values[0]
    if all(value is first for value in values):
        return first
    kind = _chooser(values)
    if kind is not None:
        return kind(values, index_tensor(index))
    kind = _view_of(values)
    if kind is not None:
        return kind(*_of_objects(values, index_tensor(index)))
    if any(map(is_open, values)):
        parts = _alike(values)
        if parts is not None:
            return nest.rebuild(first, [choose(part, index) for part in parts])
    return StagedList.of(list(values), "items", None)[index]


def _of_objects(values: Sequence[Any], index: Any) -> tuple[Sequence[Any], Any]:
    """The objects that values are or are views of, and the index among them."""
    if not any(isinstance(value, View) for value in values):
        return values, index
    rows = distinct(values)
    graph = current_graph()
    assert graph is not None
    views = [view_among(value, rows, graph) for value in values]
    places = [cast(View, view).place() for view in views]
    return rows, StagedList.of(places, "places", None)[index]


def distinct(values: Sequence[Any]) -> list[Any]:
    """The objects that values are or are views of, each once."""
    rows: dict[int, Any] = {}
    for value in values:
        objects = value.__autograph_chosen__() if isinstance(value, View) else [value]
        rows.update((id(row), row) for row in objects)
    return list(rows.values())


def is_open(value: Any) -> bool:
    """Whether there is something in a value that can be changed."""
    if can_be_tensor(value) or value is None:
        return False
    cls = type(value)
    if isinstance(value, View) or cls in (list, dict, StagedList) or is_mutable(cls):
        return True
    return any(is_open(part) for _, part in nest.children(value) or ())


def _alike(values: Sequence[Any]) -> list[tuple[Any, ...]] | None:
    """The parts of values of one structure, one place after the other; else None."""
    inside = [nest.children(value) for value in values]
    steps = [None if parts is None else [s for s, _ in parts] for parts in inside]
    if steps[0] is None or any(other != steps[0] for other in steps):
        return None
    if len({type(value) for value in values}) > 1:
        return None
    return list(zip(*([part for _, part in parts or ()] for parts in inside)))
