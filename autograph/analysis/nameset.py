"""An immutable ordered set of names: what every table of the analysis answers with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any

__all__ = ["NameSet"]


class NameSet(Set[str]):
    """Names in the order of the program, usable wherever a set of strings is.

    Iteration order is part of the result (generated code lists names in it), so a plain
    ``frozenset``, whose order changes from run to run, would not do. Operators keep the
    order of the left operand.

    >>> NameSet(["n", "steps"]) & {"steps", "x"}
    {steps}
    >>> NameSet(["b", "a"]) | ["c", "a"]
    {b, a, c}
    >>> NameSet(["a", "b"]) == {"b", "a"}
    True
    """

    __slots__ = ("_names",)

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: dict[str, None] = dict.fromkeys(names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __hash__(self) -> int:
        return self._hash()

    def __and__(self, other: Iterable[Any]) -> NameSet:
        keep = other if isinstance(other, Set) else frozenset(other)
        return NameSet(name for name in self._names if name in keep)

    def __or__(self, other: Iterable[Any]) -> NameSet:
        return NameSet((*self._names, *other))

    def __sub__(self, other: Iterable[Any]) -> NameSet:
        drop = other if isinstance(other, Set) else frozenset(other)
        return NameSet(name for name in self._names if name not in drop)

    def __repr__(self) -> str:
        return "{" + ", ".join(self._names) + "}"
