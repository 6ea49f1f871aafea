"""Lists, dicts and objects that get another name where a tensor decides which one does.

``t = a if test else b`` gives a graph nothing but copies to choose between. Python's
``t`` is `a` or `b`, so that a change of it is a change of them, and theirs one of it.
As long as they can be reached otherwise, a body gives in place of them what a library
makes such that it stays the object itself; where a library has only a copy, it is one
that is watched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from types import CellType
from typing import Any, NamedTuple

from ..classes import defines
from ..dispatch import Backend
from .contents import ItemKey, tuple_like
from .kinds import CHOSEN, objects_in, parts_of, structure_of
from .reach import is_reached, leaving_before
from .slots import CELL, ITEM, KEY, Identity, PartSlot, Slot
from .snapshot import Snapshot


class _Alias(NamedTuple):
    """An object that was there before, and the indexes that lead to it in tuples."""

    path: tuple[int, ...]
    value: Any


#: What the result of a statement is called among its places.
RESULT = None
_Where = Identity | None


class Sharing:
    """What is known of the places of a statement that get objects of other places."""

    def __init__(self) -> None:
        #: Where objects are given as what stays the object itself.
        self.places: set[_Where] = set()
        #: What a copy that a loop begins with may be a copy of.
        self.sources: dict[_Where, list[Any]] = {}
        #: Pairs of places that may get one object.
        self.shared: dict[tuple[_Where, _Where], int] = {}

    def add(self, where: _Where, sources: Iterable[Any]) -> bool:
        """Note what is in a place; tells whether that is new."""
        known = self.sources.setdefault(where, [])
        new = [s for s in sources if not any(s is other for other in known)]
        known += new
        is_new = where not in self.places
        self.places.add(where)
        return is_new or bool(new)


class Aliases:
    """What the bodies of one statement gave that was there before it."""

    def __init__(
        self,
        sharing: Sharing,
        rebound: dict[ItemKey | Identity, Any],
        cells: dict[str, CellType],
    ) -> None:
        self._sharing = sharing
        self._rebound = rebound
        self._cells = cells
        #: The items of lists and dicts that the bodies assign, and what is there.
        self._items: list[tuple[Slot, Any]] = []
        self._items_before: list[tuple[Slot, Any]] = []
        self._found: dict[_Where, list[_Alias]] = {}
        #: Lists, and what the library has put into their places by now.
        self.replaced: list[tuple[Any, Any]] = []
        self._chosen: Callable[..., Any] | None = None
        self._refer: Callable[[Any], Any] | None = None

    def begin(self, backend: Backend | None) -> None:
        """Forget the bodies: the statement is staged, maybe again."""
        self._found.clear()
        self.replaced = []
        self._items, self._items_before = [], self._assigned_items()
        if backend is not None:
            self._chosen = backend.builtin("chosen")
            self._refer = backend.builtin("reference")

    def note(
        self,
        known: Snapshot,
        result: Any,
        state: Sequence[Slot],
        kept: Sequence[Any],
    ) -> tuple[Any, bool]:
        """Note what a body has given; ``kept`` are the values of the state before.

        Gives the result and whether the statement is to be staged again. The objects in
        it and in the state are such that they stay themselves, where that matters.
        """
        if self._chosen is None:
            return result, False
        found: dict[_Where, list[_Alias]] = {
            RESULT: [*self._known_parts(known, result)]
        }
        places: dict[_Where, Slot] = {}
        assigned = {*self._rebound, *(slot.identity for slot, _ in self._items)}
        pairs = [*zip(state, kept, strict=True), *self._items]
        state = [place for place, _ in pairs]
        for place, before in pairs:
            value = _settled(place)
            if value is not before or place.identity in assigned:
                found[place.identity] = [*self._known_parts(known, value)]
                places[place.identity] = place
        again = self._share(result, places)
        result = self._alone(known, result)
        for place in places.values():
            value = place.read()
            alone = self._alone(known, value)
            if alone is not value:
                place.write(alone)
        counts = Counter(id(alias.value) for f in found.values() for alias in f)
        for where, aliases in found.items():
            self._found.setdefault(where, []).extend(aliases)
            values = [alias.value for alias in aliases]
            if any(counts[id(value)] > 1 for value in values) or any(
                self._is_reached(value, where, places.values()) for value in values
            ):
                again |= self._sharing.add(where, values)
        if again:
            return result, True
        for place in state:
            value = place.read()
            itself = self._kept(value)
            if place.identity in self._sharing.places:
                itself = self._referring(itself, found.get(place.identity, ()))
            if itself is not value:
                place.write(itself)
        result = self._kept(result)
        if RESULT in self._sharing.places:
            result = self._referring(result, found[RESULT])
        return result, False

    def _known_parts(self, known: Snapshot, value: Any) -> Iterator[_Alias]:
        """The objects in a value, or in tuples in it, that are known and can change."""
        if isinstance(value, tuple):
            for index, part in enumerate(value):
                for path, found in self._known_parts(known, part):
                    yield _Alias((index, *path), found)
            return
        if defines(type(value), "__autograph_sources__"):
            objects = value.__autograph_sources__()
        elif structure_of(type(value)) is CHOSEN:
            objects = value.__autograph_chosen__()
        else:
            objects = [self._original(value)]
            if not known.has(objects[0]) or parts_of(value) is None:
                objects = objects_in(value).values()
        for part in map(self._original, objects):
            if known.has(part):
                yield _Alias((), part)

    def _original(self, value: Any) -> Any:
        """The list that the library has put an object in the place of."""
        return next((old for old, new in self.replaced if new is value), value)

    def _share(self, result: Any, places: dict[_Where, Slot]) -> bool:
        """Note how many objects places have in common; tells whether it is new."""
        values = [(w, p.read()) for w, p in places.items()]
        return self._share_among([(RESULT, result), *values])

    def _share_among(self, values: Iterable[tuple[_Where, Any]]) -> bool:
        inside = [(where, objects_in(value)) for where, value in values]
        again = False
        for (one, first), (other, second) in combinations(inside, 2):
            count = len(first.keys() & second.keys())
            if count > self._sharing.shared.get((one, other), 0):
                self._sharing.shared[one, other] = count
                again = True
        return again

    def _kept(self, value: Any) -> Any:
        """The value, which keeps what is in it now where it stays the object itself."""
        if isinstance(value, tuple):
            return tuple_like(value, list(map(self._kept, value)))
        cls = type(value)
        stands = structure_of(cls) is CHOSEN or defines(cls, "__autograph_sources__")
        if self._refer is not None and stands:
            return self._refer(value)
        return value

    def _alone(self, known: Snapshot, value: Any) -> Any:
        """A watched copy of what was chosen among objects that a body has made."""
        if not _is_of_new(known, value) or self._chosen is None:
            return value
        rows = value.__autograph_chosen__()
        return self._chosen(value.__autograph_alone__(), _matters(rows), rows)

    def _part(self, result: Any, places: dict[_Where, Slot]) -> Any:
        """Watch the copies of one object that places have; gives the result."""
        chosen = self._chosen
        for pair, count in self._sharing.shared.items():
            there = all(where is RESULT or where in places for where in pair)
            if chosen is None or not there:
                continue
            both = [
                result if where is RESULT else places[where].read() for where in pair
            ]
            one, other = map(objects_in, both)
            if len(one.keys() & other.keys()) >= count or any(map(_is_itself, both)):
                continue
            holder: list[Any] = []
            for number, (where, value) in enumerate(zip(pair, both, strict=True)):
                watched = chosen(value, _matters_beside(holder, 1 - number))
                holder.append(watched)
                if where is RESULT:
                    result = watched
                else:
                    places[where].write(watched)
        return result

    def _referring(self, value: Any, aliases: Iterable[_Alias]) -> Any:
        refer = self._refer
        if refer is None:
            return value
        for path, alias in aliases:
            value = _replaced(value, path, partial(_instead, refer, alias))
        return value

    def _is_reached(self, value: Any, where: _Where, places: Iterable[Slot]) -> bool:
        """Whether an object can be reached but by the places that were given it."""
        leaving = leaving_before(where)
        names = {n for some in leaving.values() for n in some or ()}
        cells = [PartSlot(CELL, n, self._cells[n]) for n in names if n in self._cells]
        # What is in others comes first, as long as those have it.
        inner = sorted(places, key=lambda place: -len(place.name))
        values = [(place, place.read()) for place in (*inner, *cells)]
        for place, _ in values:
            place.write(None)
        objects = objects_in(value)
        stand_ins = [new for old, new in self.replaced if id(old) in objects]
        try:
            return is_reached((value, *stand_ins), leaving, by_copies=True)
        finally:
            for place, old in reversed(values):
                place.write(old)

    def _assigned_items(self) -> list[tuple[Slot, Any]]:
        found: list[tuple[Slot, Any]] = []
        for place, owner in self._rebound.items():
            if len(place) == 2 and type(owner) in (list, dict):
                access = ITEM if type(owner) is list else KEY
                slot = PartSlot(access, f"[{place[1]!r}]", owner, place[1])
                found.append((slot, slot.read()))
        return found

    def entering(self, state: Sequence[Slot], before: Sequence[Any]) -> None:
        """Watch what an iteration begins with in places, if it may be an object that
        was there before, or that another place has.

        ``before`` is what was in the places before the statement.
        """
        self._items = self._assigned_items()
        if self._chosen is None:
            return
        rebound = self._rebound
        places: dict[_Where, Slot] = {}
        values: list[tuple[_Where, Any]] = []
        for place, old in zip(state, before, strict=True):
            if place.identity in rebound and place.read() is not old:
                self._enter(place, old)
                places[place.identity] = place
                values.append((place.identity, old))
        self._share_among(values)
        self._part(None, places)

    def _enter(self, place: Slot, before: Any) -> None:
        sources = self._sharing.sources.get(place.identity, [])
        value = place.read()
        if _is_itself(value) or self._chosen is None:
            return
        if parts_of(before) is not None and not any(s is before for s in sources):
            if self._is_reached(before, place.identity, [place]):
                sources = [before, *sources]
        if sources:
            place.write(self._chosen(value, _matters(sources), sources))

    def guarded(self, result: Any, state: Iterable[Slot], before: Sequence[Any]) -> Any:
        """The result; it and the state hold no copies that are not watched.

        ``before`` is the state before the statement.
        """
        if self._chosen is None:
            return result
        pairs = [*zip(state, before, strict=True), *self._items_before]
        for place, old in pairs:
            value = place.read()
            found = list(self._found.get(place.identity, ()))
            if place.identity in self._found and value is not old:
                if parts_of(old) is not None and not _is_itself(value):
                    found.append(_Alias((), old))
            watched = self._watched(value, found, place.identity)
            if watched is not value:
                place.write(watched)
        result = self._watched(result, self._found.get(RESULT, ()), RESULT)
        return self._part(result, {place.identity: place for place, _ in pairs})

    def _watched(self, value: Any, found: Iterable[_Alias], where: _Where) -> Any:
        by_path: dict[tuple[int, ...], list[Any]] = {}
        for path, alias in found:
            by_path.setdefault(path, []).append(alias)
        shared = where in self._sharing.places
        for path, aliases in by_path.items():
            if shared or any(self._is_reached(a, where, ()) for a in aliases):
                value = _replaced(value, path, self._watching(aliases, shared))
        return value

    def _watching(self, aliases: Sequence[Any], shared: bool) -> Callable[[Any], Any]:
        def watched(value: Any) -> Any:
            if any(value is alias for alias in aliases) or self._chosen is None:
                return value
            return self._chosen(value, _matters(aliases), aliases)

        return watched


def is_of_item(place: tuple[Any, ...]) -> bool:
    """Whether it is what tells an item of a list or dict from other places."""
    return len(place) == 2 or not str(place[-1]).isidentifier()


def _is_itself(value: Any) -> bool:
    """Whether it is no copy: a library's own, or what cannot be changed."""
    return structure_of(type(value)) is CHOSEN or parts_of(value) is None


