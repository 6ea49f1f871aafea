"""Dicts and sets of Python, where tensors are, or are within, the keys.

Python finds a key by its hash, which a tensor does not have. Such a dict or set becomes
one of the tensor library's where it is changed (see `opening`); where it is only asked,
a copy that the library makes of it answers.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import Any

from .dispatch import Backend, backend_of

__all__ = [
    "KEYED",
    "key_backend",
    "keyed_item",
    "keyed_method",
    "with_item",
    "with_key",
]

#: What has keys that Python finds by their hashes.
KEYED = frozenset({dict, set, defaultdict, Counter, OrderedDict})
#: Methods that are given keys, and that may change what they are methods of.
_METHODS = frozenset({"add", "discard", "pop", "remove", "setdefault", "update"})
METHODS = _METHODS | {"get"}
_CHANGING = _METHODS | {"__setitem__", "__delitem__", "__missing__"}
#: What is called where a key that is not there is added.
_PLAIN = {"__missing__": "__getitem__"}


def key_backend(key: Any) -> Backend | None:
    """The backend of a key, or of one in a tuple that is the key."""
    if type(key) is tuple:
        return next(filter(None, map(key_backend, key)), None)
    return backend_of(key)


def keyed_method(function: Any) -> Any:
    """A method of a dict or set, such that it takes keys with tensors.

    >>> keyed_method({}.get)(1, 2)
    2
    """
    items, name = function.__self__, function.__name__
    if type(items) not in KEYED or name not in METHODS:
        return function

    def method(*args: Any, **options: Any) -> Any:
        backend = key_backend(args[0]) if args else None
        if backend is None:
            return function(*args, **options)
        return keyed_item(backend, items, name, *args, **options)

    method.__name__ = method.__qualname__ = name
    return method


def keyed_item(
    backend: Backend, items: Any, name: str, *args: Any, **options: Any
) -> Any:
    """``items.name(*args, **options)`` of a dict or set, by the backend of a key."""
    answer, make = backend.builtin("keyed"), None
    if answer is None:
        return getattr(items, name)(*args, **options)
    if name in _CHANGING:
        opening = backend.builtin("opening")
        make = None if opening is None else opening(items, name, args)
    if make is None:
        return answer(items, name, *args, **options)
    from .state.trials import opened  # which only staging needs

    return getattr(opened(items, make), _PLAIN.get(name, name))(*args, **options)


def with_key(items: Any, key: Any) -> Any:
    """What stands for a `defaultdict` once a key is read that it may not have."""
    backend = key_backend(key)
    opening = None if backend is None else backend.builtin("opening")
    make = None if opening is None else opening(items, "__missing__", (key,))
    if make is None:
        return items
    from .state.trials import opened  # which only staging needs

    return opened(items, make)


def with_item(backend: Backend, items: Any, name: str, *args: Any) -> Any:
    """A new dict or set that nothing refers to yet, with what a method adds to it."""
    opening = backend.builtin("opening")
    make = None if opening is None else opening(items, name, args)
    whole = items if make is None else make()
    getattr(whole, name)(*args)
    return whole
