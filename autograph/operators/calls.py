"""``ag.call(f)``: what converted code calls in place of ``f``.

A function of the user becomes its converted form; anything else is itself. Conversion
needs the compiler, which registers itself here when it is imported; a built module that
runs without the compiler calls its functions as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

Converter = Callable[[FunctionType], Callable[..., Any]]

#: The attribute of a function that holds its converted form: itself, if it is one.
CONVERTED = "__autograph_converted__"

_converter: Converter | None = None


def set_converter(converter: Converter) -> None:
    """Register the compiler: what turns a Python function into its converted form."""
    global _converter
    _converter = converter


def call(function: Any) -> Any:
    """What to call in place of ``function``: its converted form where it has one.

    Python functions, bound methods, partials and objects with a ``__call__`` of the
    user's are converted on first use; builtins, classes and library code are returned
    as they are.

    Raises:
        ConversionError: the function is the user's own and cannot be converted.
    """
    if type(function) is FunctionType:
        converted = function.__dict__.get(CONVERTED)
        # functools.wraps copies the attribute to wrappers: check whose it is.
        if converted is not None and (
            converted is function or converted.__wrapped__ is function
        ):
            return converted
        return function if _converter is None else _converter(function)
    if type(function) is MethodType:
        target = call(function.__func__)
        if target is function.__func__:
            return function
        return MethodType(target, function.__self__)
    return _call_object(function)


def _call_object(function: Any) -> Any:
    cls = type(function)
    if cls is functools.partial:
        target = call(function.func)
        if target is function.func:
            return function
        return functools.partial(target, *function.args, **function.keywords)
    method = getattr(cls, "__call__", None)
    if type(method) is FunctionType and not isinstance(function, type):
        target = call(method)
        return function if target is method else MethodType(target, function)
    return function
