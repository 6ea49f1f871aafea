"""Notices objects that a staged branch or loop body changes behind the graph's back.

Variables, and the attributes and items that a statement assigns itself, are its state:
they are merged. What a called method or helper changes, or ``append`` does, would
happen while tracing, once, whether or not the branch is taken. So `variables` compares
all objects that a body can reach before and after it is traced: what changed is put
back, and becomes state, too, if it has a place that can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import cached_property
from operator import is_
from types import FunctionType
from typing import Any, NamedTuple

from ...diagnostics import Diagnostic
from ...errors import StagingError
from ...ownership import user_location
from ..classes import ATOMS
from ..dispatch import UNBOUND
from .kinds import (
    DICT,
    FUNCTION,
    TUPLE,
    VIEWS,
    Kind,
    Parts,
    kinds_of,
    pairs_of,
    reachable_names,
)
from .retired import as_they_were
from .slots import ContentsSlot, PartSlot, Slot, put_in_order

__all__ = ["Change", "KeyOrders", "Snapshot", "reachable_names"]


class Seen(NamedTuple):
    """An object as it was: where it was met, how it was looked at, its parts."""

    value: Any
    kind: Kind
    parts: Parts
    owner: Seen | None
    key: Any

    def name(self) -> str:
        """How the object is written in the user's code."""
        return self.key if self.owner is None else self.owner.name_of(self.key)

    def outermost(self) -> Seen:
        """The object itself, or one like it that it is inside of."""
        seen = found = self
        while seen.owner is not None and (seen.owner.kind in (self.kind, TUPLE)):
            seen = seen.owner
            found = seen if seen.kind is self.kind else found
        return found

    def name_of(self, key: Any) -> str:
        """How a part of the object is written."""
        step = self.kind.step(key)
        # A variable of a function has its own name, as has a class.
        return step if step[:1].isalpha() or step[:1] == "_" else self.name() + step

    def places(self) -> Iterator[tuple[str, Any]]:
        """The names and keys of what can be changed: of all of a list at once."""
        if type(self.parts) is list:
            yield self.name(), None
        else:
            yield from ((self.name_of(key), key) for key in self.parts)

    def read(self) -> Parts:
        """The parts as they are now."""
        return self.kind.read(self.value)

    def changed(self) -> bool:
        """Whether the parts are not what they were."""
        return not (self.kind.fixed or _alike(self.parts, self.read()))


class Change(NamedTuple):
    """A change of an object: the places that it was made in, what was there, and is.

    The place is None for a part of the object that is no place, or all of them.
    """

    seen: Seen
    places: list[tuple[Slot | None, Any, Any]]

    def can_be_state(self, opens: bool) -> bool:
        """Whether all of what changed is in places.

        Sets and deques are state of a library alone that ``opens`` such.
        """
        known = opens or not self.seen.kind.opened
        return known and all(slot is not None for slot, *_ in self.places)

    def slots(self, stands_for: Callable[[Any, Any], bool]) -> Iterator[Slot]:
        """The places whose values matter.

        ``stands_for(new, old)`` says whether a library put an object in the place of a
        list: then the place is the same, and the list has changed.
        """
        for slot, old, new in self.places:
            if slot is None or not slot.matters or stands_for(new, old):
                continue
            if type(old) is list and type(slot) is ContentsSlot:
                pairs = zip(old, new)
                same = (_same(*pair) or stands_for(*pair[::-1]) for pair in pairs)
                if len(old) == len(new) and all(same):
                    continue
            yield slot

    def undo(self) -> None:
        """Put everything back as it was."""
        seen = self.seen
        if seen.kind.fill is not None:
            seen.kind.fill(seen.value, seen.parts)
            return
        for slot, value, _ in self.places:
            if slot is not None:
                slot.write(value)

    def describe(self) -> str:
        """What changed, in words."""
        slot = self.places[0][0]
        if slot is not None and not isinstance(slot, ContentsSlot):
            return f"`{slot.name}`"
        return f"the {type(self.seen.value).__name__} `{self.seen.name()}`"


