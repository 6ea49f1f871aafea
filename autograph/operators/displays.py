"""Displays: ``{k: v, **d}`` and ``{a, b}`` with tensors for keys, ``[*items, x]``."""

from __future__ import annotations

from typing import Any

from .builtins import functions
from .dispatch import backend_of
from .keyed import key_backend, with_item

__all__ = ["dict_of", "list_of", "set_of"]


def dict_of(*parts: Any) -> Any:
    """``{k: v, **d}`` for the parts ``(k, v)`` and ``d``.

    >>> dict_of((1, 2), {3: 4}, (1, 5))
    {1: 5, 3: 4}
    """
    result: Any = {}
    for part in parts:
        if type(part) is tuple:
            result = _with(result, *part)
        elif backend_of(part) is not None:
            is_first = type(result) is dict and not result
            result = part.copy() if is_first else result | part
        else:
            for key in part.keys():  # noqa: SIM118  # as ** does
                result = _with(result, key, part[key])
    return result


def _with(items: Any, key: Any, value: Any) -> Any:
    backend = key_backend(key) if type(items) is dict else None
    if backend is not None:
        return with_item(backend, items, "__setitem__", key, value)
    items[key] = value
    return items


def set_of(*members: Any) -> Any:
    """``{a, b}``.

    >>> set_of(2, 1, 2) == {1, 2}
    True
    """
    result: Any = set()
    for member in members:
        backend = key_backend(member) if type(result) is set else None
        if backend is None:
            result.add(member)
        else:
            result = with_item(backend, result, "add", member)
    return result


def list_of(*parts: Any) -> Any:
    """``[*a, x, *b]`` for the parts ``a``, ``[x]`` and ``b``.

    >>> list_of((1, 2), [3], "ab")
    [1, 2, 3, 'a', 'b']
    """
    result: Any = []
    for part in parts:
        if backend_of(part) is None and type(result) is list:
            result.extend(part)
        else:
            more = functions["list"](part)
            result = result + more if type(result) is not list or result else more
    return result
