"""``and``, ``or``, ``not`` and comparison chains as functions.

The operands after the first are functions without parameters, evaluated only where
Python would evaluate them; the results are Python's too: one of the operands.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .dispatch import backend_of
from .membership import in_, not_in
from .none_tests import is_, is_not
from .operands import staged_and, staged_or
from .protocols import deciding
from .unbound import raise_as_python

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": is_,
    "is not": is_not,
    "in": in_,
    "not in": not_in,
}


def and_(left: Any, *rest: Callable[[], Any]) -> Any:
    """``left and rest[0]() and …``.

    >>> and_(1, lambda: [])
    []
    """
    try:
        for position, right in enumerate(rest, 1):
            backend = backend_of(left)
            if backend is not None:
                later = _rest_of(and_, right, rest[position:])
                return staged_and(backend, left, later)
            if not left:
                return left
            left = right()
        return left
    except NameError as error:
        raise_as_python(error, sys._getframe())
        raise


def or_(left: Any, *rest: Callable[[], Any]) -> Any:
    """``left or rest[0]() or …``.

    >>> or_(0, lambda: "default")
    'default'
    """
    try:
        for position, right in enumerate(rest, 1):
            backend = backend_of(left)
            if backend is not None:
                later = _rest_of(or_, right, rest[position:])
                return staged_or(backend, left, later)
            if left:
                return left
            left = right()
        return left
    except NameError as error:
        raise_as_python(error, sys._getframe())
        raise


def all_of(left: Any, *rest: Callable[[], Any]) -> Any:
    """``left and rest[0]() and …`` where only its truth is asked, as in an ``if``.

    What was found to be false is not given back, so that nobody asks it again.

    >>> all_of(1, lambda: [], lambda: "never asked for")
    False
    """
    try:
        for position, right in enumerate(rest, 1):
            left = deciding(left)
            backend = backend_of(left)
            if backend is not None:
                later = _rest_of(all_of, right, rest[position:])
                return staged_and(backend, left, later)
            if not left:
                return False
            left = right()
        return left
    except NameError as error:
        raise_as_python(error, sys._getframe())
        raise


def any_of(left: Any, *rest: Callable[[], Any]) -> Any:
    """``left or rest[0]() or …`` where only its truth is asked, as in an ``if``.

    >>> any_of(1, lambda: "never asked for")
    True
    """
    try:
        for position, right in enumerate(rest, 1):
            left = deciding(left)
            backend = backend_of(left)
            if backend is not None:
                later = _rest_of(any_of, right, rest[position:])
                return staged_or(backend, left, later)
            if left:
                return True
            left = right()
        return left
    except NameError as error:
        raise_as_python(error, sys._getframe())
        raise


def not_(value: Any) -> Any:
    """``not value``."""
    value = deciding(value)
    backend = backend_of(value)
    return not value if backend is None else backend.not_(value)


def compare(left: Any, *rest: Any, truth: bool = False) -> Any:
    """A comparison chain: ``left < middle < right`` with ``middle`` evaluated once.

    Args:
        left: the first operand.
        rest: operators as text, each followed by its operand; the operands after the
            second are functions without parameters.
        truth: only the truth of the result is asked, as in an ``if``.

    >>> compare(1, "<", 2, "<=", lambda: 2)
    True
    """
    symbol, middle, *later = rest
    result = _COMPARISONS[symbol](left, middle)
    try:
        while later:
            symbol, right, *later = later
            backend = backend_of(result)
            if backend is not None:
                chain = functools.partial(compare, middle, symbol)
                return staged_and(backend, result, _rest_of(chain, right, later))
            if not result:
                return False if truth else result
            left, middle = middle, right()
            result = _COMPARISONS[symbol](left, middle)
        return result
    except NameError as error:
        raise_as_python(error, sys._getframe())
        raise


def _rest_of(
    operator: Callable[..., Any], right: Callable[[], Any], later: Sequence[Any]
) -> Callable[[], Any]:
    """What is still to be evaluated, as a function."""
    return lambda: operator(right(), *later)
