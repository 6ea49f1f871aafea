"""Text made of values: f-strings, ``str``, ``format``, ``%``, ``join`` and ``print``.

Converted code calls these functions. Python formats Python values. Where a tensor is
among them, or within a list, tuple, dict or dataclass, its library makes a text when
the graph runs.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from .calls import call, tell
from .classes import attributes_of, defines
from .comprehensions import list_comp
from .dispatch import Backend, backend_of, tracing_by
from .generators import is_generator, same

_ATOMS = frozenset({bool, int, float, complex, str, bytes, range, type(None)})
_ITEMS = (list, tuple, set, frozenset)


def fstring(template: str, /, *values: Any, **named: Any) -> Any:
    """``template.format(*values, **named)``; f-strings become calls of it.

    >>> fstring("step {}: {:.2f}", 3, 0.5)
    'step 3: 0.50'
    """
    staged = _answer_for("fstring", (*values, *named.values()))
    if staged is None:
        return template.format(*values, **named)
    named = {name: _Object.of(value) for name, value in named.items()}
    return staged(template, *map(_Object.of, values), **named)


def percent(template: Any, values: Any) -> Any:
    """``template % values`` of a text.

    >>> percent("%s of %d", (1, 3))
    '1 of 3'
    """
    staged = _answer_for("percent", (values,))
    return template % values if staged is None else staged(template, values)


def join(separator: str, items: Any) -> Any:
    """``separator.join(items)`` of a text.

    >>> join(", ", ["a", "b"])
    'a, b'
    """
    if type(items) not in (list, tuple) and backend_of(items) is None:
        if not isinstance(items, Iterable):
            return separator.join(items)
        items = list_comp(same, items) if is_generator(items) else list(items)
    staged = _answer_for("join", (items,))
    return separator.join(items) if staged is None else staged(separator, items)


def _dispatching(name: str) -> Callable[..., Any]:
    builtin: Callable[..., Any] = getattr(builtins, name)

    def function(*values: Any, **options: Any) -> Any:
        staged = _answer_for(name, values)
        if staged is None and name == "print":
            backend = tracing_by.get()
            staged = None if backend is None else backend.builtin(name)
        if staged is None:
            return builtin(*values, **options)
        return staged(*map(_Object.of, values), **options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}``, answered by the values' library if it can."
    return function


#: Builtins that make or show text, by name.
functions: dict[str, Callable[..., Any]] = {
    name: _dispatching(name) for name in ("format", "print", "repr", "str")
}


class _Object:
    """A user's object with a ``__str__``, ``__repr__`` or ``__format__`` of its own.

    These methods are called in their converted form; Python would not convert them.
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    @classmethod
    def of(cls, value: Any) -> Any:
        """A wrapper for such an object; any other value itself."""
        return cls(value) if _shows_itself(value) and not backend_of(value) else value

    def __autograph_text__(self, conversion: str, spec: str) -> Any:
        """The text of the object in a field with this conversion and format spec."""
        value, kind = self._value, type(self._value)
        if not conversion and type(kind.__format__) is FunctionType:
            return call(kind.__format__)(value, spec)
        if spec or conversion == "a":
            return format(builtins.ascii(value) if conversion else value, spec)
        if conversion != "r" and type(kind.__str__) is FunctionType:
            return call(kind.__str__)(value)
        shown: Any = kind.__repr__
        return call(shown)(value)

    def __str__(self) -> str:
        return builtins.str(self._value)

    def __repr__(self) -> str:
        return builtins.repr(self._value)


def _shows_itself(value: Any) -> bool:
    kind = type(value)
    if kind in _ATOMS or defines(kind, "__dataclass_fields__"):
        return False
    return any(type(method) is FunctionType for method in _shows(kind))


def _shows(kind: Any) -> tuple[Any, ...]:
    """The methods of a class that make texts of its objects."""
    return kind.__format__, kind.__str__, kind.__repr__


def _answer_for(name: str, values: Iterable[Any]) -> Callable[..., Any] | None:
    """The operation of the library of a value, or of a part of one; None if none."""
    backend = _backend_among(values, ())
    return None if backend is None else backend.builtin(name)


def _backend_among(values: Iterable[Any], around: tuple[Any, ...]) -> Backend | None:
    """The backend of one of the values, or of a part of it.

    ``around`` has the structures around the values: a structure may hold itself.
    """
    for value in values:
        if type(value) not in _ATOMS:
            backend = backend_of(value) or _backend_inside(value, around)
            if backend is not None:
                return backend
    return None


def _backend_inside(value: Any, around: tuple[Any, ...]) -> Backend | None:
    """The backend of a part of a structure."""
    parts: Iterable[Any]
    if issubclass(type(value), _ITEMS):
        parts = value
    elif issubclass(type(value), dict):
        parts = value.values()
    elif defines(type(value), "__dataclass_fields__"):
        tell(*_shows(type(value)))
        parts = (attributes_of(value) or {}).values()
    elif _shows_itself(value):
        tell(*_shows(type(value)))
        # Only its own attributes: they may refer to the whole program.
        variables = attributes_of(value) or {}
        return next(filter(None, map(backend_of, variables.values())), None)
    else:
        return None
    if any(value is outer for outer in around):
        return None
    return _backend_among(parts, (*around, value))
