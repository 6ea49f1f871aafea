"""Lists, dicts and sets that a function makes and changes.

Python decides about the containers that a function makes: whether one is empty, its
length, its items. A tensor may decide about the length of a list that grows in a staged
statement, and about the contents of a dict or set that gets a key which may be a
tensor. `ProvablyPython` asks `Containers` for such changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from ..interpreter import cached_property
from ..trees.visitors import walk
from .tables import Tables

#: Methods that take keys, or a container of keys.
_KEYING = frozenset(
    {"add", "clear", "discard", "pop", "popitem", "remove", "setdefault", "update"}
)
_LISTS = frozenset({gast.List, gast.ListComp})
_SETS = frozenset({gast.Set, gast.SetComp})
_DICTS = frozenset({gast.Dict, gast.DictComp})
_SEQUENCES = frozenset({gast.List, gast.Tuple})
_MAKERS = ("dict", "set")
_MUTABLE = _LISTS | _SETS | _DICTS


class _Uses:
    """The names by which containers are used, and how."""

    def __init__(self) -> None:
        #: Names of lists that are made longer or shorter.
        self.resized: set[str] = set()
        #: Names whose objects the function passes on or stores elsewhere.
        self.shared: set[str] = set()
        #: The keys by which the function changes the object of a name.
        self.keys: dict[str, list[Any]] = {}
        #: Names of lists with assignments to items.
        self.filled: set[str] = set()
        #: Names that get a new list, dict or set somewhere.
        self.made: set[str] = set()


class Containers:
    """The uses of lists, dicts and sets in one function, by their names."""

    def __init__(self, facts: Tables) -> None:
        self._facts = facts

    @cached_property
    def _uses(self) -> _Uses:
        uses = _Uses()
        for node in self._facts.container_uses:
            kind = node.__class__
            if kind is gast.Call:
                self._call(node, uses)
            elif kind is gast.Subscript:
                _change_item(node, uses)
            elif kind is gast.Attribute:
                uses.resized.update(_name(node.value))
            elif kind is gast.AugAssign:
                for name in _name(node.target):
                    uses.resized.add(name)
                    uses.keys.setdefault(name, []).append(node.value)
            elif kind is gast.NamedExpr:
                uses.shared.update(_names_given(node.value))
            elif node.value is not None:
                uses.shared.update(_names_given(node.value))
                for name, value in _assigned(node):
                    if _makes_list(value) or self._is_keyed(value):
                        uses.made.add(name)
        return uses

    def _call(self, call: Any, uses: _Uses) -> None:
        func = call.func
        if func.__class__ is gast.Name and self._facts.is_builtin(func.id):
            return
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            uses.shared.update(_names_given(argument))
        if func.__class__ is gast.Attribute and func.attr in _KEYING:
            for name in _name(func.value):
                key = call.args[0] if call.args else call
                uses.keys.setdefault(name, []).append(key)

    def is_resized(self, name: Any) -> bool:
        """Whether a list that the function makes may get longer or shorter: by its
        name, by a user's function that gets it, or by another name.
        """
        uses = self._uses
        may_change = name.id in uses.resized or name.id in uses.shared
        return may_change and self.is_list(name)

    def is_shared(self, name: Any) -> bool:
        """Whether the function passes the object of a name on, or stores it."""
        return name.id in self._uses.shared

    def keys(self, name: Any) -> list[Any]:
        """The keys by which the function changes the object of a name."""
        return self._uses.keys.get(name.id, [])

    def is_filled(self, name: Any) -> bool:
        """Whether a list that the function makes, or one inside, may get new items."""
        if name.id in self._uses.filled and self.is_list(name):
            return True
        # Inner containers have no name to track: `row = table[0]`, `for row in table`.
        return any(
            node is not value and node.__class__ in _MUTABLE
            for value in self._values(name)
            for node in walk(value)
        )

    def is_list(self, name: Any) -> bool:
        """Whether a name is given a new list: ``[]``, a comprehension, ``[0] * n``."""
        return self._is_made(name) and any(map(_makes_list, self._values(name)))

    def is_keyed(self, name: Any) -> bool:
        """Whether a name is given a new dict or set."""
        return self._is_made(name) and any(map(self._is_keyed, self._values(name)))

    def _is_made(self, name: Any) -> bool:
        # Asked first, since it needs no data flow.
        return name.id in self._uses.made

    def _is_keyed(self, value: Any) -> bool:
        kind = value.__class__
        return kind in _SETS or kind in _DICTS or self._is_call_of(value, _MAKERS)

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
        is_named = func.__class__ is gast.Name and func.id in builtins
        return is_named and self._facts.is_builtin(func.id)


def assigned_values(definition: Any, name: str) -> Iterator[Any]:
    """The expressions whose values an assignment gives to a name; none if it unpacks
    the value.
    """
    if definition.__class__ in (gast.Assign, gast.AnnAssign):
        return (value for target, value in _assigned(definition) if target == name)
    return iter(())


def _assigned(assignment: Any) -> list[tuple[str, Any]]:
    """The names that an assignment binds, each with the expression of its value; none
    where it unpacks the value.
    """
    pairs: list[tuple[str, Any]] = []
    targets = getattr(assignment, "targets", None) or [assignment.target]
    pending = [(target, assignment.value) for target in reversed(targets)]
    while pending:
        target, value = pending.pop()
        if target.__class__ is gast.Name:
            pairs.append((target.id, value))
        elif target.__class__ in _SEQUENCES and value.__class__ in _SEQUENCES:
            elements = (*target.elts, *value.elts)
            starred = any(element.__class__ is gast.Starred for element in elements)
            if not starred and len(target.elts) == len(value.elts):
                pending += reversed([*zip(target.elts, value.elts)])
    return pairs


def _makes_list(value: Any) -> bool:
    if value.__class__ is gast.BinOp:
        return _makes_list(value.left) or _makes_list(value.right)
    return value.__class__ in _LISTS


def _change_item(target: Any, uses: _Uses) -> None:
    """Note that an item or slice is assigned or deleted."""
    for name in _name(target.value):
        uses.keys.setdefault(name, []).append(target.slice)
        is_store = target.ctx.__class__ is gast.Store
        if is_store:
            uses.filled.add(name)
        if target.slice.__class__ is gast.Slice or not is_store:
            uses.resized.add(name)


def _name(node: Any) -> tuple[str, ...]:
    """The name that a node is, if it is one."""
    return (node.id,) if node.__class__ is gast.Name else ()


def _names_given(value: Any) -> Iterator[str]:
    """The names whose objects a value is, or is a display of."""
    if value.__class__ is gast.Name:
        yield value.id
    elif value.__class__ in _SEQUENCES:
        for element in value.elts:
            yield from _names_given(element)
    elif value.__class__ is gast.Dict:
        for element in value.values:
            yield from _names_given(element)
