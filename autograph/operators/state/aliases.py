"""Freezes objects that a statement gives to a place, where a tensor decides which.

A graph chooses values, not objects: after ``t = a if test else b`` it has a copy in
`t`. Python's ``t`` is `a` or `b`, so that a change of it is a change of them, and
theirs one of it. So the library *freezes* the copy: it refuses to change it, and to
read it once an object has changed that it may be a copy of. Which objects were there
before, the snapshot of the statement tells. Nobody asks whether the program can still
reach them: an object that was there before always freezes its copies. A library that
tells by a *reference* which object a path gave keeps the object that all paths give.

`variables` calls this, in the order of `Aliases`: it changes nothing but the values in
the places of a statement, and its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from ..classes import defines
from ..dispatch import UNBOUND, Backend
from .contents import ItemKey, tuple_like
from .kinds import objects_in, parts_of, structure_of
from .slots import ITEM, KEY, Identity, PartSlot, Slot
from .snapshot import Snapshot

#: Which place it is; the result of a statement is a place, too.
_Where = Identity | None
RESULT = None
_Slots = Mapping[_Where, Slot]


class _Alias(NamedTuple):
    """An object that was there before, and the indexes that lead to it in tuples."""

    path: tuple[int, ...]
    value: Any


class Sharing:
    """The places of a statement that get objects which other places have."""

    def __init__(self) -> None:
        #: The objects from before the statement that a body may leave in a place, by
        #: place and id. An iteration may begin with them, or with copies of them.
        self.sources: dict[_Where, dict[int, Any]] = {}
        #: How many objects two places may have in common.
        self.common: dict[tuple[_Where, _Where], int] = {}

    def add(self, where: _Where, sources: Iterable[Any]) -> bool:
        """Note what may be in a place; tells whether that is new."""
        before = len(self.sources.get(where, ()))
        noted = self.sources.setdefault(where, {})
        noted.update((id(source), source) for source in sources)
        return len(noted) > before

    def compare(self, values: Iterable[tuple[_Where, Any]]) -> bool:
        """Note how many objects places have in common; tells whether that is new."""
        inside = [(where, _objects_behind(value)) for where, value in values]
        is_new = False
        for (one, first), (other, second) in combinations(inside, 2):
            count = len(first.keys() & second.keys())
            if count > self.common.get((one, other), 0):
                self.common[one, other] = count
                is_new = True
        return is_new


class Aliases:
    """What the bodies of one statement gave that was there before it.

    ``rebound`` are the places that get other objects.
    """

    def __init__(
        self, sharing: Sharing, rebound: dict[ItemKey | Identity, Any]
    ) -> None:
        self._sharing = sharing
        self._rebound = rebound
        #: The items of lists and dicts that the bodies assign, and what was there.
        self._items: list[tuple[Slot, Any]] = []
        self._items_before: list[tuple[Slot, Any]] = []
        self._found: dict[_Where, list[_Alias]] = {}
        #: Lists, and what the library has put into their places, by the id of that.
        self._originals: dict[int, tuple[Any, Any]] = {}
        self._freeze: Callable[..., Any] | None = None
        self._refer: Callable[[Any], Any] | None = None

    def begin(self, backend: Backend | None) -> None:
        """Forget the bodies: the statement is staged, maybe again."""
        self._found.clear()
        self.stand_in(())
        self._items, self._items_before = [], self._assigned_items()
        if backend is not None:
            self._freeze = backend.builtin("chosen")
            self._refer = backend.builtin("reference")

    def stand_in(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Say which lists others stand for by now."""
        self._originals = {id(new): (old, new) for old, new in pairs}

    # --- an iteration begins ----------------------------------------------------------

    def entering(self, state: Sequence[Slot], before: Sequence[Any]) -> None:
        """Freeze what an iteration begins with in places, if it may be an object that
        was there before, or that another place has.

        ``before`` is what was in the places before the statement.
        """
        self._items = self._assigned_items()
        if self._freeze is None:
            return
        places: dict[_Where, Slot] = {}
        values: list[tuple[_Where, Any]] = []
        for place, old in zip(state, before, strict=True):
            where = place.identity
            # A place that had no object, as `None`, is not rebound, but may get one.
            may_get = _is_itself(old) and where in self._sharing.sources
            if (where in self._rebound or may_get) and place.read() is not old:
                self._enter(place, old)
                places[where] = place
                values.append((where, old))
        self._sharing.compare(values)
        self._freeze_pairs(places)
        was = {slot.identity: old for slot, old in self._items_before}
        for slot, value in self._items:
            if slot.identity in was and value is not was[slot.identity]:
                self._enter(slot, was[slot.identity])
        self._items = self._assigned_items()

    def _enter(self, place: Slot, before: Any) -> None:
        where, value = place.identity, place.read()
        may_be_none = defines(type(value), "__autograph_within__")
        if _is_itself(value) and not may_be_none:
            return
        sources = [*self._sharing.sources.get(where, {}).values()]
        sources += (alias.value for alias in _aliases_in(before))
        if sources and self._freeze is not None:
            place.write(self._freeze(value, sources))

    # --- a body has ended -------------------------------------------------------------

    def note(
        self, known: Snapshot, result: Any, state: Sequence[Slot], before: Sequence[Any]
    ) -> tuple[Any, bool]:
        """Note what a body has given; ``before`` is what it began with in the state.

        Gives the result and whether the statement is to be staged again. The objects in
        it and in the state are such that they stay themselves.
        """
        if self._freeze is None:
            return result, False
        returned = _slot_of(result)
        slots: dict[_Where, Slot] = {RESULT: returned}
        assigned = {*self._rebound, *(slot.identity for slot, _ in self._items)}
        pairs = [*zip(state, before, strict=True), *self._items]
        for place, old in pairs:
            # What took the places of an object is that object.
            is_other = self._original(_read_fresh(place)) is not self._original(old)
            if is_other or place.identity in assigned:
                slots[place.identity] = place
        found = {
            where: [*self._known_objects(known, slot.read())]
            for where, slot in slots.items()
        }
        values = [(where, slot.read()) for where, slot in slots.items()]
        again = self._sharing.compare(values)
        own: dict[_Where, dict[int, Any]] = {
            place.identity: _objects_behind(old) for place, old in pairs
        }
        again |= self._note_objects(known, found, own)
        if not again:
            slots.update((place.identity, place) for place, _ in pairs)
            for where, slot in slots.items():
                self._refer_to_objects(where, slot, found.get(where, ()))
        return returned.read(), again

    def _known_objects(self, known: Snapshot, value: Any) -> Iterator[_Alias]:
        """The objects in a value, or in tuples in it, that are known and can change."""
        if isinstance(value, tuple):
            for index, part in enumerate(value):
                for path, found in self._known_objects(known, part):
                    yield _Alias((index, *path), found)
            return
        # The body may reach copies alone, and not what they are copies of.
        for source in _sources_in(value):
            yield _Alias((), self._original(source))
        original = self._original(value)
        objects: Iterable[Any]
        if defines(type(value), "__autograph_sources__"):
            yield _Alias((), original)
            return
        if known.has(original) and parts_of(value) is not None:
            objects = [original]
        else:
            objects = objects_in(value).values()
        for part in map(self._original, objects):
            if known.has(part):
                yield _Alias((), part)

    def _original(self, value: Any) -> Any:
        """The list that the library has put an object in the place of."""
        return self._originals.get(id(value), (value,))[0]

    def _note_objects(
        self,
        known: Snapshot,
        found: Mapping[_Where, list[_Alias]],
        own: Mapping[_Where, dict[int, Any]],
    ) -> bool:
        """Note the objects that places have now; tells whether that is new.

        What a place had when the body began (``own``) is not.
        """
        is_new = False
        for where, aliases in found.items():
            self._found.setdefault(where, []).extend(aliases)
            # A copy may be one of an earlier attempt: only its objects stay.
            values = [
                source
                for alias in aliases
                if known.has(alias.value)
                for source in _sources_in(alias.value) or [alias.value]
                if not defines(type(source), "__autograph_sources__")
            ]
            before = own.get(where, {})
            others = [value for value in values if id(value) not in before]
            if others:
                is_new |= self._sharing.add(where, others)
        return is_new

    def _refer_to_objects(
        self, where: _Where, slot: Slot, aliases: Iterable[_Alias]
    ) -> None:
        """Replace an object in a place by a reference, where the place needs one."""
        value = itself = slot.read()
        if self._refer is not None:
            for path, alias in aliases:
                instead = partial(_instead, self._refer, alias)
                itself = _replaced(itself, path, instead)
        if itself is not value:
            slot.write(itself)

    # --- the statement is staged ------------------------------------------------------

    def guarded(self, result: Any, state: Iterable[Slot], before: Sequence[Any]) -> Any:
        """The result; the copies in it and in the state are frozen.

        ``before`` is the state before the statement.
        """
        if self._freeze is None:
            return result
        returned = _slot_of(result)
        slots: dict[_Where, Slot] = {RESULT: returned}
        olds: list[tuple[_Where, Any]] = []
        for place, old in (*zip(state, before, strict=True), *self._items_before):
            where, value = place.identity, place.read()
            slots[where] = place
            if where in self._found and value is not old:
                if not _is_itself(value):
                    self._found[where] += _aliases_in(old)
                olds.append((where, old))
        # A loop may end before its first iteration.
        self._sharing.compare(olds)
        for at, slot in slots.items():
            self._guard(at, slot)
        self._freeze_pairs(slots)
        return returned.read()

    def _guard(self, where: _Where, slot: Slot) -> None:
        """Freeze the copies in a place of objects that were there before."""
        by_path: dict[tuple[int, ...], list[Any]] = {}
        for path, alias in self._found.get(where, ()):
            by_path.setdefault(path, []).append(alias)
        value = frozen = slot.read()
        for path, aliases in by_path.items():
            frozen = _replaced(frozen, path, partial(self._frozen_copy, aliases))
        if frozen is not value:
            slot.write(frozen)

    def _frozen_copy(self, sources: Sequence[Any], value: Any) -> Any:
        is_source = any(value is source for source in sources)
        if is_source or self._freeze is None:
            return value
        return self._freeze(value, sources)

    def _freeze_pairs(self, slots: _Slots) -> None:
        """Freeze the copies of one object that two places have."""
        for pair, count in self._sharing.common.items():
            if self._freeze is None or not all(where in slots for where in pair):
                continue
            both = [slots[where].read() for where in pair]
            one, other = map(objects_in, both)
            if len(one.keys() & other.keys()) >= count or any(map(_is_itself, both)):
                continue
            for where, value in zip(pair, both, strict=True):
                slots[where].write(self._freeze(value))

    def _assigned_items(self) -> list[tuple[Slot, Any]]:
        found: list[tuple[Slot, Any]] = []
        for where, owner in self._rebound.items():
            kind = structure_of(type(owner)) if len(where) == 2 else None
            if kind is None or kind.slot is None or kind.opened:
                continue
            slot = kind.slot(kind.step(where[1]), owner, where[1])
            if slot is not None and (slot.sort is KEY or slot.read() is not UNBOUND):
                found.append((slot, slot.read()))
        return found


