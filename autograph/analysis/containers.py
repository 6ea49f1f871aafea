"""Lists, dicts and sets that a function makes and changes.

A display is Python's own, and so is what is asked about it: whether it is empty, how
long it is, what its items are. Once a list grows in a statement that is staged, its
length is a tensor's business. Once a key is added that may be a tensor, so is what is
in a dict or set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from autograph.analysis.tables import Tables
from autograph.lang.interpreter import cached_property
from autograph.lang.visitors import walk

__all__ = ["Containers", "assigned_values"]

#: Methods that make a list longer or shorter.
_RESIZING = frozenset({"append", "clear", "extend", "insert", "pop", "remove"})
#: Methods that are given what is to be a key, or what keys are in.
_KEYING = frozenset(
    {"add", "clear", "discard", "pop", "popitem", "remove", "setdefault", "update"}
)
_LISTS = frozenset({gast.List, gast.ListComp})
_SETS = frozenset({gast.Set, gast.SetComp})
_DICTS = frozenset({gast.Dict, gast.DictComp})
_MUTABLE = _LISTS | _SETS | _DICTS


class Containers:
    """What one function does to lists, dicts and sets, by the names that it uses."""

    def __init__(self, facts: Tables) -> None:
        self._facts = facts

    @cached_property
    def resized(self) -> frozenset[str]:
        """The names by which a list is made longer or shorter.

        A list that a function of the user's is given, or that has another name, may be.
        """
        names = {_resized(node) for node in walk(self._facts.node)}
        return frozenset(filter(None, names)) | self.shared

    @cached_property
    def shared(self) -> frozenset[str]:
        """The names whose objects the function gives to somebody else."""
        return frozenset(
            name for node in walk(self._facts.node) for name in self._shared(node)
        )

    @cached_property
    def keys(self) -> dict[str, list[Any]]:
        """The keys by which the function changes what its names are of."""
        found: dict[str, list[Any]] = {}
        for node in walk(self._facts.node):
            for name, key in _keyed(node):
                found.setdefault(name, []).append(key)
        return found

    @cached_property
    def _filled(self) -> frozenset[str]:
        """The names of which items are assigned."""
        return frozenset(
            node.value.id
            for node in walk(self._facts.node)
            if node.__class__ is gast.Subscript
            and node.ctx.__class__ is gast.Store
            and node.value.__class__ is gast.Name
        )

    def is_filled(self, name: Any) -> bool:
        """Whether what the function makes may get other items: by a name, or inside."""
        if name.id in self._filled and self.is_list(name):
            return True
        # What is in it has no name of its own: `row = table[0]`, `for row in table`.
        return any(
            part is not value and part.__class__ in _MUTABLE
            for value in self._values(name)
            for part in walk(value)
        )

    def is_list(self, name: Any) -> bool:
        """Whether a name is given a new list: ``[]``, a comprehension, ``[0] * n``."""
        return any(map(_makes_list, self._values(name)))

    def is_keyed(self, name: Any) -> bool:
        """Whether a name is given a new dict or set."""
        return any(
            value.__class__ in _SETS
            or value.__class__ in _DICTS
            or self._is_call_of(value, ("dict", "set"))
            for value in self._values(name)
        )

    def is_set(self, name: Any) -> bool:
        """Whether a name is given a new set."""
        return any(
            value.__class__ in _SETS or self._is_call_of(value, ("set",))
            for value in self._values(name)
        )

    def _values(self, name: Any) -> Iterator[Any]:
        for definition in self._facts.reaching(name):
            yield from assigned_values(definition, name.id)

    def _is_call_of(self, value: Any, builtins: tuple[str, ...]) -> bool:
        if value.__class__ is not gast.Call:
            return False
        func = value.func
        named = func.__class__ is gast.Name and func.id in builtins
        return named and self._facts.is_builtin(func.id)

    def _shared(self, node: Any) -> Iterator[str]:
        """The names whose objects a node gives to somebody else."""
        kind = node.__class__
        if kind is gast.Call:
            func = node.func
            if func.__class__ is gast.Name and self._facts.is_builtin(func.id):
                return
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif kind in (gast.Assign, gast.AnnAssign, gast.NamedExpr):
            given = [node.value]
        else:
            return
        while given:
            value = given.pop()
            if value.__class__ is gast.Name:
                yield str(value.id)
            elif value.__class__ in (gast.List, gast.Tuple):
                given += value.elts
            elif value.__class__ is gast.Dict:
                given += value.values


def assigned_values(definition: Any, name: str) -> Iterator[Any]:
    """The expressions whose values an assignment gives to a name; none if it takes the
    value apart.
    """
    if definition.__class__ is gast.AnnAssign:
        yield definition.value
    elif definition.__class__ is gast.Assign:
        for target in definition.targets:
            yield from _matched(target, definition.value, name)


def _matched(target: Any, value: Any, name: str) -> Iterator[Any]:
    if target.__class__ is gast.Name:
        if target.id == name:
            yield value
    elif target.__class__ in (gast.Tuple, gast.List):
        same = value.__class__ in (gast.Tuple, gast.List) and not any(
            element.__class__ is gast.Starred for element in (*target.elts, *value.elts)
        )
        if same and len(target.elts) == len(value.elts):
            for part, element in zip(target.elts, value.elts):
                yield from _matched(part, element, name)


def _makes_list(value: Any) -> bool:
    if value.__class__ is gast.BinOp:
        return _makes_list(value.left) or _makes_list(value.right)
    return value.__class__ in _LISTS


def _resized(node: Any) -> str | None:
    """The name whose list a node changes the length of, if it does."""
    kind = node.__class__
    if kind is gast.Attribute and node.attr in _RESIZING:
        changed = node.value
    elif kind is gast.Subscript and node.ctx.__class__ is not gast.Load:
        is_item = node.slice.__class__ is not gast.Slice
        if is_item and node.ctx.__class__ is gast.Store:
            return None
        changed = node.value
    elif kind is gast.AugAssign:
        changed = node.target
    else:
        return None
    return str(changed.id) if changed.__class__ is gast.Name else None


def _keyed(node: Any) -> Iterator[tuple[str, Any]]:
    kind = node.__class__
    if kind is gast.Subscript and node.ctx.__class__ is not gast.Load:
        if node.value.__class__ is gast.Name:
            yield node.value.id, node.slice
    elif kind is gast.Call and node.func.__class__ is gast.Attribute:
        owner = node.func.value
        if owner.__class__ is gast.Name and node.func.attr in _KEYING:
            yield owner.id, node.args[0] if node.args else node
    elif kind is gast.AugAssign and node.target.__class__ is gast.Name:
        yield node.target.id, node.value
