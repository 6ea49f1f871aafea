"""``and``, ``or``, ``not`` and comparison chains as functions.

The operands after the first are functions without parameters, evaluated only where
Python would evaluate them; the results are Python's too: one of the operands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .dispatch import backend_of

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda item, items: item in items,
    "not in": lambda item, items: item not in items,
}


def and_(left: Any, *rest: Callable[[], Any]) -> Any:
    """``left and rest[0]() and …``.

    >>> and_(1, lambda: [])
    []
    """
    for position, right in enumerate(rest):
        backend = backend_of(left)
        if backend is not None:
            later = rest[position + 1 :]
            return backend.and_(left, lambda: and_(right(), *later))
        if not left:
            return left
        left = right()
    return left


def or_(left: Any, *rest: Callable[[], Any]) -> Any:
    """``left or rest[0]() or …``.

    >>> or_(0, lambda: "default")
    'default'
    """
    for position, right in enumerate(rest):
        backend = backend_of(left)
        if backend is not None:
            later = rest[position + 1 :]
            return backend.or_(left, lambda: or_(right(), *later))
        if left:
            return left
        left = right()
    return left


def not_(value: Any) -> Any:
    """``not value``."""
    backend = backend_of(value)
    return not value if backend is None else backend.not_(value)


def compare(left: Any, *rest: Any) -> Any:
    """A comparison chain: ``left < middle < right`` with ``middle`` evaluated once.

    Args:
        left: the first operand.
        rest: operators as text, each followed by its operand; the operands after the
            second are functions without parameters.

    >>> compare(1, "<", 2, "<=", lambda: 2)
    True
    """
    symbol, middle, *later = rest
    result = _COMPARISONS[symbol](left, middle)
    if not later:
        return result
    following, right, *others = later
    return and_(result, lambda: compare(middle, following, right(), *others))
