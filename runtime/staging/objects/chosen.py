"""Copies of lists and dicts that a tensor chooses among: watched, not to be changed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from runtime.graph.context import current_graph
from runtime.staging.lists.elements import plain_kind
from runtime.staging.lists.lists import StagedList
from runtime.staging.objects.copied import (
    ChosenDict,
    ChosenList,
    Origin,
    cannot_tell,
    changed_element,
)
from runtime.staging.objects.views import is_mutable, reference
from runtime.types import nest

__all__ = ["chosen", "in_one_kind", "is_chosen", "referred", "unwatched"]

_Matters = Callable[[], bool] | None


def chosen(value: Any, matters: _Matters, sources: Sequence[Any] = ()) -> Any:
    """The copy with what would make a difference refused, by AG210.

    That is a change of it if ``matters()`` says so then, and to read it after one of
    the ``sources`` was changed. The compiler asks for it where the lists that a graph
    chose among have other names by which they can be reached. Values of other kinds are
    given back as they are.
    """
    origin = Origin(sources) if sources else None
    if hasattr(type(value), "__autograph_sources__"):
        # It is watched for other reasons, too.
        matters_before, before = _watch_of(value)
        matters = _either(matters_before, matters)
        origin = before if origin is None else origin.beside(before)
    return _watched(value, matters, origin)


def _watch_of(value: Any) -> tuple[_Matters, Origin | None]:
    if isinstance(value, _ChosenStagedList) or type(value) in (ChosenList, ChosenDict):
        return getattr(value, "matters", None), getattr(value, "origin", None)
    watch: tuple[_Matters, Origin | None]
    watch = object.__getattribute__(value, "__dict__")["_watched"]
    return watch


def _either(one: _Matters, other: _Matters) -> _Matters:
    if one is None or other is None:
        return None
    return lambda: one() or other()


def _watched(value: Any, matters: _Matters, origin: Origin | None) -> Any:
    copy: Any
    if type(value) is list or type(value) is ChosenList:
        parts = [_watched(part, matters, origin) for part in list.copy(value)]
        copy = ChosenList(parts)
    elif type(value) is dict or type(value) is ChosenDict:
        items = dict.items(value)
        copy = ChosenDict((k, _watched(part, matters, origin)) for k, part in items)
    elif type(value) in (StagedList, _ChosenStagedList):
        element, buffers = value._element, value._buffers
        copy = _ChosenStagedList(element, buffers, value._count, value.name)
        copy._graph = value._graph
    elif type(value) is tuple:
        return tuple(_watched(part, matters, origin) for part in value)
    elif is_mutable(type(value)):
        return _watched_object(value, matters, origin)
    else:
        return value
    copy.matters, copy.origin = matters, origin
    return copy


def referred(value: Any) -> Any:
    """A list, dict or object such that a graph can choose it and it stays itself."""
    return reference(value, current_graph())


def is_chosen(value: Any) -> bool:
    """Whether a value is such a copy of a list."""
    return type(value) in (ChosenList, _ChosenStagedList)


def in_one_kind(one: Any, other: Any) -> tuple[Any, Any] | None:
    """Two lists or dicts of which one alone may be changed: both as what may not be.

    None for other values.
    """
    kinds = type(one), type(other)
    if kinds == (StagedList, _ChosenStagedList):
        return chosen(one, None), other
    if kinds == (_ChosenStagedList, StagedList):
        return one, chosen(other, None)
    if any(issubclass(kind, _ChosenObject) for kind in kinds):
        classes = {getattr(kind, "plain", kind) for kind in kinds}
        # The compiler watches what is made of the two.
        return (unwatched(one), unwatched(other)) if len(classes) == 1 else None
    plain = {plain_kind(kind) for kind in kinds}
    if kinds[0] is kinds[1] or len(plain) != 1 or None in plain:
        return None
    strict = next(kind for kind in (*kinds, ChosenList) if plain_kind(kind) is not kind)
    return strict(one), strict(other)


class _ChosenStagedList(StagedList):
    """A list of an open length that is a copy."""

    __slots__ = ("matters", "origin")

    why = ChosenList.why
    __autograph_is__ = cannot_tell

    def __autograph_settled__(self) -> StagedList:
        """An ordinary list where a change does not matter any more."""
        matters = getattr(self, "matters", None)
        return self if matters is None or matters() else self.copy()

    def __autograph_sources__(self) -> list[Any]:
        """What it may be a copy of."""
        return getattr(getattr(self, "origin", None), "objects", [])

    def _check(self) -> None:
        super()._check()
        origin = getattr(self, "origin", None)
        if origin is not None:
            origin.check()

    def _become(self, columns: Iterable[Any], count: Any) -> None:
        matters = getattr(self, "matters", None)
        if matters is None or matters():
            changed_element(self)
        super()._become(columns, count)


# --- objects --------------------------------------------------------------------------


class _ChosenObject:
    """A copy of an object of a class of the user's; each class has its own kind."""

    why = ChosenList.why
    watched: Any
    plain: Any
    __autograph_is__ = cannot_tell

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        cls: type = type(self).plain
        return cls

    def __autograph_settled__(self) -> Any:
        matters, _ = object.__getattribute__(self, "__dict__")["_watched"]
        if matters is None or matters():
            return self
        return _plain_copy(self)

    def __autograph_sources__(self) -> list[Any]:
        _, origin = object.__getattribute__(self, "__dict__")["_watched"]
        return getattr(origin, "objects", [])

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if not name.startswith("__"):
            _, origin = object.__getattribute__(self, "__dict__")["_watched"]
            if origin is not None:
                origin.check()
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        changed_element(type(self))

    def __delattr__(self, name: str) -> None:
        changed_element(type(self))


@functools.lru_cache(maxsize=1_000)
def _kind_of(cls: type) -> type:
    return type(cls.__name__, (_ChosenObject, cls), {"plain": cls})


def _watched_object(value: Any, matters: _Matters, origin: Origin | None) -> Any:
    cls: Any = getattr(type(value), "plain", type(value))
    copy: Any = object.__new__(_kind_of(cls))
    attributes = object.__getattribute__(copy, "__dict__")
    for name in nest.field_names(cls) or ():
        attributes[name] = object.__getattribute__(value, name)
    attributes.update(getattr(value, "__dict__", {}))
    attributes["_watched"] = matters, origin
    return copy


def unwatched(value: Any) -> Any:
    """A list, dict or object that is watched as an ordinary one; others themselves."""
    if type(value) in (ChosenList, ChosenDict):
        return nest.plain(value)
    return _plain_copy(value) if issubclass(type(value), _ChosenObject) else value


def _plain_copy(value: Any) -> Any:
    cls: Any = type(value).plain
    made = cls.__new__(cls)
    for name, part in object.__getattribute__(value, "__dict__").items():
        if name != "_watched":
            object.__setattr__(made, name, part)
    return made
