"""Functions and classes of libraries, for which a tensor library may answer.

    math.sqrt(x), functools.reduce(combine, xs), np.dot(a, b)

`calls.call` wraps such a function with `of_library`. Where a tensor is among the
arguments, or in a list among them, its library is asked for a function by the name:
``"math.sqrt"``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .builtins import aware
from .builtins import functions as builtin_functions
from .calls import call, set_library
from .comprehensions import generator
from .consumers import whole
from .dispatch import backend_of
from .generators import StagedGenerator, is_generator, same
from .items import backend_within, item

#: Functions that iterate lazily, and may stop early.
_ITERATING = ("itertools.", "heapq.merge")
#: Those of them that consume all items at once.
_COPYING = tuple(
    f"itertools.{name}"
    for name in ("combinations", "permutations", "product", "repeat")
)


def of_library(function: Any, name: str) -> Callable[..., Any]:
    """A function or class of a library, wrapped so that it accepts tensors.

    >>> import bisect
    >>> of_library(bisect.bisect_left, "bisect.bisect_left")([1, 3], 2)
    1
    """
    if name in _GETTERS:
        keys, options = _arguments(function)
        getter: Callable[..., Any] = _GETTERS[name](keys, options)
        return getter
    iterates = name.startswith(_ITERATING)

    def staged(*args: Any, **options: Any) -> Any:
        args = tuple(_argument(value, name) for value in args)
        options = {key: _argument(value, name) for key, value in options.items()}
        backend = backend_within((*args, *options.values()))
        instead = None if backend is None else backend.builtin(name)
        if instead is None:
            return function(*args, **options)
        result = instead(*args, **options)
        if iterates and backend_of(result) is not None:
            # Like Python's iterator, the result can be consumed only once.
            items = generator(same, result)
            if type(items) is StagedGenerator and not name.startswith(_COPYING):
                items.watch((*args, *options.values()))
            return items
        return result

    return staged


def _argument(value: Any, name: str) -> Any:
    """A generator as a list, and a function in its converted form.

    Functions that iterate lazily get Python's generators, which may be endless.
    Arguments of `operator` functions are values, whether or not they can be called.
    """
    if is_generator(value):
        is_staged = name.startswith(_ITERATING) or type(value) is StagedGenerator
        return whole(value) if is_staged else builtin_functions["list"](value)
    is_value = name.startswith("operator.") and name != "operator.call"
    is_function = callable(value) and not isinstance(value, type)
    return call(aware(value)) if is_function and not is_value else value


# --- operator.itemgetter and operator.methodcaller ------------------------------------


def _arguments(getter: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword arguments of a getter."""
    make, args = getter.__reduce__()
    if isinstance(make, functools.partial):  # of a method that is given options
        return (*make.args, *args), make.keywords
    return args, {}


def _itemgetter(keys: tuple[Any, ...], _: Any) -> Callable[[Any], Any]:
    if len(keys) == 1:
        return lambda items: item(items, keys[0])
    return lambda items: tuple(item(items, key) for key in keys)


def _methodcaller(args: tuple[Any, ...], options: Any) -> Callable[[Any], Any]:
    name, *others = args
    return lambda value: call(getattr(value, name))(*others, **options)


_GETTERS: dict[str, Callable[[tuple[Any, ...], Any], Any]] = {
    "operator.itemgetter()": _itemgetter,
    "operator.methodcaller()": _methodcaller,
}

set_library(of_library, aware)
