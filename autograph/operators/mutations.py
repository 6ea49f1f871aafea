"""Notices objects that a staged branch or loop body changes behind the graph's back.

Variables, and the attributes and items that a statement assigns itself, are its state:
they are merged. What a called method or helper changes, or ``append`` does, is not: the
change would happen while tracing, once, whether or not the branch is taken. So the
objects that a body can reach are compared before and after it is traced.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..library import is_library_module

#: Objects looked into from one statement: enough for programs, little for tracing.
_LIMIT = 1_000
_ATOMS = (bool, int, float, complex, str, bytes, type(None), ModuleType, type)
#: The parts of an object: how each is written behind the object's name, and its value.
Parts = list[tuple[str, Any]]


class Snapshot:
    """The objects that can be reached from some named values, as they are now."""

    def __init__(self, roots: Iterable[tuple[str, Any]]) -> None:
        self._seen: dict[int, tuple[str, Any, Parts]] = {}
        pending = deque(roots)
        while pending and len(self._seen) < _LIMIT:
            name, value = pending.popleft()
            if isinstance(value, _ATOMS) or id(value) in self._seen:
                continue
            parts = _parts(value)
            if parts is None:
                continue
            self._seen[id(value)] = name, value, parts
            pending.extend((_written(name, step), part) for step, part in parts)

    def change(self) -> str | None:
        """What is not as it was: its name, and what it is; None if nothing changed."""
        for name, value, before in self._seen.values():
            after = _parts(value) or []
            if len(after) != len(before):
                return f"the {type(value).__name__} `{name}`"
            for (step, old), (now, new) in zip(before, after, strict=True):
                if step != now or not _same(old, new):
                    return f"`{_written(name, now)}`"
        return None


def reachable_names(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The free and global variables that a function, or one inside it, mentions."""
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not bound yet
            continue
    for name in _global_names(code):
        if name in function.__globals__:
            yield name, function.__globals__[name]


@functools.cache
def _global_names(code: CodeType) -> tuple[str, ...]:
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(dict.fromkeys(_global_names(constant)))
    return tuple(names)


def _parts(value: Any) -> Parts | None:
    """What makes up an object that can change; None for one that is not looked into."""
    if isinstance(value, (list, tuple, deque)):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    if isinstance(value, dict):
        return [(f"[{key!r}]", part) for key, part in value.items()]
    if isinstance(value, (set, frozenset)):
        return [("", part) for part in value]
    if isinstance(value, MethodType):
        return [("", value.__self__), ("", value.__func__)]
    if is_library_module(type(value).__module__) and type(value) is not FunctionType:
        return None
    if isinstance(value, FunctionType):
        if is_library_module(value.__module__ or ""):
            return None
        return [("", value.__defaults__), *reachable_names(value)]
    attributes = getattr(value, "__dict__", None)
    if attributes is None:
        return None
    return [(f".{name}", part) for name, part in attributes.items()]


def _written(name: str, step: str) -> str:
    """A part's name: behind its owner's, or its own for a variable of a function."""
    return step if step.isidentifier() else name + step


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    return isinstance(old, _ATOMS) and type(old) is type(new) and bool(old == new)
