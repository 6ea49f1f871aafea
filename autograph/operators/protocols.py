"""Methods of the user's whose result Python insists on: ``__bool__``, ``__len__``, ….

Python calls them by itself and takes a bool or a number only. Where a tensor comes out
of the converted method, that is the answer; anything else Python checks, as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .calls import call
from .classes import defines
from .dispatch import PYTHON, backend_of
from .state.retired import check_in_use

#: The methods that answer for a builtin: the first that a class has.
METHODS = {
    "bool": ("__bool__", "__len__"),
    "float": ("__float__",),
    "int": ("__int__",),
    "len": ("__len__",),
}


def calling_methods(
    name: str, builtin: Callable[..., Any], function: Callable[..., Any]
) -> Callable[..., Any]:
    """The builtin ``function``, calling the method of an object of the user's.

    ``function`` answers for tensors and all else; ``builtin`` is Python's.
    """

    def answer(*args: Any, **kwargs: Any) -> Any:
        method = _method(name, args[0]) if len(args) == 1 and not kwargs else None
        if method is None:
            return function(*args, **kwargs)
        target = call(method)
        if target is method:
            return function(*args, **kwargs)
        found = target(args[0])
        if backend_of(found) is not None:
            # What has a length is true where that is not 0.
            return function(found) if name != "len" else found
        return builtin(_returning(method.__name__, found))

    return answer


def truth_of(value: Any, merged: bool = False) -> Any:
    """The truth of a Python value; a value of a tensor library as it is.

    ``merged``: the result becomes state, where the library's value is to be a bool.

    >>> truth_of([]), truth_of("text")
    (False, True)
    """
    value = call_bool(value)
    backend = backend_of(value)
    if backend is None:
        return bool(value)
    as_bool = backend.builtin("bool") if merged else None
    return value if as_bool is None else as_bool(value)


def call_bool(value: Any) -> Any:
    """Call the user's ``__bool__`` in its converted form, which may give a tensor.

    Any other value is returned as it is.
    """
    if value is True or value is False:
        return value
    if type(value) in PYTHON or _method("bool", value) is None:
        check_in_use(value)
        return value
    return _called(value)


def _method(name: str, value: Any) -> FunctionType | None:
    """The method of the user's that answers for a builtin, if there is one."""
    cls = type(value)
    if defines(cls, "__autograph_backend__") or backend_of(value) is not None:
        return None
    asks = hasattr(type(cls), "__getattr__")
    for method_name in METHODS[name]:
        if asks and not defines(cls, method_name):
            continue
        method = getattr(cls, method_name, None)
        if method is not None:
            return method if type(method) is FunctionType else None
    return None


def _returning(method: str, value: Any) -> Any:
    """An object whose method returns a value."""
    return type("_Answer", (), {method: lambda self: value})()


_called = calling_methods("bool", bool, lambda found: found)