def walk(
    roots: Iterable[tuple[str, Any]],
    known: Collection[int] = (),
) -> Iterator[Seen]:
    """The objects that can be reached from some named values, the nearest first.

    Those whose ids are ``known`` are left out, with what only they lead to.
    """
    met = set(known)
    # It grows, and keeps alive what is told apart by its id.
    pending: list[tuple[Seen | None, Any, Any]] = [(None, *root) for root in roots]
    for owner, key, value in pending:
        if id(value) in met or type(value) in ATOMS:
            continue
        met.add(id(value))
        for kind in kinds_of(value):
            seen = Seen(value, kind, kind.read(value), owner, key)
            yield seen
            pending += (
                (seen, key, part)
                for key, part in pairs_of(seen.parts)
                if type(part) not in ATOMS
            )


class Snapshot:
    """The objects that can be reached from some named values, as they are now.

    Those of ``base`` are as they were when that was made: nothing may have changed.
    """

    def __init__(
        self, roots: Iterable[tuple[str, Any]], base: Snapshot | None = None
    ) -> None:
        self._seen: list[Seen] = [] if base is None else base._seen.copy()
        self._first: dict[int, Seen] = {} if base is None else base._first.copy()
        for seen in walk(roots, self._first):
            self._seen.append(seen)
            self._first.setdefault(id(seen.value), seen)

    def __len__(self) -> int:
        return len(self._first)

    def main_root(self) -> str:
        """The name of the variable by which most of the objects are reached."""
        roots: dict[int, Seen] = {}
        for seen in self._seen:
            around = seen if seen.owner is None else roots[id(seen.owner)]
            roots[id(seen)] = seen if around.kind is FUNCTION else around
        return Counter(root.name() for root in roots.values()).most_common(1)[0][0]

    def seen(self, value: Any, kind: Kind) -> Seen | None:
        """An object as it was; None for one that was not reached."""
        seen = self._first.get(id(value))
        return None if seen is None or seen.kind.read is not kind.read else seen

    def look_at(self, value: Any, kind: Kind) -> Seen:
        """An object as it was; as it is now, if it was not among those reached."""
        seen = self.seen(value, kind)
        if seen is None:
            seen = Seen(value, kind, kind.read(value), None, type(value).__name__)
            self._seen.append(seen)
            self._first.setdefault(id(value), seen)
        return seen

    def first_change(self) -> str | None:
        """What is not as it was: its name, and what it is; None if nothing changed."""
        with as_they_were():
            return next((change.describe() for change in self.changes()), None)

    def restore(self) -> list[Change]:
        """Put everything back as it was; gives what was not, or may not have been."""
        unknown = (seen for seen in self._seen if seen.kind.unknown)
        changes = [*self.changes(), *map(_unknown_change, unknown)]
        for change in changes:
            change.undo()
        for _, value, keys in self.reordered():
            put_in_order(value, keys)
        return changes

    def reordered(self) -> Iterator[tuple[str, Any, list[Any]]]:
        """The dicts whose keys, or their order, are not what they were; and those."""
        for seen in self._seen:
            if seen.kind is DICT and list(seen.value) != list(seen.parts):
                yield seen.name(), seen.value, list(seen.parts)

    def has(self, value: Any) -> bool:
        """Whether an object was among those that can be reached."""
        return id(value) in self._first

    def contents(self, value: Any) -> ContentsSlot | None:
        """What is in an object, as a place; None for one that was not reached."""
        seen = self._first.get(id(value))
        return None if seen is None else ContentsSlot(seen.name(), value)

    @cached_property
    def _holders(self) -> dict[int, list[tuple[Seen, Any]]]:
        """What the parts were parts of, and their keys there."""
        found: dict[int, list[tuple[Seen, Any]]] = {}
        for seen in self._seen:
            for key, part in pairs_of(seen.parts):
                if type(part) not in ATOMS:
                    found.setdefault(id(part), []).append((seen, key))
        return found

    def places(self, value: Any) -> Iterator[tuple[str, Slot | None]]:
        """The places that held an object, by name; None for one that cannot change."""
        for seen, key in self._holders.get(id(value), ()):
            if type(seen.value) in VIEWS:
                continue  # see `views`
            name, slot = seen.name_of(key), seen.kind.slot
            yield name, None if slot is None else slot(name, seen.value, key)

    def views(self, value: Any) -> Iterator[tuple[Any, str]]:
        """The views of a dict that held it, and the methods that give such views."""
        for seen, _ in self._holders.get(id(value), ()):
            if type(seen.value) in VIEWS:
                yield seen.value, VIEWS[type(seen.value)]

    def slots(
        self, wanted: Collection[tuple[Hashable, str]]
    ) -> dict[tuple[Hashable, str], Slot]:
        """The places of such kinds and names; none for a name that two have."""
        names = {name for _, name in wanted}
        found: dict[tuple[Hashable, str], Slot] = {}
        twice = set()
        for seen in self._seen:
            make = seen.kind.slot
            if make is None:
                continue
            for name, key in seen.places():
                slot = make(name, seen.value, key) if name in names else None
                if slot is not None:
                    where = slot.sort, name
                    if found.setdefault(where, slot).identity != slot.identity:
                        twice.add(where)
        return {w: s for w, s in found.items() if w in wanted and w not in twice}

    def functions(self) -> Iterator[FunctionType]:
        """The functions among the objects."""
        return (s.value for s in self._seen if isinstance(s.value, FunctionType))

    def changes(self) -> Iterator[Change]:
        """What is not as it was."""
        for seen in self._seen:
            if seen.changed():
                change = _change(seen)
                if change.places:
                    yield change


