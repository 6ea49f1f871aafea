"""The builtins that a tensor must answer differently, and displays of containers.

Converted code calls ``ag.<name>`` for the builtins in `NAMES`. Each function has the
name and the meaning of the builtin. If an argument belongs to a tensor library whose
backend has the builtin, the backend's function is called instead.
"""

from __future__ import annotations

import builtins
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Set
from typing import Any, NoReturn

from ..frames import frame_at
from ..ownership import is_registered
from . import classes, text
from .calls import call, constructors
from .comprehensions import generator, list_comp, unpacking
from .consumers import consumed
from .control_flow import cond
from .dispatch import PYTHON, Backend, backend_of
from .generators import is_generated, is_generator, same, unrolled_items
from .items import backend_within, key_backend, with_item
from .protocols import METHODS, calling_methods
from .state.retired import check_in_use
from .state.trials import note_change

#: The builtins that ask the libraries of their arguments.
_DISPATCHING = (
    "all",
    "any",
    "bin",
    "bool",
    "chr",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "hex",
    "int",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "oct",
    "ord",
    "pow",
    "range",
    "reversed",
    "round",
    "set",
    "sorted",
    "sum",
    "tuple",
    "zip",
)


#: Builtins that ask each item of a list for its truth, or compare items.
_ASKING = frozenset({"all", "any", "max", "min", "sorted"})
_ORDERING = frozenset({"max", "min", "sorted"})
_KEYING = frozenset({"dict", "frozenset", "set"})
_LISTING = frozenset({"filter", "list", "tuple"})


