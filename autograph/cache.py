"""Conversions of function objects, one for each code object."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from . import operators
from .operators.calls import CONVERTED
from .options import DEFAULT, ConversionOptions
from .pipeline import convert_callable

_Binder = Callable[[FunctionType], FunctionType]

#: By identity: comparing code objects is slow. The code is kept, so that it stays it.
_binders: dict[tuple[int, ConversionOptions], tuple[CodeType, _Binder]] = {}
_lock = threading.RLock()


def converted(function: FunctionType, options: ConversionOptions = DEFAULT) -> Any:
    """The converted form of a function object: the same object each time it is asked.

    Raises:
        SourceError: its source is not available.
        ConversionError: it cannot be converted.
    """
    with _lock:
        if is_converted(function):
            return function
        known = function.__dict__.get(CONVERTED)
        if known is not None and known.__wrapped__ is function and options == DEFAULT:
            return known
        key = (id(function.__code__), options)
        entry = _binders.get(key)
        if entry is None:
            entry = (function.__code__, convert_callable(function, options))
            _binders[key] = entry
        new = entry[1](function)
        new.__dict__[CONVERTED] = new
        if options == DEFAULT:
            function.__dict__[CONVERTED] = new
        return new


def is_converted(function: FunctionType) -> bool:
    """Whether a function is the result of a conversion, or part of one."""
    if function.__dict__.get(CONVERTED) is function:
        return True
    return _calls_operators(function.__code__, function)


def _calls_operators(code: CodeType, function: FunctionType) -> bool:
    """Whether the code reaches the operators by a name of its closure or module."""
    closure = zip(
        function.__code__.co_freevars, function.__closure__ or (), strict=True
    )
    for name, cell in closure:
        if name.startswith("ag") and _holds_operators(cell):
            return True
    names = _global_names(code)
    namespace = function.__globals__
    return any(
        name.startswith("ag") and namespace.get(name) is operators for name in names
    )


def _holds_operators(cell: Any) -> bool:
    try:
        return cell.cell_contents is operators
    except ValueError:
        return False


def _global_names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _global_names(constant)
    return names
