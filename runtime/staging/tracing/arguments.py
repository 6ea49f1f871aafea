"""Arguments as structures of leaves: every attribute and item, and each object once.

`nest` lists the fields that the constructor of a dataclass takes. Arguments may hold
more: further attributes of such an object, attributes of a list or dict of a user's
class, and one object in several places, even in itself. `taken_apart` makes a structure
with all of these in its leaves; `restored` makes such objects again of other leaves::

    [p, p]  ->  [ObjectParts(x=1, owner=BackReference(0)), BackReference(0)]

`function.call` takes the arguments of calls apart; `trace` restores them around its
placeholders.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from runtime.core.types import nest
from runtime.core.types.classes import defines

#: Containers without attributes.
_PLAIN = frozenset((list, tuple, dict, OrderedDict, defaultdict))
#: The classes whose ``__new__`` makes instances of derived classes.
_BASES: tuple[Any, ...] = (OrderedDict, defaultdict, dict, list, tuple, object)


class BackReference:
    """A leaf for an object that occurred before, by the number of that object."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BackReference) and other.number == self.number

    def __hash__(self) -> int:
        return hash((BackReference, self.number))

    def __repr__(self) -> str:
        return f"<object {self.number} again>"


@dataclass(frozen=True, eq=False, repr=False)
class ObjectParts:
    """An object that occurs twice, or has attributes that `nest` does not list.

    ``kind`` is its class, the factory of a `defaultdict`, the keys of its items (their
    number, for a sequence) and the names of its attributes; ``parts`` are all of these.
    """

    kind: tuple[Any, ...]
    parts: tuple[Any, ...]

    def __tf_flatten__(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return self.kind, self.parts

    @classmethod
    def __tf_unflatten__(cls, kind: Any, parts: Any) -> ObjectParts:
        return cls(kind, parts)

    def part_steps(self) -> list[str]:
        """The text of each part behind the name of the object: ``[0]``, ``.x``."""
        _, _, keys, names = self.kind
        items = range(keys) if isinstance(keys, int) else keys
        return [*(f"[{key!r}]" for key in items), *(f".{name}" for name in names)]

    def __repr__(self) -> str:
        parts = zip(self.part_steps(), self.parts)
        inside = ", ".join(f"{step.removeprefix('.')}={part!r}" for step, part in parts)
        return f"{self.kind[0].__name__}({inside})"


def taken_apart(structure: Any) -> Any:
    """The structure with every part of its objects in leaves, and each object once.

    Raises ValueError (AG312) for an object in itself that makes its parts itself.
    """
    numbers: dict[int, int] = {}

    def at(value: Any) -> Any:
        if type(value) in nest.leaf_types:
            return value
        if id(value) in numbers:
            return BackReference(numbers[id(value)])
        others = other_attributes(value)
        if not others and id(value) not in shared:
            return nest.with_parts(value, at)
        numbers[id(value)] = len(numbers)
        kind, parts = _parts(value, others)
        return ObjectParts(kind, tuple(map(at, parts)))

    try:
        shared = _shared_objects(structure)
        return at(structure)
    except RecursionError:
        raise nest.endless() from None


def restored(structure: Any) -> Any:
    """The inverse of `taken_apart`: new objects around the leaves of a structure."""
    objects: list[Any] = []

    def at(value: Any) -> Any:
        if type(value) in nest.leaf_types:
            return value
        if type(value) is BackReference:
            if objects[value.number] is _UNMADE:
                raise nest.endless()  # a tuple in itself
            return objects[value.number]
        if type(value) is not ObjectParts:
            return nest.with_parts(value, at)
        number = len(objects)
        objects.append(_UNMADE)
        parts: Iterator[Any] = map(at, value.parts)
        if issubclass(value.kind[0], tuple):
            parts = iter([*parts])
            objects[number] = tuple.__new__(value.kind[0], islice(parts, value.kind[2]))
        else:
            # Before its parts: the object may contain itself.
            objects[number] = _base(value.kind[0]).__new__(value.kind[0])
        _fill(objects[number], value.kind, parts)
        return objects[number]

    return at(structure)


def classes_in(structure: Any) -> Iterator[type]:
    """The classes of the objects in a structure that `taken_apart` made."""
    if type(structure) is ObjectParts:
        yield structure.kind[0]
    elif nest.is_nested(structure):
        yield type(structure)
    for _, part in nest.children(structure) or ():
        yield from classes_in(part)


# --- one object -----------------------------------------------------------------------

_UNMADE = object()


def other_attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object that `nest` does not list."""
    kind = type(value)
    if kind in _PLAIN or not _is_object(kind):
        return {}
    names: Sequence[str] = ()
    if _base(kind) is object:
        names = nest.field_names(kind) or ()
    elif getattr(value, "__dict__", None) is value:
        return {}  # the attributes are the items
    return nest.other_attributes(value, names)


def _is_object(kind: type) -> bool:
    """Whether instances are mutable containers, or objects that `nest` flattens."""
    if issubclass(kind, (list, tuple, dict)):
        return True
    if issubclass(kind, Mapping) or defines(kind, "__tf_flatten__"):
        return False  # such a class rebuilds its instances itself
    return nest.field_names(kind) is not None


def _shared_objects(structure: Any) -> set[int]:
    """The ids of the mutable objects that occur in several places."""
    seen: set[int] = set()
    shared: set[int] = set()
    pending = [structure]
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind in nest.leaf_types:
            continue
        if not isinstance(value, tuple) and _is_object(kind):
            if id(value) in seen:
                shared.add(id(value))
                continue
            seen.add(id(value))
        pending += (part for _, part in nest.children(value) or ())
        pending += other_attributes(value).values()
    return shared


def _base(kind: type) -> Any:
    return next(base for base in _BASES if issubclass(kind, base))


def _parts(value: Any, others: dict[str, Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """The kind and the parts of an object: see `ObjectParts`."""
    kind, base = type(value), _base(type(value))
    factory = value.default_factory if base is defaultdict else None
    if base is object:
        names = nest.field_names(kind) or []
        fields = {name: getattr(value, name) for name in names}
        others = {**fields, **others}
        return (kind, None, 0, tuple(others)), [*others.values()]
    keys: Any = len(value)
    items: Iterable[Any] = value
    if issubclass(kind, dict):
        keys = tuple(value)
        items = [value[key] for key in keys]
    return (kind, factory, keys, tuple(others)), [*items, *others.values()]


def _fill(instance: Any, kind: tuple[Any, ...], parts: Iterator[Any]) -> None:
    """Put the parts into an object made by ``__new__`` alone."""
    cls, factory, keys, names = kind
    if issubclass(cls, list):
        list.extend(instance, islice(parts, keys))
    elif issubclass(cls, dict):
        if issubclass(cls, defaultdict):
            instance.default_factory = factory
        for key in keys:
            _base(cls).__setitem__(instance, key, next(parts))
    for name in names:
        object.__setattr__(instance, name, next(parts))
