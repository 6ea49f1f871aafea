"""``==`` and ``!=`` of lists and tuples, whose items may be tensors."""

from __future__ import annotations

import functools
from typing import Any

from .dispatch import backend_of
from .logical import and_, not_


def eq(left: Any, right: Any) -> Any:
    """``left == right``: item by item where Python would ask tensors.

    >>> eq((1, [2]), (1, [2]))
    True
    """
    kind = type(left)
    if kind is not type(right) or kind not in (list, tuple):
        return left == right
    try:
        return left == right
    except Exception:
        # Perhaps a tensor among the items was asked whether it is true.
        if not _has_tensor(left) and not _has_tensor(right):
            raise
    if len(left) != len(right):
        return False
    answer: Any = True
    for one, other in zip(left, right):
        same = functools.partial(_same, one, other)
        answer = and_(answer, same)
    return answer


def _same(one: Any, other: Any) -> Any:
    return one is other or eq(one, other)


def not_eq(left: Any, right: Any) -> Any:
    """``left != right``.

    >>> not_eq((1, 2), (1, 3))
    True
    """
    same = eq(left, right)
    if type(same) is bool or backend_of(same) is not None:
        return not_(same)
    return left != right


def _has_tensor(items: Any) -> bool:
    if type(items) in (list, tuple):
        return any(map(_has_tensor, items))
    return backend_of(items) is not None
