"""Lists, dicts and objects that a tensor chooses among several.

What a tensor chooses is one of the program's objects: it is seen to change when they
are changed, and a change of it is a change of one of them. So nothing is copied: a
choice has the objects and the tensor, and reads and changes them as they are then.

Where two paths leave a choice and another value, both become choices among the objects
of both (`as_choices`); an object that one path has made is one more of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence, Sized
from operator import is_
from typing import Any, ClassVar, NoReturn, cast

from runtime.errors import StagedStateError
from runtime.graph import Graph
from runtime.graph.context import building, current_graph, enclosing
from runtime.ops import convert
from runtime.ops.elementwise.arithmetic import equal
from runtime.staging.lists.parts import index_tensor
from runtime.staging.lists.rows import emit
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import ChosenCopy, unwatched, watch_of
from runtime.staging.objects.kinds import (
    Reference,
    check_in_place,
    identical,
    is_mutable,
)
from runtime.staging.state.optional import StagedOptional, composed
from runtime.staging.state.values import can_be_tensor
from runtime.tensor import SymbolicTensor
from runtime.tracing.form import Form
from runtime.types import dtypes, nest
from runtime.where.user_code import state_error

__all__ = [
    "Choice",
    "NewObjects",
    "WithNew",
    "alone",
    "as_choices",
    "carried",
    "choice_among",
    "choose",
    "distinct",
    "first_of",
    "is_chosen_of",
    "is_copied",
    "is_open",
    "item_at",
    "reference",
    "referred",
    "register",
    "same_kind",
    "settled",
    "where_one",
]

_CHANGED = (
    "change it in the branches of an `if`, by the name that it has there, or begin "
    "with a copy that is meant to be one: `chosen = list(chosen)`"
)


class Choice(Reference):
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
        #: A copy of what was in the choice at the end of a body.
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

    def _same_structure(self, other: Choice) -> bool:
        mine, others = self._rows, other._rows
        return len(mine) == len(others) and all(map(is_, mine, others))

    def _part_names(self, name: str) -> list[str]:
        return [f"place_{name}"]

    def __autograph_chosen__(self) -> tuple[Any, ...]:
        """What the compiler looks into for changes: the objects."""
        return self._rows

    def __autograph_alone__(self) -> Any:
        """An object of its own that has in it what is in the choice."""
        raise NotImplementedError

    def among(self, rows: Sequence[Any], graph: Graph) -> Choice | None:
        """The choice as one of more objects; None if some of its own are missing."""
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
        """Whether the object is another one, or the one that another choice is of."""
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
    """Whether one choice can be of all of these objects, and read as one of them."""
    if _choice_class(rows) is None:
        return False
    return len({len(row) for row in rows if isinstance(row, Sized)}) < 2


def reference(value: Any, graph: Graph | None) -> Any:
    """A choice of one object, which can be merged with choices; else the value.

    It keeps a copy, too, of what is in the object now.
    """
    if graph is None:
        return value
    if isinstance(value, Choice):
        found: Any = type(value)(value._rows, value._index)
    elif not same_kind([value]):
        return value
    else:
        found = choice_among(value, [value], graph)
    if not isinstance(found, Choice):
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


def choice_among(value: Any, rows: Sequence[Any], graph: Graph) -> Choice | None:
    """A choice, or one of the objects, as one of these; None if it is none of them."""
    if isinstance(value, Choice):
        return value.among(rows, graph)
    place, kind = _place_in(rows, value), _choice_class(rows)
    if place is None or kind is None:
        return None
    with building(graph):
        choice: Choice = kind(rows, convert.constant(place, dtypes.int32))
    return choice


def settled(value: Any) -> Any:
    """A value, or a tuple of values, with the object for a choice of only one."""
    if isinstance(value, tuple):
        return nest.with_parts(value, settled)
    if isinstance(value, Choice) and len(distinct([value])) == 1:
        return value._rows[0]
    return value


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
    """Have ``maker(values)`` say what makes a choice of such values, or None."""
    _makers.append(maker)


def _maker_of(values: Sequence[Any]) -> _Maker | None:
    found = (maker(values) for maker in _makers)
    return next(filter(None, found), None)


def _choice_class(values: Sequence[Any]) -> type[Choice] | None:
    """The class of the choices among such values; None for other values."""
    found = _maker_of(values)
    is_choice = isinstance(found, type) and issubclass(found, Choice)
    return cast("type[Choice]", found) if is_choice else None


def choose(values: Sequence[Any], index: Any) -> Any:
    """The value at an index: a choice, if it is one that can be changed.

    Raises:
        StagedStateError: AG210, they are of several kinds.
    """
    first = values[0]
    if all(value is first for value in values):
        return first
    make = _maker_of(values)
    if make is not None and _choice_class(values) is None:
        return make(values, index_tensor(index))
    if make is not None:
        return make(*_of_objects(values, index_tensor(index)))
    if any(map(is_open, values)):
        parts = _alike(values)
        if parts is not None:
            return nest.rebuild(first, [choose(part, index) for part in parts])
    return StagedList.of(list(values), "items", None)[index]


def item_at(items: Sequence[Any], index: Any) -> Any:
    """``items[index]`` of what can be changed; IndexError when the graph runs."""
    found = choose(items, index)
    if found is items[0]:  # nothing is chosen, so that nobody looks at the index
        count = convert.constant(len(items), dtypes.int32)
        emit("ListPlace", count, index_tensor(index), use="get", weak=False)
    return found


def _of_objects(values: Sequence[Any], index: Any) -> tuple[Sequence[Any], Any]:
    """The objects that values are or are choices of, and the index among them."""
    if not any(isinstance(value, Choice) for value in values):
        return values, index
    rows = distinct(values)
    graph = current_graph()
    assert graph is not None
    choices = [choice_among(value, rows, graph) for value in values]
    places = [cast(Choice, choice).place() for choice in choices]
    return rows, StagedList.of(places, "places", None)[index]


def distinct(values: Sequence[Any]) -> list[Any]:
    """The objects that values are or are choices of, each once."""
    rows: dict[int, Any] = {}
    for value in values:
        objects = value.__autograph_chosen__() if isinstance(value, Choice) else [value]
        rows.update((id(row), row) for row in objects)
    return list(rows.values())


def is_open(value: Any) -> bool:
    """Whether there is something in a value that can be changed."""
    if can_be_tensor(value) or value is None:
        return False
    cls = type(value)
    if isinstance(value, Choice) or cls in (list, dict, StagedList) or is_mutable(cls):
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


# --- a choice beside another value ----------------------------------------------------

_Pair = tuple[Any, Any]


def as_choices(
    values: _Pair, graphs: tuple[Graph, Graph], inside: bool = False
) -> _Pair | None:
    """Two values as choices of the same objects; None where there are none.

    Each is a value in its graph. A value that is no choice, and not among the objects
    of the other one, is new: it is an object more. Within a list (``inside``) it may
    have other names: then there are no such choices.
    """
    rows = distinct([value for value in values if isinstance(value, Choice)])
    outer = _around(*graphs)
    if any(not _is_seen(row, outer) for row in rows):
        return None
    places = [choice_among(*pair) for pair in _with(rows, values, graphs)]
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
    """A copy of a choice, of the time that the body ended; any other value itself.

    Raises:
        StagedStateError: AG210, there is none.
    """
    if not isinstance(value, Choice):
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
    """A value at the end of an iteration; a copy of a choice of what the body has made.

    ``copied``: the loop carries a copy of the value.
    """
    if isinstance(value, Choice):
        is_itself = not copied and _is_seen(value, outer, value)
        value = value if is_itself else alone(value, name)
    # The compiler watches what an iteration begins with.
    value = unwatched(value)
    for part in _choices_in(value):
        if not _is_seen(part, outer, part):
            raise state_error(
                "AG210",
                "a tensor chooses where a list or dict is put that is made in a loop",
                "assign its items one by one: `items[i][j] = value`",
            )
    return value


def _choices_in(value: Any) -> Iterator[Choice]:
    if isinstance(value, Choice):
        yield value
    for _, part in nest.children(value) or ():
        yield from _choices_in(part)


def first_of(template: Any, packed: Any, after: Any, graph: Graph) -> Any:
    """What a variable is before a loop, beside what it is after an iteration.

    ``packed`` is made of its parts; ``template`` is the object itself, which can be
    among those of a choice.
    """
    if isinstance(after, Choice) and is_open(template):
        return reference(template, graph)
    if type(template) is type(after) and any(True for _ in _choices_in(after)):
        return template
    return packed


def is_copied(before: Any, after: Any, common: Any) -> bool:
    """Whether the common form of two values is a copy where one is a choice."""
    if isinstance(common, StagedOptional):
        common = common._value
    choices = isinstance(before, Choice) or isinstance(after, Choice)
    return choices and not isinstance(common, Choice)


def _around(one: Graph, other: Graph) -> Graph | None:
    """The graph in which the value is that is made of two."""
    if any(one is graph for graph in enclosing(other)):
        return one
    return one.parent


def _is_seen(row: Any, outer: Graph | None, choice: Any = None) -> bool:
    """Whether all that is in an object can be used in a graph.

    The index of ``choice`` does not count.
    """
    if isinstance(row, SymbolicTensor):
        return any(row.graph is graph for graph in enclosing(outer))
    if isinstance(row, Choice):
        index = () if row is choice else row._flatten()
        parts: Sequence[Any] = (*index, *row.__autograph_chosen__())
    elif hasattr(type(row), "_flatten"):
        parts = row._flatten()
    else:
        parts = [part for _, part in nest.children(row) or ()]
    return all(_is_seen(part, outer) for part in parts)


# --- a new object beside those that there are -----------------------------------------


class WithNew:
    """A choice of objects, the last of which is new: what is in it is part of it.

    ``added`` is the object as it is on the path that makes it: its ``side``.
    """

    def __init__(
        self, rows: Sequence[Any], kind: type[Choice], parts: Any, added: Any, side: int
    ) -> None:
        self._rows = rows
        self._kind = kind
        self._index, self._new = parts
        self.added = added
        self.side = side
        #: The object after the statement, once it is made.
        self.made: list[Any] = []

    def _flatten(self) -> list[Any]:
        return [self._index, *Form.of(self._new)[1]]

    def _unflatten(self, parts: Sequence[Any]) -> Choice:
        index, *leaves = parts
        if not self.made:
            self.made.append(Form.of(self._new)[0].pack(leaves))
        return self._kind([*self._rows, *self.made], index)


class NewObjects:
    """The new objects of one statement: one for all variables that name it."""

    def __init__(self) -> None:
        self._made: dict[int, list[Any]] = {}
        self._inside: set[int] = set()

    def share(self, choice: WithNew) -> None:
        """Have ``choice`` share the new object of others with the same ``added``.

        Raises:
            StagedStateError: AG210, one of them is within the other.
        """
        key = id(choice.added)
        if key not in self._made:
            inside = {id(part) for part in _open_parts(choice.added)}
            if not self._inside.isdisjoint(inside):
                raise _cannot_share()
            self._inside |= inside
            self._made[key] = choice.made
        choice.made = self._made[key]

    def take(self, choice: WithNew, found: Any) -> None:
        """Have ``found`` be the object: another variable's, which is it on this path.

        Raises:
            StagedStateError: AG210, it is of another kind.
        """
        if not choice.made:
            choice.made.append(found)
        if choice.made[0] is not found or not same_kind([choice.added, found]):
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


def _is_made_like(one: Any, other: Any) -> bool:
    """Whether two values have leaves in the same places, rows of a buffer or not."""
    if Form.of(one, composed)[0].is_leaf:
        return False
    return Form.of(one)[0].is_like(Form.of(other)[0])


def _with_new(
    values: _Pair, graphs: tuple[Graph, Graph], rows: list[Any], new: int
) -> _Pair | None:
    added, old = values[new], values[1 - new]
    with building(graphs[1 - new]):
        inside = old.__autograph_alone__()
    leaves = (*Form.of(added)[1], *Form.of(inside)[1])
    if not _is_made_like(added, inside) or not all(map(can_be_tensor, leaves)):
        return None
    if not same_kind([*rows, added]):
        return None
    with building(graphs[new]):
        last = convert.constant(len(rows), dtypes.int32)
    choice = choice_among(old, rows, graphs[1 - new])
    assert choice is not None
    with building(graphs[1 - new]):
        place = choice.place()
    one = WithNew(rows, type(old), (last, added), added, new)
    other = WithNew(rows, type(old), (place, inside), added, new)
    return (one, other) if new == 0 else (other, one)
