"""Lists and dicts in the state of a statement, which stay the objects that they are.

A library merges the items of a list and hands back another list, but other variables
and attributes may refer to the first one. So a trial puts what it is to run on *into*
the lists and dicts of the user's, hands out copies of what it has made of them, and
puts back what was there; at last the merged items are put into them. Only where the
user's code assigns another object is the place rebound.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Hashable
from operator import is_
from typing import Any

from .kinds import STAGED, TUPLE, Parts, pairs_of, structure_of
from .snapshot import Seen, Snapshot

#: An item of an object: the id of the object, and the key.
ItemKey = tuple[int, Hashable]
_MISSING = object()


class Contents:
    """The lists and dicts in some values, as they are now.

    ``rebound`` are the places that may have another object than before: what is there
    is replaced rather than filled. ``before`` has what was in the values.
    """

    def __init__(self, rebound: dict[Any, Any], before: Snapshot | None = None) -> None:
        self.rebound = rebound
        self._before = Snapshot(()) if before is None else before
        self._saved: dict[int, Seen] = {}
        self._copies: dict[int, Any] = {}
        self._stand_ins: dict[int, tuple[Any, Any]] = {}
        self._replaced: dict[int, tuple[Any, Any]] = {}

    @property
    def replaced(self) -> list[tuple[Any, Any]]:
        """Pairs of an object and what could not be put into it."""
        return list(self._replaced.values())

    def save(self, value: Any, rebound: Container[Any] = ()) -> None:
        """Note what is in a value, and in what is in it.

        Parts at ``rebound`` keys are left out. The value may have other objects there
        after a trial, so changes of these parts are not changes of the value.
        """
        pending = [value]
        for part in pending:
            kind = structure_of(type(part))
            if kind is None or id(part) in self._saved:
                continue
            if kind.merged:
                seen = self._saved[id(part)] = self._before.look_at(part, kind)
                pairs = pairs_of(seen.parts)
                pending += (p for key, p in pairs if (id(part), key) not in rebound)
            elif kind is TUPLE:
                pending += part

    def has(self, value: Any) -> bool:
        """Whether the value is one whose contents were saved, or has one in it."""
        if isinstance(value, tuple):
            return any(map(self.has, value))
        return id(value) in self._saved

    def holds(self, seen: Seen) -> bool:
        """Whether this is the record of an object that was saved here.

        Then its changes are state already.
        """
        return self._saved.get(id(seen.value)) is seen

    def note_pair(self, old: Any, new: Any) -> None:
        """Note that a library gives the new object for the old one.

        A place that is rebound may be given the same: then it has the old one.
        """
        kind = structure_of(type(old))
        if old is new:
            return
        if kind is None or not (kind.merged or kind is TUPLE):
            return
        if kind is not TUPLE:
            self._stand_ins[id(new)] = new, old
        if type(new) is type(old) and kind is not STAGED:
            before = kind.read(old)
            for key, part in pairs_of(kind.read(new)):
                previous = _part(before, key)
                if previous is not _MISSING and (id(old), key) not in self.rebound:
                    self.note_pair(previous, part)

    def original(self, new: Any) -> Any:
        """The object that was there and that ``new`` stands for.

        That is ``new`` itself if it stands for none.
        """
        if isinstance(new, tuple):
            return tuple_like(new, list(map(self.original, new)))
        return self._stand_ins.get(id(new), (new, new))[1]

    def filled(self, old: Any, new: Any, rebound: bool = False) -> Any:
        """The old object with the contents of the new; the new one where it has none.

        A ``rebound`` place is not filled: it gets the object that ``new`` stands for,
        or ``new`` itself.
        """
        if old is new:
            return old
        if rebound:
            return self.original(new)
        kind = structure_of(type(old))
        if kind is TUPLE:
            return self._filled_tuple(old, new)
        if kind is None or kind.fill is None:
            return new
        if type(new) is not type(old):
            return self._replaced.setdefault(id(old), (old, new))[1]
        after = kind.read(new)
        if kind is not STAGED:
            before = kind.read(old)
            for key, part in pairs_of(after):
                previous = _part(before, key)
                if previous is not _MISSING:
                    rebound = (id(old), key) in self.rebound
                    after[key] = self.filled(previous, part, rebound)
        kind.fill(old, after)
        return old

    def _filled_tuple(self, old: tuple[Any, ...], new: Any) -> Any:
        if type(new) is not type(old) or len(new) != len(old):
            return new
        parts = [self.filled(*pair) for pair in zip(old, new, strict=True)]
        return new if _alike(parts, new) else tuple_like(old, parts)

    def result(self, value: Any) -> Any:
        """The value, or a copy of it if its contents are not what they were before."""
        if id(value) in self._copies:
            return self._copies[id(value)]
        if isinstance(value, tuple):
            return tuple_like(value, list(map(self.result, value)))
        kind = structure_of(type(value))
        if kind is None or kind.fill is None:
            return value
        now = kind.read(value)
        self._copies[id(value)] = value  # if it contains itself
        changed = False
        if kind is not STAGED:
            for key, part in list(pairs_of(now)):
                now[key] = self.result(part)
                changed |= now[key] is not part
        # One in a place that is rebound is not saved, and is put back all the same.
        before = self._saved.get(id(value)) or self._before.seen(value, kind)
        if changed or (before is not None and not _alike(before.parts, now)):
            copied = self._copies[id(value)] = copy.copy(value)
            kind.fill(copied, now)
            return copied
        return value

    def newly_rebound(
        self, known: dict[Any, Any], stands_for: Callable[[Any, Any], bool]
    ) -> dict[ItemKey, Any]:
        """The places in the saved values where another list or dict is now.

        Those that are ``known`` are left out. ``stands_for(new, old)``: a library put
        the one in the place of the other.
        """
        found: dict[ItemKey, Any] = {}
        for seen in self._saved.values():
            now = seen.read()
            for key, part in pairs_of(seen.parts):
                after = _part(now, key)
                if id(part) not in self._saved or after is part:
                    continue
                item = id(seen.value), key
                if item not in known and not stands_for(after, part):
                    found[item] = seen.value
        return found


def tuple_like(value: tuple[Any, ...], parts: list[Any]) -> Any:
    """A tuple of the same kind of other parts; the same one if they are its own."""
    if _alike(value, parts):
        return value
    make = getattr(type(value), "_make", type(value))
    return make(parts)


def _part(parts: Parts, key: Any) -> Any:
    if isinstance(parts, dict):
        return parts.get(key, _MISSING)
    return parts[key] if key < len(parts) else _MISSING


def _alike(one: Any, other: Any) -> bool:
    if len(one) != len(other):
        return False
    if isinstance(one, dict):
        return all(other.get(key, _MISSING) is part for key, part in one.items())
    return all(map(is_, one, other))
