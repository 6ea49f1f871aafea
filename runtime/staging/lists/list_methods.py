"""Methods of Python lists that depend on tensors: ``items.sort()``, ``items.pop(i)``.

`staging.compiler.backend` looks them up by name. They change the items of the list, and
keep the object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.location.user_code import state_error
from runtime.core.tensor import Tensor
from runtime.ops.convert import is_tensor
from runtime.staging.builtins.functions import BUILTINS
from runtime.staging.library.ordering import listed
from runtime.staging.lists.assignments import delitem, inserted, popped
from runtime.staging.lists.staged_list import StagedList


def _sort(items: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    items[:] = BUILTINS["sorted"](items, key=key, reverse=reverse)


def _index(items: Sequence[Any], value: Any, *within: Any) -> Any:
    if not items:
        return items.index(value, *within)
    message = None
    if isinstance(items, tuple):
        message = "tuple.index(x): x not in tuple"
    return _searched(items).index(value, *within, message=message)


def _count(items: Sequence[Any], value: Any) -> Any:
    return _searched(items).count(value) if items else 0


def _remove(items: list[Any], value: Any) -> None:
    if not items:
        items.remove(value)
    delitem(items, (_searched(items).place_to_remove(value),))


def _insert(items: list[Any], index: Any, value: Any) -> None:
    if is_tensor(index) and items:
        inserted(items, index, value)
    elif items:
        items.insert(index, value)
    else:
        items.append(value)


def _pop(items: list[Any], index: Any = -1) -> Any:
    if is_tensor(index) and items:
        return popped(items, index)
    return items.pop(index) if items else items.pop()


def _extend(items: list[Any], values: Any) -> None:
    if is_tensor(values) and values.shape.rank and values.shape[0] is not None:
        items.extend(values)
        return
    raise state_error(
        "AG210",
        "a list is extended by items that a tensor counts, which makes another list "
        "of it in a graph",
        "assign it: `items = items + list(values)`",
    )


def _searched(items: Sequence[Any]) -> StagedList:
    return StagedList.of(list(items), "items", None)


def method_of_list(tensor: Tensor, name: str) -> Callable[..., Any]:
    """``tensor.name`` of a tensor that stands for a list: a method of its items.

    Only methods that do not change the list are asked for.
    """

    def method(*args: Any) -> Any:
        items = listed(tensor)
        if isinstance(items, StagedList):
            return getattr(items, name)(*args)
        if name == "copy":
            return items.copy(*args)
        return METHODS[f"list.{name}"](items, *args)

    method.__name__ = method.__qualname__ = name
    return method


#: By the names that the compiler asks for.
METHODS: dict[str, Callable[..., Any]] = {
    "deque.count": _count,
    "deque.index": _index,
    "list.count": _count,
    "list.extend": _extend,
    "list.index": _index,
    "list.insert": _insert,
    "list.pop": _pop,
    "list.remove": _remove,
    "list.sort": _sort,
    "tuple.count": _count,
    "tuple.index": _index,
}
