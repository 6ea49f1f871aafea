"""``x is None`` of a variable that may be None as a tensor decides."""

from __future__ import annotations

from typing import Any

from .dispatch import backend_of

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
    """``left is right`` within a chain."""
    if left is None or right is None:
        return is_none(right if left is None else left)
    return left is right


def is_not(left: Any, right: Any) -> Any:
    """``left is not right`` within a chain."""
    if left is None or right is None:
        return is_not_none(right if left is None else left)
    return left is not right
