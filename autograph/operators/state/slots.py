"""Places where Python keeps a value: what a graph can be told to carry.

The variables, attributes and items that a statement assigns itself are named by its
``state=``. Those that a called helper or method assigns are found while the statement
is tried, as slots: each can be read, written, and unbound with `UNBOUND`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from types import CellType
from typing import Any, Protocol

from ..classes import defines
from ..dispatch import UNBOUND

Key = tuple[type, int, Hashable]


class Slot:
    """A place that holds a value.

    ``owner`` is the object that it is a part of, ``key`` says which part, and ``name``
    is how the place is written in messages.
    """

    __slots__ = ("key", "name", "owner")

    #: Whether what is there matters: it does not in a cache.
    matters = True

    def __init__(self, name: str, owner: Any, key: Hashable = None) -> None:
        self.name = name
        self.owner = owner
        self.key = key

    @property
    def identity(self) -> Key:
        """What two slots have in common that are the same place."""
        return type(self), id(self.owner), self.key

    def now(self, outer: Slot) -> Slot:
        """The same place, seen from a statement inside of the one with ``outer``."""
        return self

    def are_alike(self, old: Any, new: Any) -> bool:
        """Whether two different values mean the same there."""
        return False

    def read(self) -> Any:
        """The value; `UNBOUND` if there is none."""
        raise NotImplementedError

    def write(self, value: Any) -> None:
        """Put a value there, or none: `UNBOUND`."""
        raise NotImplementedError


class Scope(Protocol):
    """The variables of a statement's bodies, and the places that begin with one."""

    def read_place(self, place: str) -> Any:
        """The value of a place as it is written; `UNBOUND` if there is none."""

    def write_place(self, place: str, value: Any) -> None:
        """Assign a place, or delete it: `UNBOUND`."""


class StateVariable(Slot):
    """A place that ``state=`` names, read as the user's code would read it."""

    __slots__ = ()
    owner: Scope

    @property
    def identity(self) -> Key:
        """There is one place of a name."""
        return StateVariable, 0, self.name

    def read(self) -> Any:
        """The value of the variable, the attribute or the item."""
        return self.owner.read_place(self.name)

    def write(self, value: Any) -> None:
        """Assign it, or delete it."""
        self.owner.write_place(self.name, value)


class CellSlot(Slot):
    """A variable of a function that others inside it use."""

    __slots__ = ()
    owner: CellType

    def read(self) -> Any:
        """The value of the variable."""
        try:
            return self.owner.cell_contents
        except ValueError:
            return UNBOUND

    def write(self, value: Any) -> None:
        """Assign the variable, or delete it."""
        if value is not UNBOUND:
            self.owner.cell_contents = value
        elif self.read() is not UNBOUND:
            del self.owner.cell_contents


def dict_class(value: dict[Any, Any]) -> Any:
    """The class whose methods change a dict, whatever a class of the user's has."""
    return OrderedDict if isinstance(value, OrderedDict) else dict


def put_in_order(value: dict[Any, Any], keys: list[Any]) -> None:
    """Put the keys of a dict into an order, if these are its keys."""
    if list(value) == keys or len(value) != len(keys) or not value.keys() >= {*keys}:
        return
    base = dict_class(value)
    for key in keys:
        part = dict.__getitem__(value, key)
        base.__delitem__(value, key)
        base.__setitem__(value, key, part)


class KeySlot(Slot):
    """The value of a key: in a dict of the user's, of an object or of a module."""

    __slots__ = ()

    def read(self) -> Any:
        """The value of the key."""
        # Not get(): a class of the user's may have another.
        return dict.get(self.owner, self.key, UNBOUND)

    def write(self, value: Any) -> None:
        """Set the key, or remove it."""
        base = dict_class(self.owner)
        if value is not UNBOUND:
            base.__setitem__(self.owner, self.key, value)
        else:
            base.pop(self.owner, self.key, None)


def class_value(cls: type, name: str) -> Any:
    """What objects of a class have as an attribute that they do not have themselves.

    It is `UNBOUND` if there is nothing, or if the class computes it.
    """
    value = getattr(cls, name) if defines(cls, name) else UNBOUND
    return UNBOUND if hasattr(type(value), "__get__") else value


class AttributeSlot(KeySlot):
    """An attribute of an object whose class has a value for those that have none.

    An object that is given that value has it either way.
    """

    __slots__ = ("_default",)

    def __init__(self, name: str, owner: Any, key: Hashable, default: Any) -> None:
        super().__init__(name, owner, key)
        self._default = default

    def are_alike(self, old: Any, new: Any) -> bool:
        """Whether both are what the class has."""
        return all(value is UNBOUND or value is self._default for value in (old, new))

    def read(self) -> Any:
        """The attribute."""
        return dict.get(self.owner, self.key, self._default)

    def write(self, value: Any) -> None:
        """Set the attribute, or leave it to the class."""
        super().write(UNBOUND if value is self._default else value)


class CacheSlot(KeySlot):
    """A value that is computed again where it is not there."""

    __slots__ = ()
    matters = False


class IndexSlot(Slot):
    """An item of a list."""

    __slots__ = ()
    key: int

    def read(self) -> Any:
        """The item."""
        return list.__getitem__(self.owner, self.key)

    def write(self, value: Any) -> None:
        """Replace the item."""
        list.__setitem__(self.owner, self.key, value)


class PartSlot(Slot):
    """A part of a value that stands for a list or dict in a library's graph."""

    __slots__ = ()
    key: int

    def read(self) -> Any:
        """The part."""
        return self.owner.__autograph_parts__()[self.key]

    def write(self, value: Any) -> None:
        """Replace the part."""
        parts = list(self.owner.__autograph_parts__())
        parts[self.key] = value
        self.owner.__autograph_become__(parts)


class MemberSlot(Slot):
    """An attribute that a class names in ``__slots__``; ``key`` is its descriptor."""

    __slots__ = ()

    def read(self) -> Any:
        """The attribute."""
        descriptor: Any = self.key
        try:
            return descriptor.__get__(self.owner, type(self.owner))
        except AttributeError:
            return UNBOUND

    def write(self, value: Any) -> None:
        """Set the attribute, or delete it."""
        descriptor: Any = self.key
        if value is not UNBOUND:
            descriptor.__set__(self.owner, value)
        elif self.read() is not UNBOUND:
            descriptor.__delete__(self.owner)


class ClassSlot(Slot):
    """An attribute of a class."""

    __slots__ = ()
    key: str

    def read(self) -> Any:
        """The attribute, without binding it."""
        return vars(self.owner).get(self.key, UNBOUND)

    def write(self, value: Any) -> None:
        """Set the attribute, or delete it."""
        if value is not UNBOUND:
            type.__setattr__(self.owner, self.key, value)
        elif self.read() is not UNBOUND:
            type.__delattr__(self.owner, self.key)


class ContentsSlot(Slot):
    """What a list contains: the value is the list, or what a library puts for it."""

    __slots__ = ("_value",)

    def __init__(self, name: str, owner: Any, key: Hashable = None) -> None:
        super().__init__(name, owner, key)
        self._value = owner

    def read(self) -> Any:
        """The list."""
        return self._value

    def write(self, value: Any) -> None:
        """Note what stands for the list: it is put into the places of the list."""
        self._value = value

    def now(self, outer: Slot) -> Slot:
        """The contents of what stands for the list."""
        return ContentsSlot(self.name, outer.read())