def _dispatching(name: str) -> Callable[..., Any]:
    builtin: Callable[..., Any] = _BUILTINS.get(name, getattr(builtins, name))

    def function(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            backend = backend_of(argument)
            if backend is not None:
                staged = backend.builtin(name)
                if staged is not None:
                    options = {key: aware(value) for key, value in kwargs.items()}
                    answer = staged(*map(aware, args), **options)
                    if answer is not NotImplemented:
                        return answer
                    items = generator(same, args[0])
                    return consumed(function, name, (items, *args[1:]), kwargs)
            elif is_generator(argument):
                return consumed(function, name, args, kwargs)
        return builtin(*args, **kwargs)

    plain: Set[type] = PYTHON
    dispatching = function
    if name in METHODS:
        function = calling_methods(name, builtin, function)
    elif name in _LISTING:
        function = _listing(builtin, function)
    elif name == "map":
        return _named(name, _mapping(dispatching))
    elif name in _ASKING:
        function = _asking(name, function)
        plain = PYTHON - {list, tuple}
    elif name in _KEYING:
        function = _keying(name, function)
        plain = PYTHON - {list, tuple}
    return _named(name, _python_first(builtin, function, plain))


def _in_use(items: Any) -> int:
    """``len(items)``, but not of a list that another object stands for."""
    check_in_use(items)
    return len(items)


def _advance(items: Any, *default: Any) -> Any:
    """``next(items, default)``, which refusals can tell the line of."""
    note_change(items)
    return next(items, *default)


#: Python's builtins, with what the state of statements has to know of a call.
_BUILTINS: dict[str, Callable[..., Any]] = {"len": _in_use, "next": _advance}


def _python_first(
    builtin: Callable[..., Any], function: Callable[..., Any], plain: Set[type]
) -> Callable[..., Any]:
    """Calls the builtin itself if all arguments are of types of Python."""

    def first(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return function(*args, **kwargs)
        for argument in args:
            if type(argument) not in plain:
                return function(*args)
        return builtin(*args)

    return first


def _listing(
    builtin: Callable[..., Any], function: Callable[..., Any]
) -> Callable[..., Any]:
    """``list``, ``tuple`` and ``filter``: comprehensions over items of a graph.

    A backend that has the builtin is asked first: it copies a list in the graph.
    """

    def listing(*args: Any) -> Any:
        backend = backend_of(args[-1]) if args else None
        if backend is None or backend.builtin(builtin.__name__) is not None:
            return function(*args)
        if builtin is filter:
            condition = same if args[0] is None else call(args[0])
            return generator(same, args[1], condition)
        items = list_comp(same, *args)
        return items if builtin is list else builtin(items)

    return listing


def _mapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """``map``; its function may be a builtin that gets tensors."""

    def mapping(*args: Any) -> Any:
        return function(*(call(aware(mapped)) for mapped in args[:1]), *args[1:])

    return mapping


def _asking(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin, where the items of a list or tuple may be tensors."""

    def asking(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("key") is not None:
            kwargs["key"] = call(kwargs["key"])
        if name in _ORDERING and len(args) == 1 and _is_iterator(args[0]):
            args = (list(args[0]),)  # an iterator can be consumed only once
        try:
            return function(*args, **kwargs)
        except Exception:
            # Perhaps a tensor in a list was asked whether it is true.
            is_staged = any(map(backend_of, args))
            backend = None if is_staged else _asked_backend(args, kwargs.get("key"))
            staged = None if backend is None else backend.builtin(name)
            if staged is None:
                raise
        return staged(*args, **kwargs)

    return asking


def _is_iterator(items: Any) -> bool:
    """Whether ``items`` is an iterator, but no generator and no value of a library."""
    is_own = is_generator(items) or backend_of(items) is not None
    return isinstance(items, Iterator) and not is_own


def _keying(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin, where tensors in a list or tuple may become keys."""

    def keying(*args: Any, **kwargs: Any) -> Any:
        items = args[0] if len(args) == 1 and not kwargs else None
        if not isinstance(items, (list, tuple)) or backend_within(items) is None:
            return function(*args, **kwargs)
        return dict_of(*map(tuple, items)) if name == "dict" else set_of(*items)

    return keying


def _asked_backend(args: tuple[Any, ...], key: Any) -> Backend | None:
    """The backend of the compared values: the items, or the key of an item."""
    items = args[0] if len(args) == 1 else args
    if not isinstance(items, Collection):
        return None
    backend = next(filter(None, map(backend_within, items)), None)
    if backend is None and key is not None and items:
        backend = backend_within(key(next(iter(items))))
    return backend


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}``, answered by the arguments' library if it can."
    return function


def aware(value: Any) -> Any:
    """The function of this module for a builtin that is passed as a function.

    >>> aware(len)([1, 2]), aware(print) is print
    (2, False)
    """
    own = functions.get(getattr(value, "__name__", ""))
    return (
        own if own is not None and value is getattr(builtins, value.__name__) else value
    )


def _current(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Looks up the name at each call: the program may have rebound it.

    It may have done so in its module (``module.len = …``), or in `builtins`.
    """
    builtin = getattr(builtins, name)

    def current(*args: Any, **kwargs: Any) -> Any:
        module = frame_at(1).f_globals
        present = getattr(builtins, name, builtin)
        if name in module and not is_registered(module.get("__name__") or ""):
            present = module[name]
        if present is builtin:
            return function(*args, **kwargs)
        return call(present)(*args, **kwargs)

    return _named(name, current)


functions: dict[str, Callable[..., Any]] = {
    name: _current(name, function)
    for name, function in (
        *((name, _dispatching(name)) for name in _DISPATCHING),
        *classes.functions.items(),
        *text.functions.items(),
    )
}

#: The names for which conversion calls ``ag.<name>`` instead of the builtin.
NAMES = frozenset(functions)


# --- `Counter(items)` and `deque(items)`, of items in a graph


def _constructor(cls: type) -> Callable[..., Any]:
    def made(*args: Any, **options: Any) -> Any:
        if len(args) != 1 or options:
            return cls(*args, **options)
        (items,) = args
        if is_generated(items):
            items = list_comp(same, items)
        backend = backend_within(items)
        name = f"collections.{cls.__name__}"
        instead = None if backend is None else backend.builtin(name)
        return (cls if instead is None else instead)(items)

    return made


constructors.update({cls: _constructor(cls) for cls in (Counter, deque)})


# --- displays: `{k: v, **d}` and `{a, b}` with tensors for keys, `[*items, x]` --------


def dict_of(*entries: Any) -> Any:
    """``{k: v, **d}`` for the parts ``(k, v)`` and ``d``.

    >>> dict_of((1, 2), {3: 4}, (1, 5))
    {1: 5, 3: 4}
    """
    result: Any = {}
    for entry in entries:
        if type(entry) is tuple:
            result = _with(result, *entry)
        elif backend_of(entry) is not None:
            is_first = type(result) is dict and not result
            result = entry.copy() if is_first else result | entry
        else:
            for key in entry.keys():  # noqa: SIM118  # as ** does
                result = _with(result, key, entry[key])
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


def unpacked(items: Any, before: int, after: int) -> tuple[Any, ...]:
    """The values of ``a, *rest, b = items``: ``before`` items, a list, ``after`` items.

    >>> unpacked("abcd", 1, 2)
    ('a', ['b'], 'c', 'd')
    """
    if backend_of(items) is None or unrolled_items(items) is not None:
        names = [f"x{index}" for index in range(before + after)]
        target = ", ".join([*names[:before], "*rest", *names[before:]])
        return unpacking(f"{target},")(items)
    listed = functions["list"](items)
    length = functions["len"](listed)
    cond(length < before + after, lambda: _too_few(before + after, length))
    leading = [listed[index] for index in range(before)]
    trailing = [listed[index] for index in range(-after, 0)]
    return (*leading, listed[before : length - after], *trailing)


def _too_few(expected: int, length: Any) -> NoReturn:
    message = "not enough values to unpack (expected at least {}, got {})"
    raise ValueError(text.fstring(message, expected, length))


def list_of(*sequences: Any) -> Any:
    """``[*a, x, *b]`` for the parts ``a``, ``[x]`` and ``b``.

    >>> list_of((1, 2), [3], "ab")
    [1, 2, 3, 'a', 'b']
    """
    result: Any = []
    for sequence in sequences:
        if backend_of(sequence) is None and type(result) is list:
            result.extend(sequence)
        else:
            more = functions["list"](sequence)
            result = result + more if type(result) is not list or result else more
    return result
