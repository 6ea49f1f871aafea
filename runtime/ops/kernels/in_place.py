"""Kernels that change an array where their caller gives it away.

An executor that knows of no later use of an array calls
`Op.kernel_in_place`, with the array in a variable of its own. It is copied only if
somebody else holds it: another variable, a constant, a caller, a view.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _references(array: Array, other: Any) -> int:
    return sys.getrefcount(array)


def _references_of_one_variable() -> int:
    """What a kernel counts for an array that only a variable of its caller holds.

    It depends on how this Python passes arguments, so a call like those to come tells.
    """
    alone = np.zeros(1)
    return _references(alone, 0)


_ALONE = _references_of_one_variable()


def _is_only_view(base: Array) -> bool:
    """Whether nobody but one view, and the variable of the caller, holds an array."""
    return base.base is None and sys.getrefcount(base) <= _ONE_VIEW


def _references_of_one_view() -> int:
    view = np.zeros(2)[1:]
    base: Any = view.base
    return _references(base, 0)


_ONE_VIEW = _references_of_one_view()


def in_place(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel for callers that give away the first argument, a variable of theirs.

    `kernel` takes ``owned``, whether it may change the array.
    """

    def write(array: Array, *rest: Any, **attrs: Any) -> Any:
        # Views of an array hold it: none is there if only this variable does.
        owned = sys.getrefcount(array) <= _ALONE
        base = getattr(array, "base", 0)
        if base is not None:
            owned = owned and type(base) is np.ndarray and _is_only_view(base)
        return kernel(array, *rest, owned=owned, **attrs)

    return write