def _unknown_change(seen: Seen) -> Change:
    return Change(seen, [(None, None, None)])


def _change(seen: Seen) -> Change:
    kind, value, before = seen.kind, seen.value, seen.parts
    if kind.slot is None:
        return _unknown_change(seen)
    after = kind.read(value)
    if type(after) is list:
        return Change(seen, [(kind.slot(seen.name(), value, None), before, after)])
    places = []
    for key in {**before, **after}:
        old, new = before.get(key, UNBOUND), after.get(key, UNBOUND)
        is_cache = kind.lazy and old is UNBOUND and kind.step(key).startswith("._")
        if not is_cache and not _same(old, new):
            slot = kind.slot(seen.name_of(key), value, key)
            if not (isinstance(slot, PartSlot) and slot.are_alike(old, new)):
                places.append((slot, old, new))
    return Change(seen, places)


def _alike(before: Parts, after: Parts) -> bool:
    if len(before) != len(after):
        return False
    if type(before) is list:
        return all(map(is_, before, after)) or all(map(_same, before, after))
    if all(map(is_, before.values(), after.values())):
        if all(map(is_, before, after)):
            return True
    return before.keys() == after.keys() and all(
        _same(value, after[key]) for key, value in before.items()
    )


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    if type(old) is not type(new) or type(old) not in ATOMS:
        return False
    # 0.0 == -0.0, and no nan equals another one.
    return repr(old) == repr(new) if type(old) in (float, complex) else old == new


# --- the order of keys ---------------------------------------------------------------


class _Dict(NamedTuple):
    """A dict, as it is called, and its keys before the statement and after a path."""

    value: Any
    name: str
    before: list[Any]
    after: list[Any]


class KeyOrders:
    """What the paths of one statement made of the orders of keys."""

    def __init__(self) -> None:
        self._paths: list[dict[int, _Dict]] = []

    def begin(self) -> None:
        """Forget the paths: the statement is staged, maybe again."""
        self._paths.clear()

    def note(
        self, known: Iterable[tuple[str, Any, list[Any]]], repeats: bool = False
    ) -> None:
        """Note the end of a path; ``known`` are dicts, and their keys before it.

        ``repeats``: there may be a path, too, on which nothing happens.
        """
        if repeats:
            self._paths.append({})
        self._paths.append(
            {
                id(value): _Dict(value, name, before, list(value))
                for name, value, before in known
            }
        )

    def apply_agreed(self) -> None:
        """Put the keys into the order that all paths agree on.

        Raises:
            StagingError: AG207, they do not.
        """
        for found in {k: d for path in self._paths for k, d in path.items()}.values():
            orders = [
                path[id(found.value)].after if id(found.value) in path else found.before
                for path in self._paths
            ]
            if any(order != orders[0] for order in orders):
                raise _refused(found)
            put_in_order(found.value, orders[0])


def _refused(found: _Dict) -> StagingError:
    kind = type(found.value).__name__
    return StagingError(
        Diagnostic(
            "AG207",
            "a staged branch changes what a graph cannot carry",
            f"the keys of the {kind} `{found.name}` are put into another order where a "
            "tensor decides whether that happens, and a graph cannot do it later",
            user_location(),
            "have the keys in the dict before the statement, and assign their values",
        )
    )