def _objects_behind(value: Any) -> dict[int, Any]:
    """The objects in a value, and those that copies in it are copies of."""
    found = objects_in(value)
    for source in _sources_in(value):
        found.update(objects_in(source))
    return found


def _sources_in(value: Any) -> list[Any]:
    """What the copies in a value are copies of."""
    found: dict[int, Any] = {}
    for copy in (value, *objects_in(value).values()):
        if defines(type(copy), "__autograph_sources__"):
            sources = copy.__autograph_sources__()
            found.update((id(source), source) for source in sources)
    return list(found.values())


def is_of_item(where: tuple[Any, ...]) -> bool:
    """Whether it is what tells an item of a list or dict from other places."""
    return len(where) == 2 or not str(where[-1]).isidentifier()


def _slot_of(result: Any) -> Slot:
    """A place for the result of a statement."""
    return PartSlot(ITEM, "", [result], 0)


def _is_itself(value: Any) -> bool:
    """Whether it is no copy: there is nothing in it that can be changed."""
    if isinstance(value, tuple):
        return all(map(_is_itself, value))
    return parts_of(value) is None


def _aliases_in(value: Any, path: tuple[int, ...] = ()) -> Iterator[_Alias]:
    """A value that can change, or such values in a tuple; the sources of copies."""
    if isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from _aliases_in(part, (*path, index))
    elif parts_of(value) is not None:
        yield _Alias(path, value)
        for source in _sources_in(value):
            yield _Alias(path, source)


def _instead(refer: Callable[[Any], Any], alias: Any, value: Any) -> Any:
    return refer(value) if value is alias else value


def _read_fresh(place: Slot) -> Any:
    """What is in a place; refused if it is frozen and its objects have changed."""
    value = place.read()
    if defines(type(value), "__autograph_check__"):
        type(value).__autograph_check__(value)
    return value


def _replaced(value: Any, path: tuple[int, ...], replace: Callable[[Any], Any]) -> Any:
    """The value, with ``replace`` called on what is at the path."""
    if not path:
        return replace(value)
    if defines(type(value), "__autograph_within__"):
        return replace(value)  # the tuple in it may be None, and has no path
    index, *rest = path
    if not isinstance(value, tuple) or index >= len(value):
        return value
    parts = list(value)
    parts[index] = _replaced(parts[index], tuple(rest), replace)
    return tuple_like(value, parts)
