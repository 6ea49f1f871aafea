"""``and`` and ``or`` whose later operands bind variables: ``a and (n := f()) > 3``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .control_flow import staged_cond
from .dispatch import Backend, backend_of
from .state.variables import Variables
from .unbound import raise_as_python

Rest = tuple[Callable[[], Any], ...]


def and_binding(
    left: Any, *rest: Callable[[], Any], state: str, truth: bool = False
) -> Any:
    """``left and rest[0]() and …``, where the operands change the variables `state`.

    ``truth``: only the truth of the result is asked, as in an ``if``.

    >>> and_binding(1, lambda: [], state="")
    []
    """
    try:
        return _until(False, left, rest, state, truth)
    except NameError as error:
        raise_as_python(error, sys._getframe())
        raise


def or_binding(
    left: Any, *rest: Callable[[], Any], state: str, truth: bool = False
) -> Any:
    """``left or rest[0]() or …``, where the operands change the variables `state`.

    ``truth``: only the truth of the result is asked, as in an ``if``.

    >>> or_binding(0, lambda: "default", state="")
    'default'
    """
    try:
        return _until(True, left, rest, state, truth)
    except NameError as error:
        raise_as_python(error, sys._getframe())
        raise


def _until(end: bool, left: Any, rest: Rest, state: str, truth: bool) -> Any:
    """The first operand whose truth is `end` (or this truth), or the last one."""
    for position, right in enumerate(rest):
        backend = backend_of(left)
        if backend is not None:
            return _staged(backend, end, left, rest[position:], state, truth)
        if bool(left) is end:
            return end if truth else left
        left = right()
    return left


def _staged(
    backend: Backend, end: bool, left: Any, rest: Rest, state: str, truth: bool
) -> Any:
    def go_on() -> Any:
        return _until(end, rest[0](), rest[1:], state, truth)

    def keep() -> Any:
        return left

    branches = (keep, go_on) if end else (go_on, keep)
    return staged_cond(backend, left, *branches, Variables(state, rest))
