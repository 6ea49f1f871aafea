"""``xs[i]`` of a Python container, where the index may be a tensor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .dispatch import PYTHON, Backend, backend_of
from .keyed import KEYED, key_backend, keyed_item, keyed_method, with_key
from .state.contents import is_whole

#: The keys of dicts and sets are looked at while a tensor library traces.
tracing = False
_CONTAINERS = (dict, list, range, str, tuple)


def getitem(items: Any, index: Any, *others: Any) -> Any:
    """``items[index]``, or ``items[start:stop:step]`` if there are several arguments.

    >>> getitem([1, 2, 3], 1), getitem([1, 2, 3], 1, None)
    (2, [2, 3])
    """
    if not others and type(index) in PYTHON:
        if type(index) is tuple and type(items) in KEYED:
            backend = key_backend(index)
            if backend is not None:
                return keyed_read(backend, items, index)
        return items[index]
    if type(items) in KEYED and type(items) is not dict:
        backend = backend_of(index)
        if backend is not None:
            return keyed_read(backend, items, index)
    key = slice(index, *others) if others else index
    if isinstance(items, _CONTAINERS):
        ends = (index, *others)
        backend = next(filter(None, map(backend_of, ends)), None)
        staged = None if backend is None else backend.builtin("getitem")
        if staged is not None:
            return staged(items, key)
    return items[key]


def keyed_read(backend: Backend, items: Any, key: Any) -> Any:
    """``items[key]`` of a dict, by the backend of the key."""
    adds = type(items) is defaultdict
    name = "__missing__" if adds else "__getitem__"
    return keyed_item(backend, items, name, key)


def set_tracing(traces: bool) -> None:
    """Note whether any thread traces."""
    global tracing
    tracing = traces


def target(items: Any, depth: int = 1) -> Any:
    """What stands for ``items`` in ``items[i] = value`` and ``del items[i]``.

    That is a list's `Target`, and anything else itself. ``depth`` is the number of
    indices: 2 for ``items[i][j] = value``.

    >>> row = [1, 2, 3]
    >>> target(row)[0] += 4
    >>> row
    [5, 2, 3]
    """
    kind = type(items)
    if kind is list or (kind in KEYED and tracing):
        return Target(items, depth)
    if depth > 1 and (kind in (dict, tuple) or is_whole(items)):
        return Target(items, depth)
    return items


class Target:
    """A list in an assignment, the index of which may be a tensor.

    ``path`` are the indices before the last ones, from the first that is a tensor.
    """

    __slots__ = ("_depth", "_items", "_path")

    def __init__(self, items: Any, depth: int, path: tuple[Any, ...] = ()) -> None:
        self._items = items
        self._depth = depth
        self._path = path

    def __getitem__(self, key: Any) -> Any:
        """What ``+=`` adds to, or the `Target` that the next index is for."""
        if self._depth == 1:
            if type(self._items) is defaultdict and not self._path:
                # To read it may add the key: it is another object from then on.
                self._items = with_key(self._items, key)
            items = self._items
            for index in self._path:
                items = getitem(items, index)
            if type(key) is slice:
                return getitem(items, key.start, key.stop, key.step)
            return getitem(items, key)
        is_list = type(self._items) is list and _backend_of(key)
        if not (self._path or is_list or is_whole(self._items)):
            return target(self._items[key], self._depth - 1)
        return Target(self._items, self._depth - 1, (*self._path, key))

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_whole(self._items) and not self._path:
            self._items[key] = value
            return
        if type(self._items) in KEYED and not self._path:
            backend = key_backend(key)
            if backend is not None:
                keyed_item(backend, self._items, "__setitem__", key, value)
                return
        if type(key) is slice and (whole := self._opened(key, value)) is not None:
            whole[key] = value
            return
        staged = self._staged("setitem", key)
        if staged is None:
            self._items[key] = value
        else:
            staged(self._items, (*self._path, key), value)

    def __delitem__(self, key: Any) -> None:
        if type(self._items) in KEYED and not self._path:
            backend = key_backend(key)
            if backend is not None:
                keyed_item(backend, self._items, "__delitem__", key)
                return
        if type(key) is slice and (whole := self._opened(key, None)) is not None:
            del whole[key]
            return
        staged = self._staged("delitem", key)
        if staged is None:
            del self._items[key]
        else:
            staged(self._items, (*self._path, key))

    def _opened(self, key: slice, value: Any) -> Any:
        """What stands for a list from now on, of which a library finds the slice."""
        backend = _backend_of(key)
        if backend is None or self._path or type(self._items) is not list:
            return None
        return opened_list(backend, self._items, "__setitem__", key, value)

    def _staged(self, name: str, key: Any) -> Callable[..., None] | None:
        """What a library does for an assignment, if an index is a tensor of one."""
        found = filter(None, map(_backend_of, (self._items, *self._path, key)))
        backend = next(found, None)
        return None if backend is None else backend.builtin(name)


def _backend_of(key: Any) -> Backend | None:
    """The backend that answers for an index or for an end of a slice."""
    if type(key) is not slice:
        return backend_of(key)
    ends = (key.start, key.stop, key.step)
    return next(filter(None, map(backend_of, ends)), None)


def module_function(function: Any) -> Any:
    """A function of `heapq` or `bisect`, such that it takes lists with tensors.

    >>> import bisect
    >>> module_function(bisect.bisect_left)([1, 3], 2)
    1
    """
    module = function.__module__.removeprefix("_")
    if module not in _MODULES:
        return function

    def staged(*args: Any, **options: Any) -> Any:
        values = (*args, *options.values())
        backend = next(filter(None, map(backend_within, values)), None)
        name = f"{module}.{function.__name__}"
        instead = None if backend is None else backend.builtin(name)
        return (function if instead is None else instead)(*args, **options)

    return staged


def opened_list(backend: Backend, items: Any, *change: Any) -> Any:
    """What stands for a list from now on; None where it stays as it is."""
    from .state.trials import opened  # which only staging needs

    opening = backend.builtin("opening")
    make = None if opening is None else opening(items, change[0], change[1:])
    return None if make is None else opened(items, make)


def backend_within(value: Any) -> Backend | None:
    """The backend of a value, or of one in it that is compared with it."""
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(backend_within, value)), None)
    return backend_of(value)


#: Methods of lists, by what they may meet a tensor in: the arguments alone, or items.
_COUNTING = frozenset({"extend", "insert", "pop"})
_ASKING = frozenset({"count", "index", "remove", "sort"})
LIST_METHODS = _COUNTING | _ASKING
#: Modules of functions that compare the items of lists.
_MODULES = frozenset({"bisect", "heapq"})


def list_method(function: Any) -> Any:
    """A builtin function or method, such that it takes tensors if it is one of a list.

    >>> items = [3, 1]
    >>> list_method(items.sort)()
    >>> items
    [1, 3]
    """
    items = function.__self__
    if type(items) is ModuleType:
        return module_function(function)
    if type(items) is not list or function.__name__ not in LIST_METHODS:
        return keyed_method(function) if type(items) in KEYED else function

    def staged(*args: Any, **options: Any) -> Any:
        if function.__name__ in _COUNTING:
            found = map(backend_of, args)
        else:
            found = map(backend_within, (*args, *items))
        backend = next(filter(None, found), None)
        if function.__name__ == "extend" and backend is not None:
            whole = opened_list(backend, items, "extend", *args)
            if whole is not None:
                whole.extend(*args)
                return None
        name = f"list.{function.__name__}"
        instead = None if backend is None else backend.builtin(name)
        if instead is None:
            return function(*args, **options)
        return instead(items, *args, **options)

    return staged
