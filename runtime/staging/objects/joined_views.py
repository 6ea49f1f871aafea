"""A form that two values of a variable have in common, where one is a view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from runtime.errors import StagedStateError
from runtime.graph import Graph
from runtime.graph.context import building
from runtime.ops import convert
from runtime.staging.objects.copy import unwatched
from runtime.staging.objects.views import (
    View,
    distinct,
    is_open,
    reference,
    same_kind,
    view_among,
)
from runtime.staging.state.optional import StagedOptional, alike
from runtime.staging.state.values import can_be_tensor
from runtime.tensor import SymbolicTensor
from runtime.types import dtypes, nest
from runtime.where.user_code import state_error

__all__ = [
    "NewObjects",
    "WithNew",
    "alone",
    "as_views",
    "carried",
    "first_of",
    "is_copied",
]

_Pair = tuple[Any, Any]


def as_views(
    values: _Pair, graphs: tuple[Graph, Graph], inside: bool = False
) -> _Pair | None:
    """Two values as views of the same objects; None where there are none.

    Each is a value in its graph. What is no view and not among the objects of the other
    one is new: it is an object more. It may have other names if it is ``inside`` a
    list: then there are no such views.
    """
    rows = distinct([value for value in values if isinstance(value, View)])
    outer = _around(*graphs)
    if any(not _is_seen(row, outer) for row in rows):
        return None
    places = [view_among(*pair) for pair in _with(rows, values, graphs)]
    if all(place is not None for place in places):
        return (places[0], places[1]) if same_kind(rows) else None
    new = places.index(None)
    if inside or outer in graphs or places[1 - new] is None:
        return None
    return _with_new(values, graphs, rows, new)


def _with(
    rows: Sequence[Any], values: _Pair, graphs: tuple[Graph, Graph]
) -> Iterator[tuple[Any, Sequence[Any], Graph]]:
    for value, graph in zip(values, graphs):
        yield value, rows, graph


def alone(value: Any, name: str) -> Any:
    """A copy of a view, of the time that the body ended; any other value itself.

    Raises:
        StagedStateError: AG210, there is none.
    """
    if not isinstance(value, View):
        return value
    if value._kept is None:
        raise state_error(
            "AG210",
            f"{name!r} is a list, dict or object that a tensor chose among several on "
            "one path, and on another path something that a graph cannot choose beside "
            "them",
            "begin with a copy that is meant to be one: `chosen = list(chosen)`",
        )
    return value._kept


def carried(value: Any, name: str, outer: Graph | None, copied: bool) -> Any:
    """A value at the end of an iteration; a copy of a view of what the body has made.

    ``copied``: the loop carries a copy of the value.
    """
    if isinstance(value, View):
        is_itself = not copied and _is_seen(value, outer, value)
        value = value if is_itself else alone(value, name)
    # The compiler watches what an iteration begins with.
    value = unwatched(value)
    for part in _views_in(value):
        if not _is_seen(part, outer, part):
            raise state_error(
                "AG210",
                "a tensor chooses where a list or dict is put that is made in a loop",
                "assign its items one by one: `items[i][j] = value`",
            )
    return value


def _views_in(value: Any) -> Iterator[View]:
    if isinstance(value, View):
        yield value
    for _, part in nest.children(value) or ():
        yield from _views_in(part)


def first_of(template: Any, packed: Any, after: Any, graph: Graph) -> Any:
    """What a variable is before a loop, beside what it is after an iteration.

    ``packed`` is made of its parts; ``template`` is the object itself, which can be
    among those of a view.
    """
    if isinstance(after, View) and is_open(template):
        return reference(template, graph)
    if type(template) is type(after) and any(True for _ in _views_in(after)):
        return template
    return packed


def is_copied(before: Any, after: Any, common: Any) -> bool:
    """Whether the common form of two values is a copy where one is a view."""
    if isinstance(common, StagedOptional):
        common = common._value
    views = isinstance(before, View) or isinstance(after, View)
    return views and not isinstance(common, View)


def _around(one: Graph, other: Graph) -> Graph | None:
    """The graph in which the value is that is made of two."""
    if any(one is graph for graph in _enclosing(other)):
        return one
    return one.parent


def _enclosing(graph: Graph | None) -> Iterator[Graph]:
    while graph is not None:
        yield graph
        graph = graph.parent


def _is_seen(row: Any, outer: Graph | None, view: Any = None) -> bool:
    """Whether all that is in an object can be used in a graph.

    The index of ``view`` does not count.
    """
    if isinstance(row, SymbolicTensor):
        return any(row.graph is graph for graph in _enclosing(outer))
    if isinstance(row, View):
        index = () if row is view else row._flatten()
        parts: Sequence[Any] = (*index, *row.__autograph_chosen__())
    elif hasattr(type(row), "_flatten"):
        parts = row._flatten()
    else:
        parts = [part for _, part in nest.children(row) or ()]
    return all(_is_seen(part, outer) for part in parts)


# --- a new object beside those that there are -----------------------------------------


class WithNew:
    """A view of objects, the last of which is new: what is in it is part of it.

    ``added`` is the object as it is on the path that makes it: its ``side``.
    """

    def __init__(
        self, rows: Sequence[Any], kind: type[View], parts: Any, added: Any, side: int
    ) -> None:
        self._rows = rows
        self._kind = kind
        self._index, self._new = parts
        self.added = added
        self.side = side
        #: The object after the statement, once it is made.
        self.made: list[Any] = []

    def _flatten(self) -> list[Any]:
        return [self._index, *nest.flatten(self._new)]

    def _unflatten(self, parts: Sequence[Any]) -> View:
        index, *leaves = parts
        if not self.made:
            self.made.append(nest.pack_sequence_as(self._new, leaves))
        return self._kind([*self._rows, *self.made], index)


class NewObjects:
    """The new objects of one statement: one for all variables that name it."""

    def __init__(self) -> None:
        self._made: dict[int, list[Any]] = {}
        self._inside: set[int] = set()

    def share(self, view: WithNew) -> None:
        """Have ``view`` make the object that another one with the same ``added`` does.

        Raises:
            StagedStateError: AG210, one of them is within the other.
        """
        key = id(view.added)
        if key not in self._made:
            inside = {id(part) for part in _open_parts(view.added)}
            if not self._inside.isdisjoint(inside):
                raise _cannot_share()
            self._inside |= inside
            self._made[key] = view.made
        view.made = self._made[key]

    def take(self, view: WithNew, found: Any) -> None:
        """Have ``found`` be the object: another variable's, which is it on this path.

        Raises:
            StagedStateError: AG210, it is of another kind.
        """
        if not view.made:
            view.made.append(found)
        if view.made[0] is not found or not same_kind([view.added, found]):
            raise _cannot_share()


def _cannot_share() -> StagedStateError:
    return state_error(
        "AG210",
        "a path makes a list, dict or object and gives it, or it and what is in it, to "
        "several variables that differ on another path; in a graph they would be "
        "copies of it",
        "make it before the statement",
    )


def _open_parts(value: Any) -> Iterator[Any]:
    """What can be changed in a value: itself, and its parts."""
    if is_open(value):
        yield value
    for _, part in nest.children(value) or ():
        yield from _open_parts(part)


def _with_new(
    values: _Pair, graphs: tuple[Graph, Graph], rows: list[Any], new: int
) -> _Pair | None:
    added, old = values[new], values[1 - new]
    with building(graphs[1 - new]):
        inside = old.__autograph_alone__()
    leaves = (*nest.flatten(added), *nest.flatten(inside))
    if not alike(added, inside) or not all(map(can_be_tensor, leaves)):
        return None
    if not same_kind([*rows, added]):
        return None
    with building(graphs[new]):
        last = convert.constant(len(rows), dtypes.int32)
    view = view_among(old, rows, graphs[1 - new])
    assert view is not None
    with building(graphs[1 - new]):
        place = view.place()
    one = WithNew(rows, type(old), (last, added), added, new)
    other = WithNew(rows, type(old), (place, inside), added, new)
    return (one, other) if new == 0 else (other, one)
