"""``xs[i]`` of a Python container, where the index may be a tensor."""

from __future__ import annotations

from typing import Any

from .dispatch import PYTHON, backend_of

_CONTAINERS = (dict, list, range, str, tuple)


def getitem(items: Any, *key: Any) -> Any:
    """``items[index]``, or ``items[start:stop:step]`` if there are several arguments.

    >>> getitem([1, 2, 3], 1), getitem([1, 2, 3], 1, None)
    (2, [2, 3])
    """
    if len(key) == 1 and type(key[0]) in PYTHON:
        return items[key[0]]
    index = key[0] if len(key) == 1 else slice(*key)
    backend = next(filter(None, map(backend_of, key)), None)
    if backend is not None and isinstance(items, _CONTAINERS):
        staged = backend.builtin("getitem")
        if staged is not None:
            return staged(items, index)
    return items[index]
