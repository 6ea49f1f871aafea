"""Items of Python's containers, where tensors are among the indices, keys or items.

Converted code calls `item`, `slice_`, `target` and `list_method`. Python finds the key
of a dict or set by its hash, which a tensor does not have. A dict or set that is
changed by such a key is replaced by one of the tensor library (see
`state.trials.opened`); a read asks a copy that the library makes.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .classes import defines
from .dispatch import PYTHON, Backend, answer_for, backend_of
from .state.slots import is_whole
from .state.trials import note_change, opened

#: Whether a tensor library traces: only then are keys of dicts and sets inspected.
tracing = False
_CONTAINERS = (dict, list, range, str, tuple)
#: Containers that find their keys by hash.
KEYED = frozenset({dict, set, defaultdict, Counter, OrderedDict})


def item(items: Any, index: Any, *inner: Any) -> Any:
    """``items[index]``, and the items of that one: ``items[index][inner]``.

    >>> item([[1, 2], [3, 4]], 1), item([[1, 2], [3, 4]], 1, 0)
    ([3, 4], 3)
    """
    value = items[index] if type(index) is int else _item(items, index)
    for index in inner:
        value = _item(value, index)
    return value


def _item(items: Any, index: Any) -> Any:
    if type(index) in PYTHON:
        if type(index) is tuple and type(items) in KEYED:
            backend = key_backend(index)
            if backend is not None:
                return _keyed_read(backend, items, index)
        return items[index]
    if type(items) in KEYED and type(items) is not dict:
        backend = backend_of(index)
        if backend is not None:
            return _keyed_read(backend, items, index)
    return _read_item(items, index, index)


def slice_(items: Any, *ends: Any) -> Any:
    """``items[start:stop]`` or ``items[start:stop:step]``; an end may be None.

    >>> slice_("abcd", 1, None), slice_("abcd", None, None, 2)
    ('bcd', 'ac')
    """
    return _read_item(items, slice(*ends), *ends)


def _read_item(items: Any, key: Any, *asked: Any) -> Any:
    """``items[key]``, by the library of one of the values ``asked``, if any."""
    if isinstance(items, _CONTAINERS):
        staged = answer_for("getitem", *asked)
        if staged is not None:
            return staged(items, key)
    # Any other container may be an array.
    staged = answer_for("array item", *asked)
    result = NotImplemented if staged is None else staged(items, key)
    return items[key] if result is NotImplemented else result


def _keyed_read(backend: Backend, items: Any, key: Any) -> Any:
    """``items[key]`` of a dict, by the backend of the key."""
    adds = type(items) is defaultdict
    name = "__missing__" if adds else "__getitem__"
    return _keyed_item(backend, items, name, key)


def set_tracing(traces: bool) -> None:
    """Note whether any thread traces."""
    global tracing
    tracing = traces


def target(items: Any, depth: int = 1) -> Any:
    """The object to use for ``items`` in ``items[i] = value`` and ``del items[i]``.

    A list gets a `Target`; most other objects stay. ``depth`` is the number of indices:
    2 for ``items[i][j] = value``.

    >>> row = [1, 2, 3]
    >>> target(row)[0] += 4
    >>> row
    [5, 2, 3]
    """
    kind = type(items)
    if kind is list or (kind in KEYED and tracing):
        return Target(items, depth)
    if issubclass(kind, list) and defines(kind, "__plain__"):
        return Target(items, depth)  # a library's copy, which it does not let change
    if depth > 1 and (kind in (dict, tuple) or is_whole(items)):
        return Target(items, depth)
    staged = answer_for("target", items) if depth == 1 else None
    return items if staged is None else staged(items)


class Target:
    """A container in an assignment whose index may be a tensor.

    ``path`` has the indices so far, from the first one that is a tensor.
    """

    __slots__ = ("_depth", "_items", "_path")

    def __init__(self, items: Any, depth: int, path: tuple[Any, ...] = ()) -> None:
        self._items = items
        self._depth = depth
        self._path = path

    def __getitem__(self, key: Any) -> Any:
        """The item that ``+=`` reads, or the `Target` for the next index."""
        if self._depth == 1:
            if type(self._items) is defaultdict and not self._path:
                # A read may add the key, and so replace the dict by another object.
                backend = key_backend(key)
                if backend is not None:
                    table = _opened(backend, self._items, "__missing__", key)
                    self._items = self._items if table is None else table
            items = self._items
            for index in self._path:
                items = _item(items, index)
            if type(key) is slice:
                return slice_(items, key.start, key.stop, key.step)
            return _item(items, key)
        is_list = type(self._items) is list
        is_state = _backend_of(key) if is_list else is_whole(self._items)
        if not (self._path or is_state):
            return target(self._items[key], self._depth - 1)
        return Target(self._items, self._depth - 1, (*self._path, key))

    def __setitem__(self, key: Any, value: Any) -> None:
        note_change(self._items)
        if is_whole(self._items) and not self._path:
            self._items[key] = value
            return
        if type(self._items) in KEYED and not self._path:
            backend = key_backend(key)
            if backend is not None:
                _keyed_item(backend, self._items, "__setitem__", key, value)
                return
        if type(key) is slice and (staged_list := self._opened(key, value)) is not None:
            staged_list[key] = value
            return
        staged = self._staged("setitem", key)
        if staged is None:
            self._items[key] = value
        else:
            staged(self._items, (*self._path, key), value)

    def __delitem__(self, key: Any) -> None:
        note_change(self._items)
        if type(self._items) in KEYED and not self._path:
            backend = key_backend(key)
            if backend is not None:
                _keyed_item(backend, self._items, "__delitem__", key)
                return
        if type(key) is slice and (staged_list := self._opened(key, None)) is not None:
            del staged_list[key]
            return
        staged = self._staged("delitem", key)
        if staged is None:
            del self._items[key]
        else:
            staged(self._items, (*self._path, key))

    def _opened(self, key: slice, value: Any) -> Any:
        """The library's list that replaces this one for a slice with tensors."""
        backend = _backend_of(key)
        if backend is None or self._path or type(self._items) is not list:
            return None
        return _opened(backend, self._items, "__setitem__", key, value)

    def _staged(self, name: str, key: Any) -> Callable[..., None] | None:
        """The library's function for an assignment, if an index is a tensor."""
        backends = filter(None, map(_backend_of, (self._items, *self._path, key)))
        backend = next(backends, None)
        return None if backend is None else backend.builtin(name)


