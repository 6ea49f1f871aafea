"""Lists that a function makes and changes: a tensor may decide how long they get.

A list display is Python's own, and so is what is asked about it: whether it is empty,
how long it is, what its items are. Once it grows in a statement that is staged, its
length is a tensor's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import gast

from autograph.analysis.assigned import assigned_values
from autograph.lang.visitors import walk

_CHANGES = frozenset({"append", "clear", "extend", "insert", "pop", "remove"})
_DISPLAYS = (gast.List, gast.Tuple)
#: What makes objects that can be changed.
_CHANGEABLE = (
    gast.List,
    gast.Dict,
    gast.Set,
    gast.ListComp,
    gast.DictComp,
    gast.SetComp,
)
_known: WeakKeyDictionary[Any, frozenset[str]] = WeakKeyDictionary()
_filled: WeakKeyDictionary[Any, frozenset[str]] = WeakKeyDictionary()


def changed_lists(facts: Any) -> frozenset[str]:
    """The names in a function by which a list is made longer or shorter.

    A list that a function of the user's is given, or that has another name, may be.
    """
    found = _known.get(facts)
    if found is None:
        names = {_changed(node) for node in walk(facts.node)}
        found = frozenset(filter(None, names)) | shared_names(facts)
        _known[facts] = found
    return found


def shared_names(facts: Any) -> frozenset[str]:
    """The names whose objects a function gives to somebody else."""
    return frozenset(name for node in walk(facts.node) for name in _shared(node, facts))


def is_filled(name: Any, facts: Any) -> bool:
    """Whether what a function makes may get other items: by a name, or inside of it."""
    found = _filled.get(facts)
    if found is None:
        names = {
            node.value.id
            for node in walk(facts.node)
            if node.__class__ is gast.Subscript
            and node.ctx.__class__ is gast.Store
            and node.value.__class__ is gast.Name
        }
        found = _filled[facts] = frozenset(names)
    if name.id in found and names_list(name, facts):
        return True
    # What is in it has no name of its own: `row = table[0]`, `for row in table`.
    return any(
        part is not value and part.__class__ in _CHANGEABLE
        for definition in facts.reaching(name)
        for value in assigned_values(definition, name.id)
        for part in walk(value)
    )


def names_list(name: Any, facts: Any) -> bool:
    """Whether a name is given a new list: ``[]``, a comprehension, ``[0] * n``."""
    return any(
        _is_new_list(value)
        for definition in facts.reaching(name)
        for value in assigned_values(definition, name.id)
    )


def _is_new_list(value: Any) -> bool:
    if value.__class__ is gast.BinOp:
        return _is_new_list(value.left) or _is_new_list(value.right)
    return value.__class__ in (gast.List, gast.ListComp)


def _changed(node: Any) -> str | None:
    """The name whose list a node changes the length of, if it does."""
    kind = node.__class__
    if kind is gast.Attribute and node.attr in _CHANGES:
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


def _shared(node: Any, facts: Any) -> Iterator[str]:
    """The names whose objects a node gives to somebody else."""
    kind = node.__class__
    if kind is gast.Call:
        func = node.func
        if func.__class__ is gast.Name and facts.is_builtin(func.id):
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
        elif value.__class__ in _DISPLAYS:
            given += value.elts
        elif value.__class__ is gast.Dict:
            given += value.values
