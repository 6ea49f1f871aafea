"""``type(x)``, ``isinstance(x, C)`` and ``hasattr(x, name)``.

A library's object may stand for a Python value of another class, such as a list whose
length a tensor decides. The object tells that class by ``__autograph_type__()``, or
raises where no class is sure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .classes import defines
from .dispatch import PYTHON

__all__ = ["class_of", "functions"]


def _stands_for(value: Any) -> type | None:
    """The class of the Python value that an object stands for; None if for itself."""
    cls = type(value)
    if cls in PYTHON or not defines(cls, "__autograph_type__"):
        return None
    found: type = value.__autograph_type__()
    return found


def class_of(value: Any) -> type:
    """``value.__class__``.

    >>> class_of([])
    <class 'list'>
    """
    cls = _stands_for(value)
    return value.__class__ if cls is None else cls


def _type(value: Any, /) -> type:
    """``type(value)``."""
    return _stands_for(value) or type(value)


def _isinstance(value: Any, classes: Any, /) -> bool:
    """``isinstance(value, classes)``."""
    cls = _stands_for(value)
    return isinstance(value, classes) if cls is None else issubclass(cls, classes)


def _hasattr(value: Any, name: str, /) -> bool:
    """``hasattr(value, name)``.

    An instance of the class that it stands for has its own attributes. Other objects
    stand for instances of builtin classes, which have those of the class alone.
    """
    cls = _stands_for(value)
    if cls is None or isinstance(value, cls):
        return hasattr(value, name)
    return any(name in vars(base) for base in cls.__mro__)


functions: dict[str, Callable[..., Any]] = {
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "type": _type,
}
for _name, _function in functions.items():
    _function.__name__ = _function.__qualname__ = _name