def _instead(refer: Callable[[Any], Any], alias: Any, value: Any) -> Any:
    return refer(value) if value is alias else value


def _is_of_new(known: Snapshot, value: Any) -> bool:
    """Whether it is chosen among objects some of which were not there before."""
    if structure_of(type(value)) is not CHOSEN:
        return False
    return not all(map(known.has, value.__autograph_chosen__()))


def _matters_beside(holder: list[Any], number: int) -> Callable[[], bool]:
    return lambda: is_reached(holder[number])


def _matters(aliases: Sequence[Any]) -> Callable[[], bool]:
    return lambda: any(map(is_reached, aliases))


def _settled(place: Slot) -> Any:
    """What is in a place; a copy that may be changed by now becomes an ordinary one."""
    value = place.read()
    settle = getattr(type(value), "__autograph_settled__", None)
    if settle is not None:
        settled = settle(value)
        if settled is not value:
            place.write(settled)
            return settled
    return value


def _replaced(value: Any, path: tuple[int, ...], replace: Callable[[Any], Any]) -> Any:
    """The value, with ``replace`` called on what is at the path."""
    if not path:
        return replace(value)
    index, *rest = path
    if not isinstance(value, tuple) or index >= len(value):
        return value
    parts = list(value)
    parts[index] = _replaced(parts[index], tuple(rest), replace)
    return tuple_like(value, parts)
