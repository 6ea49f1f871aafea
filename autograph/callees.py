"""What converted code calls in place of the functions that it meets.

`ag.call(f)` asks `called`, once for each function of the user's: importing this module
registers it. It is light: the compiler is loaded when there is something to convert, so
a package that the import hook loads from its cache does not load it.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any
from weakref import WeakSet

from . import operators
from .errors import SourceError
from .library import needs_no_conversion
from .operators.calls import settle
from .options import DEFAULT, ConversionOptions

_as_they_are: WeakSet[FunctionType] = WeakSet()


def called(function: FunctionType, options: ConversionOptions) -> Any:
    """The converted form of a function of the user's; any other function itself.

    Library code, code that is converted already and code whose source is not available
    are called as they are.

    Raises:
        ConversionError: the function cannot be converted.
    """
    if options is not DEFAULT:
        return _decided(function, options)
    if function in _as_they_are:
        return function
    target = _decided(function, options)
    if target is function:
        _as_they_are.add(function)
    return target


def _decided(function: FunctionType, options: ConversionOptions) -> Any:
    if is_from_converted_module(function.__globals__):
        settle(function)  # also in site-packages, where the others are library code
        return function
    if needs_no_conversion(function, options):
        return function
    from .cache import converted  # the compiler

    try:
        return converted(function, options)
    except SourceError:
        return function  # exact on Python values; control flow on a tensor raises there


def is_from_converted_module(namespace: dict[str, Any]) -> bool:
    """Whether the import hook converted the module with these globals."""
    spec = namespace.get("__spec__")
    return getattr(getattr(spec, "loader", None), "converts", False) is True


operators.set_converter(called)
