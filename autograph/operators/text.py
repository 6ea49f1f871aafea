"""Text made of values: f-strings, ``str``, ``format``, ``%``, ``join`` and ``print``.

Python formats Python values. Where a tensor is among them, or within a list, tuple,
dict or dataclass, its library makes a text that is known when the graph runs.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

from .dispatch import Backend, backend_of

_ATOMS = frozenset({bool, int, float, complex, str, bytes, range, type(None)})
_ITEMS = (list, tuple, set, frozenset)


def fstring(template: str, /, *values: Any, **named: Any) -> Any:
    """``template.format(*values, **named)``, and what f-strings become.

    >>> fstring("step {}: {:.2f}", 3, 0.5)
    'step 3: 0.50'
    """
    backend = _backend_within(values) or (_backend_within(named.values()))
    if backend is not None:
        staged = backend.builtin("fstring")
        if staged is not None:
            return staged(template, *values, **named)
    return template.format(*values, **named)


def percent(template: Any, values: Any) -> Any:
    """``template % values`` of a text.

    >>> percent("%s of %d", (1, 3))
    '1 of 3'
    """
    backend = _backend_within((values,))
    if backend is not None:
        staged = backend.builtin("percent")
        if staged is not None:
            return staged(template, values)
    return template % values


def join(separator: str, items: Any) -> Any:
    """``separator.join(items)`` of a text.

    >>> join(", ", ["a", "b"])
    'a, b'
    """
    if type(items) not in (list, tuple) and backend_of(items) is None:
        if not isinstance(items, Iterable):
            return separator.join(items)
        items = list(items)
    backend = _backend_within((items,))
    if backend is not None:
        staged = backend.builtin("join")
        if staged is not None:
            return staged(separator, items)
    return separator.join(items)


def _dispatching(name: str) -> Callable[..., Any]:
    builtin: Callable[..., Any] = getattr(builtins, name)

    def function(*values: Any, **options: Any) -> Any:
        backend = _backend_within(values)
        if backend is not None:
            staged = backend.builtin(name)
            if staged is not None:
                return staged(*values, **options)
        return builtin(*values, **options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}``, answered by the values' library if it can."
    return function


#: Builtins that make or show text, by name.
functions: dict[str, Callable[..., Any]] = {
    name: _dispatching(name) for name in ("format", "print", "repr", "str")
}


def _backend_within(values: Iterable[Any]) -> Backend | None:
    """The backend that answers for one of the values or for what it holds."""
    for value in values:
        if type(value) not in _ATOMS:
            backend = backend_of(value) or _backend_inside(value, ())
            if backend is not None:
                return backend
    return None


def _backend_inside(value: Any, around: tuple[Any, ...]) -> Backend | None:
    """The backend of something in a structure, which may hold itself."""
    inside: Iterable[Any]
    if isinstance(value, _ITEMS):
        inside = value
    elif isinstance(value, dict):
        inside = value.values()
    elif hasattr(type(value), "__dataclass_fields__"):
        inside = vars(value).values() if hasattr(value, "__dict__") else ()
    else:
        return None
    if any(value is outer for outer in around):
        return None
    around = (*around, value)
    for item in inside:
        if type(item) not in _ATOMS:
            backend = backend_of(item) or _backend_inside(item, around)
            if backend is not None:
                return backend
    return None
