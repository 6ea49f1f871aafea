"""Dicts and sets that a function makes and changes: a tensor may be one of the keys.

A dict display is Python's own, and so is what is asked about it. Once a key is added
that may be a tensor, what is in it is a tensor's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import gast

from autograph.analysis.assigned import assigned_values
from autograph.analysis.lists import shared_names
from autograph.lang.visitors import walk

_DISPLAYS = frozenset({gast.Dict, gast.DictComp, gast.Set, gast.SetComp})
_MAKERS = frozenset({"dict", "set"})
#: Methods that are given what is to be a key, or what keys are in.
_METHODS = frozenset(
    {"add", "clear", "discard", "pop", "popitem", "remove", "setdefault", "update"}
)
_known: WeakKeyDictionary[Any, dict[str, list[Any]]] = WeakKeyDictionary()
_shared: WeakKeyDictionary[Any, frozenset[str]] = WeakKeyDictionary()


def has_own_keys(
    name: Any, facts: Any, is_plain: Callable[[Any], bool], assumed: set[Any]
) -> bool:
    """Whether a name is of no dict or set into which a tensor can have come as a key.

    ``assumed`` are the answers that the question assumes: that of a name within itself.
    """
    question = ("kept", name.id, name)
    if question in assumed:
        return True
    assumed.add(question)
    keys = _keys(facts).get(name.id)
    shared = name.id in _shared_in(facts)
    if keys is None and not shared:
        return True
    if not _names_keyed(name, facts):
        return True
    if keys and any(_is_set(value, facts) for value in _values(name, facts)):
        return False  # what is in a set at all may depend on a tensor
    try:
        return not shared and all(map(is_plain, keys or ()))
    except KeyError:  # a key inside of another function
        return False


def _keys(facts: Any) -> dict[str, list[Any]]:
    """The keys by which a function changes what its names are of."""
    found = _known.get(facts)
    if found is None:
        found = _known[facts] = {}
        for node in walk(facts.node):
            for name, key in _changed(node):
                found.setdefault(name, []).append(key)
    return found


def _shared_in(facts: Any) -> frozenset[str]:
    found = _shared.get(facts)
    if found is None:
        found = _shared[facts] = shared_names(facts)
    return found


def _changed(node: Any) -> Iterator[tuple[str, Any]]:
    kind = node.__class__
    if kind is gast.Subscript and node.ctx.__class__ is not gast.Load:
        if node.value.__class__ is gast.Name:
            yield node.value.id, node.slice
    elif kind is gast.Call and node.func.__class__ is gast.Attribute:
        owner = node.func.value
        if owner.__class__ is gast.Name and node.func.attr in _METHODS:
            yield owner.id, node.args[0] if node.args else node
    elif kind is gast.AugAssign and node.target.__class__ is gast.Name:
        yield node.target.id, node.value


def _names_keyed(name: Any, facts: Any) -> bool:
    """Whether a name is given a new dict or set."""
    return any(_is_new(value, facts) for value in _values(name, facts))


def _values(name: Any, facts: Any) -> Iterator[Any]:
    for definition in facts.reaching(name):
        yield from assigned_values(definition, name.id)


def _is_set(value: Any, facts: Any) -> bool:
    if value.__class__ is gast.Call:
        func = value.func
        named = func.__class__ is gast.Name and func.id == "set"
        return named and bool(facts.is_builtin(func.id))
    return value.__class__ in (gast.Set, gast.SetComp)


def _is_new(value: Any, facts: Any) -> bool:
    if value.__class__ is gast.Call:
        func = value.func
        named = func.__class__ is gast.Name and func.id in _MAKERS
        return named and bool(facts.is_builtin(func.id))
    return value.__class__ in _DISPLAYS
