"""Lists and dicts in the state of a statement, which stay the objects that they are.

A library merges the items of a list and hands back another list, but other variables
and attributes may refer to the first one. So a trial puts what it is to run on *into*
the lists and dicts of the user's, hands out copies of what it has made of them, and
puts back what was there; at last the merged items are put into them. Only where the
user's code assigns another object is the place rebound.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Hashable
from operator import is_
from typing import Any

from ..classes import attributes_of, defines
from .slots import dict_class

#: A place in an object: the id of the object and the key, or what tells the place.
ItemKey = tuple[Hashable, ...]
_MISSING = object()


def parts_of(value: Any) -> Any:
    """What is in a list or dict, or in an object that libraries take for a structure.

    A list or a dict; None for a value that is neither.
    """
    cls = type(value)
    if issubclass(cls, list):
        return list(value)
    if issubclass(cls, dict):
        return dict(value)
    if cls is deque or cls is set:
        return list(value)
    if defines(cls, "__autograph_parts__"):
        return list(value.__autograph_parts__())
    if defines(cls, "__autograph_chosen__"):
        return None
    if defines(cls, "__dataclass_fields__") or defines(cls, "__attrs_attrs__"):
        if getattr(getattr(cls, "__dataclass_params__", None), "frozen", False):
            return None
        variables = attributes_of(value)
        return dict(variables) if variables is not None else None
    return None


def is_whole(value: Any) -> bool:
    """Whether it is a library's own list, which is state as a whole: it knows what its
    items are.
    """
    return defines(type(value), "__autograph_parts__")


def _fill(value: Any, parts: Any) -> None:
    """Put other parts into a list, a dict or an object."""
    if issubclass(type(value), list):
        list.__setitem__(value, slice(None), parts)
    elif issubclass(type(value), dict):
        _fill_dict(value, parts)
    elif type(value) is deque:
        value.clear()
        value.extend(parts)
    elif type(value) is set:
        value.clear()
        value.update(parts)
    elif is_whole(value):
        value.__autograph_become__(parts)
    else:
        _fill_dict(attributes_of(value) or {}, parts)


def _fill_dict(value: dict[Any, Any], parts: dict[Any, Any]) -> None:
    base = dict_class(value)
    for key in [key for key in value if key not in parts]:
        base.__delitem__(value, key)
    for key, part in parts.items():
        base.__setitem__(value, key, part)


def _pairs(parts: Any) -> Any:
    return parts.items() if isinstance(parts, dict) else enumerate(parts)


def _part(parts: Any, key: Any) -> Any:
    if isinstance(parts, dict):
        return parts.get(key, _MISSING)
    return parts[key] if key < len(parts) else _MISSING


class Contents:
    """The lists and dicts in some values, as they are now.

    ``rebound`` are the places that may have another object than before: what is there
    is replaced rather than filled. ``replaced`` are pairs of an object and what could
    not be put into it.
    """

    def __init__(self, rebound: dict[ItemKey, Any]) -> None:
        self.rebound = rebound
        self._saved: dict[int, tuple[Any, Any]] = {}
        self._copies: dict[int, Any] = {}
        self._stand_ins: dict[int, tuple[Any, Any]] = {}
        self.replaced: list[tuple[Any, Any]] = []

    def save(self, value: Any) -> None:
        """Note what is in a value, and in what is in it."""
        if id(value) in self._saved:
            return
        parts = parts_of(value)
        if parts is not None:
            self._saved[id(value)] = value, parts
            inside = parts.values() if isinstance(parts, dict) else parts
        elif isinstance(value, tuple):
            inside = value
        else:
            return
        for part in inside:
            self.save(part)

    def has(self, value: Any) -> bool:
        """Whether the value is one whose contents were saved, or has one in it."""
        if isinstance(value, tuple):
            return any(map(self.has, value))
        return id(value) in self._saved

    def restore(self) -> None:
        """Put back what was in the values."""
        for value, parts in self._saved.values():
            if not _alike(parts, parts_of(value)):
                _fill(value, parts)

    def match(self, old: Any, new: Any) -> None:
        """Note that a library gives the new object for the old one.

        A place that is rebound may be given the same: then it has the old one.
        """
        if old is new or defines(type(new), "__autograph_chosen__"):
            return
        before = list(old) if isinstance(old, tuple) else parts_of(old)
        if before is None:
            return
        if not isinstance(old, tuple):
            self._stand_ins[id(new)] = new, old
        if type(new) is type(old) and not is_whole(old):
            for key, part in _pairs(
                list(new) if isinstance(new, tuple) else parts_of(new)
            ):
                previous = _part(before, key)
                if previous is not _MISSING and (id(old), key) not in self.rebound:
                    self.match(previous, part)

    def original(self, new: Any) -> Any:
        """What a library gives an object for; the object itself if it is another."""
        if isinstance(new, tuple):
            return tuple_like(new, list(map(self.original, new)))
        return self._stand_ins.get(id(new), (new, new))[1]

    def filled(self, old: Any, new: Any, rebound: bool = False) -> Any:
        """The old object with the contents of the new; the new one where it has none.

        That of a place that is ``rebound`` keeps its contents: it is the new one, if
        that stands for no object that was there.
        """
        if old is new:
            return old
        if rebound:
            return self.original(new)
        before = parts_of(old)
        if defines(type(new), "__autograph_chosen__"):
            return new
        if before is None:
            return self._filled_tuple(old, new) if isinstance(old, tuple) else new
        if type(new) is not type(old):
            for one, other in self.replaced:
                if one is old:
                    return other
            self.replaced.append((old, new))
            return new
        after = parts_of(new)
        if not is_whole(old):
            for key, part in _pairs(after):
                previous = _part(before, key)
                if previous is not _MISSING:
                    rebound = (id(old), key) in self.rebound
                    after[key] = self.filled(previous, part, rebound)
        _fill(old, after)
        return old

    def _filled_tuple(self, old: tuple[Any, ...], new: Any) -> Any:
        if type(new) is not type(old) or len(new) != len(old):
            return new
        parts = [self.filled(*pair) for pair in zip(old, new, strict=True)]
        return new if _alike(parts, new) else tuple_like(old, parts)

    def result(self, value: Any) -> Any:
        """The value, or a copy of it if its contents are not what was saved."""
        if id(value) in self._copies:
            return self._copies[id(value)]
        if isinstance(value, tuple):
            return tuple_like(value, list(map(self.result, value)))
        now = parts_of(value)
        if now is None:
            return value
        self._copies[id(value)] = value  # if it contains itself
        changed = False
        if not is_whole(value):
            for key, part in list(_pairs(now)):
                now[key] = self.result(part)
                changed |= now[key] is not part
        _, before = self._saved.get(id(value), (None, None))
        if changed or (before is not None and not _alike(before, now)):
            copied = self._copies[id(value)] = copy.copy(value)
            _fill(copied, now)
            return copied
        return value

    def newly_rebound(
        self, known: dict[ItemKey, Any], stands_for: Callable[[Any, Any], bool]
    ) -> dict[ItemKey, Any]:
        """The places in the saved values where another list or dict is now.

        Those that are ``known`` are left out. ``stands_for(new, old)``: a library put
        the one in the place of the other.
        """
        found: dict[ItemKey, Any] = {}
        for value, parts in self._saved.values():
            now = parts_of(value)
            for key, part in _pairs(parts):
                after = _part(now, key)
                if id(part) not in self._saved or after is part:
                    continue
                place = id(value), key
                if place not in known and not stands_for(after, part):
                    found[place] = value
        return found


def tuple_like(value: tuple[Any, ...], parts: list[Any]) -> Any:
    """A tuple of the same kind of other parts; the same one if they are its own."""
    if _alike(value, parts):
        return value
    make = getattr(type(value), "_make", type(value))
    return make(parts)


def _alike(one: Any, other: Any) -> bool:
    if len(one) != len(other):
        return False
    if isinstance(one, dict):
        return all(other.get(key, _MISSING) is part for key, part in one.items())
    return all(map(is_, one, other))
