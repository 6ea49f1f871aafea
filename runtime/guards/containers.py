"""What lists, dicts and sets are expected to hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import is_
from typing import Any

from runtime.guards.expected import (
    Constants,
    Difference,
    Expected,
    Identity,
    Method,
    Value,
    part_of,
    same_items,
    same_mapping,
    shown,
)

__all__ = [
    "Items",
    "Mapping",
    "Members",
    "PlainItems",
    "PlainMapping",
    "Sized",
    "with_identity",
]


class PlainItems(Expected):
    """A list or tuple of plain values."""

    def __init__(self, value: Any) -> None:
        self._kind: Any = type(value)
        self._items = [*value]

    def holds(self, value: Any) -> bool:
        """Whether it is a list with the same in it."""
        return same_items(value, self._kind, self._items)

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        kind, items = constants.name(self._kind), constants.name(self._items)
        return f"same_items({value}, {kind}, {items})"

    @property
    def text(self) -> str:
        """How many are in it."""
        return f"a {self._kind.__name__} of {len(self._items)}"

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """The items that are others."""
        items = Items(self._kind, [*map(Value, self._items)])
        return items.differences(value, name)


class Items(Expected):
    """A list or tuple, with what is in it."""

    def __init__(self, kind: type, items: Sequence[Expected]) -> None:
        self._kind: Any = kind
        self._items = items

    def holds(self, value: Any) -> bool:
        """Whether it is a list with the same in it."""
        if type(value) is not self._kind or len(value) != len(self._items):
            return False
        return all(i.holds(part) for i, part in zip(self._items, value))

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        kind = constants.name(self._kind)
        name = constants.variable()
        checks = [
            f"type({name} := {value}) is {kind}",
            f"len({name}) == {len(self._items)}",
        ]
        for index, item in enumerate(self._items):
            checks.append(item.source(f"{name}[{index}]", constants))
        return f"({' and '.join(checks)})"

    @property
    def text(self) -> str:
        """How many are in it."""
        return f"a {self._kind.__name__} of {len(self._items)}"

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """The items that are others."""
        if type(value) is not self._kind or len(value) != len(self._items):
            yield name, self.text, shown(value)
            return
        for index, (item, part) in enumerate(zip(self._items, value)):
            yield from item.differences(part, part_of(name, index))


class PlainMapping(Expected):
    """A dict of plain values."""

    def __init__(self, value: Any) -> None:
        self._kind: Any = type(value)
        self._keys, self._items = [*value], [*value.values()]

    def holds(self, value: Any) -> bool:
        """Whether it is a dict with the same in it."""
        return same_mapping(value, self._kind, self._keys, self._items)

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        parts = map(constants.name, (self._kind, self._keys, self._items))
        return f"same_mapping({value}, {', '.join(parts)})"

    @property
    def text(self) -> str:
        """How many are in it."""
        return f"a {self._kind.__name__} of {len(self._items)}"

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """The items that are others."""
        items = Mapping(self._kind, self._keys, [*map(Value, self._items)])
        return items.differences(value, name)


class Mapping(Expected):
    """A dict, with what is in it."""

    def __init__(self, kind: type, keys: list[Any], items: Sequence[Expected]) -> None:
        self._kind: Any = kind
        self._keys = keys
        self._items = items

    def _has_keys(self, value: Any) -> bool:
        return same_items(value, self._kind, self._keys)

    def holds(self, value: Any) -> bool:
        """Whether it is a dict with the same in it."""
        if not self._has_keys(value):
            return False
        return all(i.holds(part) for i, part in zip(self._items, value.values()))

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        kind, keys = constants.name(self._kind), constants.name(self._keys)
        name = constants.variable()
        checks = [f"same_items({name} := {value}, {kind}, {keys})"]
        for key, item in zip(self._keys, self._items):
            part = f"lookup({name}, {constants.name(key)})"
            checks.append(item.source(part, constants))
        return f"({' and '.join(checks)})"

    @property
    def text(self) -> str:
        """How many are in it."""
        return f"a {self._kind.__name__} of {len(self._items)}"

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """The items that are others."""
        if not self._has_keys(value):
            yield name, self.text, shown(value)
            return
        for key, item in zip(self._keys, self._items):
            yield from item.differences(value[key], part_of(name, key))


class Members(Expected):
    """A set of plain values."""

    def __init__(self, value: Any) -> None:
        self._kind = type(value)
        self._members = {(type(member), member) for member in value}

    def holds(self, value: Any) -> bool:
        """Whether it is a set of the same."""
        if type(value) is not self._kind or len(value) != len(self._members):
            return False
        return {(type(member), member) for member in value} == self._members

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        return f"{constants.name(self.holds)}({value})"

    @property
    def text(self) -> str:
        """How many are in it."""
        return f"a {self._kind.__name__} of {len(self._members)}"


class Sized(Expected):
    """A container that is too large to be looked into, or holds what cannot be."""

    def __init__(self, value: Any) -> None:
        self._kind = type(value)
        self._length = len(value)

    def holds(self, value: Any) -> bool:
        """Whether it is as large."""
        return type(value) is self._kind and len(value) == self._length

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        return f"{constants.name(self.holds)}({value})"

    @property
    def text(self) -> str:
        """How many are in it."""
        return f"a {self._kind.__name__} of {self._length}"


class _Identical(Expected):
    """A container, the same one, with the same ones in it."""

    def __init__(self, expected: Expected, containers: list[Any]) -> None:
        self._expected = expected
        self._containers = containers

    def holds(self, value: Any) -> bool:
        """Whether it is the same, with the same in it."""
        return self._expected.holds(value) and self._has_same(value)

    def _has_same(self, value: Any) -> bool:
        found = _containers_in(value)
        same = len(found) == len(self._containers)
        return same and all(map(is_, found, self._containers))

    def source(self, value: str, constants: Constants) -> str:
        """See `Expected.source`."""
        return f"{constants.name(self.holds)}({value})"

    @property
    def text(self) -> str:
        """What was expected of it."""
        return self._expected.text

    def differences(self, value: Any, name: str) -> Iterator[Difference]:
        """What is other in it, or that it is another one."""
        found = [*self._expected.differences(value, name)]
        yield from found
        if not found and not self._has_same(value):
            yield name, self.text, "another that is equal"


def with_identity(expected: Expected, current: Callable[[], Any]) -> Expected:
    """What is expected of a value that may be asked whether it is another one."""
    is_container = not isinstance(expected, (Identity, Method, _Identical))
    containers = _containers_in(current()) if is_container else []
    return _Identical(expected, containers) if containers else expected


def _containers_in(value: Any) -> list[Any]:
    """The lists, tuples, dicts and sets in a value, itself among them."""
    found: dict[int, Any] = {}
    pending = [value]
    for part in pending:
        kind = type(part)
        if issubclass(kind, (list, tuple, deque, dict, set)) and id(part) not in found:
            found[id(part)] = part
            if not issubclass(kind, set):
                pending += part.values() if issubclass(kind, dict) else part
    return [*found.values()]
