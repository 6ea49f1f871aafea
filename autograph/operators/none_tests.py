"""``x is None`` and ``x is y`` where a tensor decides what a variable is."""

from __future__ import annotations

from typing import Any

from .classes import defines
from .dispatch import PYTHON, backend_of

__all__ = ["is_", "is_none", "is_not", "is_not_none"]


def is_none(value: Any) -> Any:
    """``value is None``.

    >>> is_none(None), is_none(0)
    (True, False)
    """
    if value is None:
        return True
    backend = backend_of(value)
    if backend is None:
        return False
    staged = backend.builtin("is_none")
    return False if staged is None else staged(value)


def is_not_none(value: Any) -> Any:
    """``value is not None``."""
    if value is None:
        return False
    backend = backend_of(value)
    if backend is None:
        return True
    staged = backend.builtin("is_not_none")
    return True if staged is None else staged(value)


def is_(left: Any, right: Any) -> Any:
    """``left is right``.

    What stands for an object that a tensor chose answers by ``__autograph_is__``.

    >>> one = []
    >>> is_(one, one), is_(one, [])
    (True, False)
    """
    if left is right:
        return True
    if left is None or right is None:
        return is_none(right if left is None else left)
    for one, other in ((left, right), (right, left)):
        cls = type(one)
        if cls not in PYTHON and defines(cls, "__autograph_is__"):
            return cls.__autograph_is__(one, other)
    return False


def is_not(left: Any, right: Any) -> Any:
    """``left is not right``."""
    if left is None or right is None:
        return is_not_none(right if left is None else left)
    same = is_(left, right)
    backend = backend_of(same)
    return not same if backend is None else backend.not_(same)
