"""Which kinds of values are compared in which way, and which are looked into."""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from enum import Enum
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from runtime import compiler
from runtime.guards.containers import (
    Items,
    Mapping,
    Members,
    PlainItems,
    PlainMapping,
    Sized,
)
from runtime.guards.expected import (
    Array,
    Expected,
    Identity,
    Instance,
    Value,
    is_plain,
    shown,
)
from runtime.types.classes import remembered
from runtime.variable import Module

__all__ = ["expect", "is_enum", "is_library", "is_open", "is_ours"]

#: Told of each object in a value, with how it is written behind the value's name.
Meet = Callable[[Any, str], None]

_LISTS = (list, tuple, deque)
_DICTS = (dict, OrderedDict, defaultdict)
_SETS = (set, frozenset)
#: Classes of libraries that keep what users give them.
_OPEN = (Module, SimpleNamespace)
#: Arrays of at most so many bytes are compared by what is in them.
_SMALL = 1024
#: Containers within containers, so far as they are looked into.
_DEPTH = 20


def is_library(value: Any) -> bool:
    """Whether a function, class or module is no code of the user's."""
    if isinstance(value, FunctionType):
        # What `exec` made in a dict of the user's has no name.
        name = value.__globals__.get("__name__", "__main__")
    elif isinstance(value, ModuleType):
        name = value.__name__
    else:
        name = value.__module__
    return not isinstance(name, str) or compiler.conversion.is_library_module(name)


def is_ours(function: FunctionType) -> bool:
    """Whether a function is a wrapper that the runtime made."""
    return str(function.__globals__.get("__name__")).startswith("runtime.")


def is_enum(value: Any) -> bool:
    """Whether a value is an enumeration, whose members stay."""
    return isinstance(value, type) and issubclass(value, Enum)


@remembered
def is_open(cls: type) -> bool:
    """Whether the attributes of the instances of a class are looked at."""
    if issubclass(cls, (ModuleType, Enum)):
        return False
    if not is_library(cls) or issubclass(cls, _OPEN):
        return True
    # Imported by who has one, not for the question.
    argparse = sys.modules.get("argparse")
    return argparse is not None and issubclass(cls, argparse.Namespace)


def expect(value: Any, meet: Meet, budget: int) -> tuple[Expected | None, int, bool]:
    """What is expected where a value was found, how many parts were looked at, and
    whether these are all.

    None: whatever is there will do.
    """
    looking = _Looking(meet, budget)
    expected = None if _is_fixed(value) else looking.at(value, "", 0)
    return expected, budget - looking.budget, looking.is_whole


def _is_fixed(value: Any) -> bool:
    """Whether a value is a library, which programs do not exchange for another."""
    return issubclass(type(value), ModuleType) and is_library(value)


class _Looking:
    """Looks at a value, and the parts of a container."""

    def __init__(self, meet: Meet, budget: int) -> None:
        self.budget = budget
        self.is_whole = True
        self._meet = meet

    def at(self, value: Any, step: str, depth: int) -> Expected:
        self.budget -= 1
        if is_plain(value):
            return Value(value)
        kind: Any = type(value)
        if kind is np.ndarray:
            is_small = value.nbytes <= _SMALL and not value.dtype.hasobject
            return Array(value, is_small)
        if kind in _SETS:
            return Members(value) if all(map(is_plain, value)) else Sized(value)
        is_list, is_dict = _container(kind)
        if (is_list or is_dict) and is_open(kind):
            self._meet(value, step)  # It may have attributes, too.
        if (is_list or is_dict) and (self.budget < len(value) or depth > _DEPTH):
            self.is_whole &= not value
            return Sized(value)
        if is_list and all(map(is_plain, value)):
            self.budget -= len(value)
            return PlainItems(value)
        if is_list:
            return Items(kind, self._parts(enumerate(value), step, depth))
        if is_dict and all(map(_is_key, value)):
            if all(map(is_plain, value.values())):
                self.budget -= len(value)
                return PlainMapping(value)
            return Mapping(kind, [*value], self._parts(value.items(), step, depth))
        if is_dict:
            self._parts(value.items(), step, depth)
            return Sized(value)
        self._meet(value, step)
        return Instance(value) if is_open(kind) else Identity(value)

    def _parts(
        self, items: Iterable[tuple[Any, Any]], step: str, depth: int
    ) -> list[Expected]:
        return [
            self.at(part, f"{step}[{shown(key)}]", depth + 1) for key, part in items
        ]


@remembered
def _container(kind: type) -> tuple[bool, bool]:
    """Whether the instances of a class are compared as lists, or as dicts."""
    return _is_like(kind, _LISTS), _is_like(kind, _DICTS)


def _is_like(kind: type, kinds: tuple[type, ...]) -> bool:
    """Whether a class is one of some containers, or a subclass that stores as it does.

    Code of the user's is not to run where a container is compared.
    """
    if kind in kinds:
        return True
    base = next((base for base in kinds if issubclass(kind, base)), None)
    names = ("__getitem__", "__iter__", "__len__", "get", "values")
    return base is not None and all(
        getattr(kind, name, None) is getattr(base, name, None) for name in names
    )


def _is_key(value: Any) -> bool:
    """Whether the key of a dict may be held."""
    return is_plain(value) or issubclass(type(value), (Enum, type))
