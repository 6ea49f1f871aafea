"""Comparisons where a tensor may decide: ``==``, ``in``, ``is`` and chains of them.

Converted code calls these functions. Python compares Python values, also containers
that hold tensors, as long as the comparison needs no tensor's truth.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Sequence
from types import FunctionType
from typing import Any

from .calls import call
from .classes import defines
from .dispatch import PYTHON, Backend, answer_for, backend_of
from .items import key_backend
from .logical import and_, not_, or_, staged_and
from .state.retired import check_in_use
from .unbound import raise_as_python

#: Containers without tensors as items or keys: tensors have no hash.
_HASHED = frozenset({dict, set, frozenset})


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
                first = functools.partial(compare, middle, symbol)
                return staged_and(backend, result, _rest_of(first, right, later))
            if not result:
                return False if truth else result
            left, middle = middle, right()
            result = _COMPARISONS[symbol](left, middle)
        return result
    except NameError as error:
        raise_as_python(error)
        raise


def _rest_of(
    compare: Callable[..., Any], right: Callable[[], Any], later: Sequence[Any]
) -> Callable[[], Any]:
    """The remaining comparisons of a chain, as an operand."""
    return lambda: compare(right(), *later)


# --- == and != ------------------------------------------------------------------------


def eq(left: Any, right: Any) -> Any:
    """``left == right``: item by item where Python would ask tensors.

    >>> eq((1, [2]), (1, [2]))
    True
    """
    left, right = _plain(left), _plain(right)
    kind = type(left)
    if kind is not type(right) or kind not in (dict, list, tuple):
        return left == right
    check_in_use(left)
    check_in_use(right)
    try:
        return left == right
    except Exception:
        # Perhaps a tensor among the items was asked whether it is true.
        if not _has_tensor(left) and not _has_tensor(right):
            raise
    if len(left) != len(right):
        return False
    pairs: Any = zip(left, right)
    if kind is dict:
        if left.keys() != right.keys():
            return False
        pairs = ((value, right[key]) for key, value in left.items())
    answer: Any = True
    for one, other in pairs:
        same = functools.partial(_same, one, other)
        answer = and_(answer, same)
    return answer


def _plain(value: Any) -> Any:
    """The plain list or dict behind a library's copy; any other value itself."""
    is_copy = isinstance(value, (list, dict)) and defines(type(value), "__plain__")
    return value.__plain__() if is_copy else value


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
    if type(items) is dict:
        return any(map(_has_tensor, items.values()))
    if type(items) in (list, tuple):
        return any(map(_has_tensor, items))
    return backend_of(items) is not None


# --- is -------------------------------------------------------------------------------


def is_none(value: Any) -> Any:
    """``value is None``.

    >>> is_none(None), is_none(0)
    (True, False)
    """
    if value is None:
        return True
    staged = answer_for("is_none", value)
    return False if staged is None else staged(value)


def is_not_none(value: Any) -> Any:
    """``value is not None``."""
    if value is None:
        return False
    staged = answer_for("is_not_none", value)
    return True if staged is None else staged(value)


def is_(left: Any, right: Any) -> Any:
    """``left is right``.

    A stand-in for an object that a tensor chose answers by ``__autograph_is__``.

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


# --- in -------------------------------------------------------------------------------


def in_(item: Any, items: Any) -> Any:
    """``item in items``.

    A tensor is looked for by ``==`` among the items of a sequence, the keys of a dict
    or the rows of a tensor.

    >>> in_(2, [1, 2, 3])
    True
    """
    if type(item) in PYTHON:
        if type(items) in _HASHED:
            if type(item) is tuple:
                backend = key_backend(item)
                if backend is not None:
                    return _staged(backend, item, items)
            return item in items
        if type(items) in PYTHON:
            return _in_python(item, items)
    backend = backend_of(items)
    if backend is None:
        cls: Any = type(items)
        if defines(cls, "__contains__") and type(cls.__contains__) is FunctionType:
            return _answer_of(cls.__contains__, item, items)
        backend = backend_of(item)
        if backend is None:
            return _in_python(item, items)
    return _staged(backend, item, items)


def not_in(item: Any, items: Any) -> Any:
    """``item not in items``.

    >>> not_in(2, [1, 2, 3])
    False
    """
    kind = type(item)
    if kind in PYTHON and type(items) in _HASHED and kind is not tuple:
        return item not in items
    answer = in_(item, items)
    backend = backend_of(answer)
    return not answer if backend is None else backend.not_(answer)


def _in_python(item: Any, items: Any) -> Any:
    try:
        return item in items
    except Exception:
        # Perhaps a tensor among the items was asked whether it is true.
        if not isinstance(items, Collection):
            raise
        backend = next(filter(None, map(backend_of, items)), None)
        is_sequence = isinstance(items, (list, tuple))
        by_items = _stands_for_object(item) or _is_compared_by_items(item, items)
        if backend is None and not (is_sequence and by_items):
            raise
    if backend is None:
        return or_(False, *(functools.partial(_same, item, other) for other in items))
    return _staged(backend, item, items)


def _is_compared_by_items(item: Any, items: Any) -> bool:
    """Whether an item is a list or tuple whose comparison may need a tensor."""
    is_list = type(item) in (list, tuple)
    return is_list and (_has_tensor(item) or any(map(_has_tensor, items)))


def _stands_for_object(item: Any) -> bool:
    return defines(type(item), "__autograph_is__")


def _answer_of(contains: Callable[..., Any], item: Any, items: Any) -> Any:
    answer = call(contains)(items, item)
    backend = backend_of(answer)
    return bool(answer) if backend is None else backend.not_(backend.not_(answer))


def _staged(backend: Backend, item: Any, items: Any) -> Any:
    search = backend.builtin("in")
    return item in items if search is None else search(item, items)


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