def _backend_of(key: Any) -> Backend | None:
    """The backend of an index, or of an end of a slice."""
    if type(key) is not slice:
        return backend_of(key)
    ends = (key.start, key.stop, key.step)
    return next(filter(None, map(backend_of, ends)), None)


def backend_within(value: Any) -> Backend | None:
    """The backend of a value, or of an item of a list or tuple."""
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(backend_within, value)), None)
    return backend_of(value)


#: Methods of lists that may meet a tensor in their arguments only (`_COUNTING`), or in
#: the items as well (`_ASKING`). `append`, `clear` and `reverse` take no index and
#: compare nothing: Python runs them, and `state.snapshot` finds the change.
_COUNTING = frozenset({"extend", "insert", "pop"})
_ASKING = frozenset({"count", "index", "remove", "sort"})
LIST_METHODS = _COUNTING | _ASKING
#: Methods that search a sequence without changing it.
_FINDING = frozenset({"count", "index"})
_METHODS: dict[type, frozenset[str]] = {
    list: LIST_METHODS,
    tuple: _FINDING,
    deque: _FINDING,
}


def list_method(function: Any) -> Any:
    """A builtin function or method; a method of a list, tuple or deque is wrapped so
    that it accepts tensors.

    >>> items = [3, 1]
    >>> list_method(items.sort)()
    >>> items
    [1, 3]
    """
    items = function.__self__
    if _may_change(items, function.__name__):
        note_change(items)
    if function.__name__ not in _METHODS.get(type(items), frozenset()):
        return _keyed_method(function) if type(items) in KEYED else function

    def staged(*args: Any, **options: Any) -> Any:
        if function.__name__ in _COUNTING:
            backend = next(filter(None, map(backend_of, args)), None)
        else:
            backend = backend_within((*args, *items))
        if function.__name__ == "extend" and backend is not None:
            staged_list = _opened(backend, items, "extend", *args)
            if staged_list is not None:
                staged_list.extend(*args)
                return None
        name = f"{type(items).__name__}.{function.__name__}"
        instead = None if backend is None else backend.builtin(name)
        if instead is None:
            return function(*args, **options)
        return instead(items, *args, **options)

    return staged


