"""``x in xs`` and ``x not in xs`` where a tensor may decide.

Python answers for Python values, also for containers that hold tensors as long as no
tensor is asked for its truth. A container of the user's own answers by its converted
``__contains__``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import FunctionType
from typing import Any

from .calls import call
from .classes import defines
from .dispatch import PYTHON, Backend, backend_of
from .keyed import key_backend

#: What holds no tensors to be found: they cannot be hashed.
_HASHED = frozenset({dict, set, frozenset})


def in_(item: Any, items: Any) -> Any:
    """``item in items``.

    A tensor is looked for by ``==`` among the items of a sequence, the keys of a dict
    or the rows of a tensor.

    >>> in_(2, [1, 2, 3])
    True
    """
    if type(item) in PYTHON:
        if type(items) in _HASHED:
            if type(item) is tuple:
                backend = key_backend(item)
                if backend is not None:
                    return _staged(backend, item, items)
            return item in items
        if type(items) in PYTHON:
            return _in_python(item, items)
    backend = backend_of(items)
    if backend is None:
        cls: Any = type(items)
        if defines(cls, "__contains__") and type(cls.__contains__) is FunctionType:
            return _answer_of(cls.__contains__, item, items)
        backend = backend_of(item)
        if backend is None:
            return _in_python(item, items)
    return _staged(backend, item, items)


def not_in(item: Any, items: Any) -> Any:
    """``item not in items``.

    >>> not_in(2, [1, 2, 3])
    False
    """
    kind = type(item)
    if kind in PYTHON and type(items) in _HASHED and kind is not tuple:
        return item not in items
    found = in_(item, items)
    backend = backend_of(found)
    return not found if backend is None else backend.not_(found)


def _in_python(item: Any, items: Any) -> Any:
    try:
        return item in items
    except Exception:
        # Perhaps a tensor among the items was asked whether it is true.
        if not isinstance(items, Collection):
            raise
        backend = next(filter(None, map(backend_of, items)), None)
        if backend is None:
            raise
    return _staged(backend, item, items)


def _answer_of(contains: Callable[..., Any], item: Any, items: Any) -> Any:
    found = call(contains)(items, item)
    backend = backend_of(found)
    return bool(found) if backend is None else backend.not_(backend.not_(found))


def _staged(backend: Backend, item: Any, items: Any) -> Any:
    search = backend.builtin("in")
    return item in items if search is None else search(item, items)
