"""Python's builtins of lists whose length a tensor decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.staging.lists import StagedList
from runtime.subgraph import predicate

__all__ = ["OF_LISTS", "for_lists"]

Builtin = Callable[..., Any]


def for_lists(name: str, staged: Builtin | None) -> Builtin | None:
    """The staged builtin ``name``, such that it can be given lists, too."""
    own = OF_LISTS.get(name)
    if staged is None:
        return None

    def builtin(*args: Any, **options: Any) -> Any:
        if any(isinstance(arg, StagedList) for arg in args):
            found = NotImplemented if own is None else own(*args, **options)
            if found is not NotImplemented:
                return found
            args = tuple(map(_items, args))
        return staged(*args, **options)

    return builtin


def _items(value: Any) -> Any:
    return value.sequence() if isinstance(value, StagedList) else value


def _sum(items: StagedList, /, start: Any = 0) -> Any:
    return items.sum(start)


def _sorted(items: StagedList, /, *, key: Any = None, reverse: bool = False) -> Any:
    result = items.copy()
    result.sort(key=key, reverse=reverse)
    return result


def _in(item: Any, items: Any) -> Any:
    return items.contains(item) if isinstance(items, StagedList) else NotImplemented


#: The builtins of a list that are not those of a sequence of its items.
OF_LISTS: dict[str, Builtin] = {
    "bool": predicate,
    "in": _in,
    "len": StagedList.length,
    "list": StagedList.copy,
    "sorted": _sorted,
    "sum": _sum,
}
