"""Dicts and sets that tell their keys apart by identity: tensors have no hash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSet
from typing import TYPE_CHECKING, Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class IdentityMap(MutableMapping[K, V]):
    """A dict of which any object may be a key.

    >>> key = []
    >>> found = IdentityMap([(key, "list")])
    >>> found[key], found.get([])
    ('list', None)
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        pairs: Any = items.items() if isinstance(items, _MAPPINGS) else items
        self._items: dict[int, tuple[K, V]] = {id(pair[0]): pair for pair in pairs}

    def __getitem__(self, key: K) -> V:
        return self._items[id(key)][1]

    def __setitem__(self, key: K, value: V) -> None:
        self._items[id(key)] = key, value

    def __delitem__(self, key: K) -> None:
        del self._items[id(key)]

    def __contains__(self, key: object) -> bool:
        return id(key) in self._items

    def __iter__(self) -> Iterator[K]:
        return iter([key for key, _ in self._items.values()])

    def __len__(self) -> int:
        return len(self._items)

    # Faster than what the base class makes of these: passes ask for each tensor.

    if not TYPE_CHECKING:  # the types of the base class are right

        def get(self, key: K, default: Any = None) -> Any:
            """The value of a key, or `default`."""
            found = self._items.get(id(key))
            return default if found is None else found[1]

        def setdefault(self, key: K, default: Any = None) -> Any:
            """The value of a key, which becomes `default` if there is none."""
            return self._items.setdefault(id(key), (key, default))[1]

        def items(self) -> Any:
            """The keys with their values."""
            return self._items.values()

    def values(self) -> Any:
        """The values, in the order of their keys."""
        return [value for _, value in self._items.values()]

    def update(self, items: Any = (), /) -> None:
        """Add the items of a mapping, or pairs."""
        pairs = items.items() if isinstance(items, _MAPPINGS) else items
        self._items.update({id(pair[0]): pair for pair in pairs})


#: Asking these whether a value is of them takes less time than asking `Mapping`.
_MAPPINGS = (dict, IdentityMap)


class IdentitySet(MutableSet[K]):
    """A set of which any object may be a member.

    >>> member = []
    >>> member in IdentitySet([member]), [] in IdentitySet([member])
    (True, False)
    """

    __slots__ = ("_members",)

    def __init__(self, members: Iterable[K] = ()) -> None:
        self._members = {id(member): member for member in members}

    def __contains__(self, member: object) -> bool:
        return id(member) in self._members

    def __iter__(self) -> Iterator[K]:
        return iter(self._members.values())

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def add(self, member: K) -> None:
        """Add an object."""
        self._members[id(member)] = member

    def discard(self, member: K) -> None:
        """Take an object out, if it is there."""
        self._members.pop(id(member), None)

    def update(self, members: Iterable[K]) -> None:
        """Add several objects."""
        self._members.update({id(member): member for member in members})