def _may_change(items: Any, method: str) -> bool:
    """Whether a method may change its object: any does of an unknown class."""
    if type(items) in _METHODS or type(items) in KEYED:
        return method in _MUTATING
    return type(items) is not ModuleType


# --- dicts and sets -------------------------------------------------------------------

#: Methods that take keys and may change their dict or set.
_KEY_CHANGES = frozenset({"add", "discard", "pop", "remove", "setdefault", "update"})
KEY_METHODS = _KEY_CHANGES | {"get"}
_CHANGING = _KEY_CHANGES | {"__setitem__", "__delitem__", "__missing__"}
#: Methods that change a container.
_MUTATING = _COUNTING | _KEY_CHANGES | {"append", "appendleft", "clear", "extendleft"}
_MUTATING |= {"popitem", "popleft", "remove", "reverse", "rotate", "sort"}
#: The method that is called in place of one that adds a missing key.
_INSTEAD = {"__missing__": "__getitem__"}


def key_backend(key: Any) -> Backend | None:
    """The backend of a key, or of one in a tuple that is the key."""
    if type(key) is tuple:
        return next(filter(None, map(key_backend, key)), None)
    return backend_of(key)


def _keyed_method(function: Any) -> Any:
    """A method of a dict or set, wrapped so that it accepts keys with tensors."""
    items, name = function.__self__, function.__name__
    if name not in KEY_METHODS:
        return function

    def method(*args: Any, **options: Any) -> Any:
        backend = key_backend(args[0]) if args else None
        if backend is None:
            return function(*args, **options)
        return _keyed_item(backend, items, name, *args, **options)

    method.__name__ = method.__qualname__ = name
    return method


def _keyed_item(
    backend: Backend, items: Any, name: str, *args: Any, **options: Any
) -> Any:
    """``items.name(*args, **options)`` of a dict or set, by the backend of a key."""
    answer = backend.builtin("keyed")
    if answer is None:
        return getattr(items, name)(*args, **options)
    table = _opened(backend, items, name, *args) if name in _CHANGING else None
    if table is None:
        return answer(items, name, *args, **options)
    return getattr(table, _INSTEAD.get(name, name))(*args, **options)


def with_item(backend: Backend, items: Any, name: str, *args: Any) -> Any:
    """A new dict or set, not referred to yet, after a method has added to it."""
    make = _opening(backend, items, name, args)
    container = items if make is None else make()
    getattr(container, name)(*args)
    return container


def _opening(
    backend: Backend, items: Any, name: str, args: tuple[Any, ...]
) -> Callable[[], Any] | None:
    """The maker of the library's container for `items`, if a method call needs one."""
    opening = backend.builtin("opening")
    return None if opening is None else opening(items, name, args)


def _opened(backend: Backend, items: Any, name: str, *args: Any) -> Any:
    """The library's container that replaces `items` for a method call.

    None if `items` stays as it is.
    """
    make = _opening(backend, items, name, args)
    return None if make is None else opened(items, make)
