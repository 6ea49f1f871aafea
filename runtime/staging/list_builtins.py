"""Python's builtins of lists whose length a tensor decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.graph import state_error
from runtime.ops import convert
from runtime.ops.logical import logical_and, logical_not
from runtime.staging import text
from runtime.staging.decisions import raise_if
from runtime.staging.keyed import dict_from
from runtime.staging.lists import StagedList
from runtime.staging.tables import StagedTable
from runtime.subgraph import predicate

__all__ = ["OF_LISTS", "for_lists", "watched"]

Builtin = Callable[..., Any]
_OF_THEIR_OWN = frozenset({"chosen", "keyed", "opening", "reference", "setitem"})
#: Modules whose functions know lists themselves.
_MODULES = ("bisect.", "heapq.")


def for_lists(name: str, staged: Builtin | None) -> Builtin | None:
    """The staged builtin ``name``, such that it can be given lists, too."""
    own = OF_LISTS.get(name)
    if staged is None or name in _OF_THEIR_OWN or name.startswith(_MODULES):
        return staged

    def builtin(*args: Any, **options: Any) -> Any:
        if any(isinstance(arg, StagedTable) for arg in args):
            found = OF_TABLES.get(name, _of_keys)(*args, **options)
            if found is not NotImplemented:
                return found
            args = tuple(a.keys() if isinstance(a, StagedTable) else a for a in args)
        if any(isinstance(arg, StagedList) for arg in args):
            found = NotImplemented if own is None else own(*args, **options)
            if found is not NotImplemented:
                return found
            args = tuple(map(_items, args))
        return staged(*args, **options)

    return builtin


def watched(
    iterated: Any, state: Sequence[Any], inside: Sequence[Any]
) -> Callable[[Sequence[Any], Any], None]:
    """What to call after an iteration of a loop over ``iterated``.

    It is given the state then, and whether the loop is left (None if it cannot be). It
    raises AG210 if the loop changes the list that it runs over, where Python would run
    over what is added; for a dict or set RuntimeError is raised when the graph runs.
    ``state`` is the state before the loop, ``inside`` that of the iteration.
    """
    table = getattr(iterated, "view_of", iterated)
    tables = [
        (place, value, value._count)
        for place, (old, value) in enumerate(zip(state, inside))
        if old is table and isinstance(value, StagedTable)
    ]
    before = [
        (place, value._flatten())
        for place, (old, value) in enumerate(zip(state, inside))
        if old is iterated and isinstance(value, StagedList)
    ]

    def check(after: Sequence[Any], stop: Any) -> None:
        for place, old, count in tables:
            if isinstance(after[place], StagedTable):
                grown = convert.as_tensor(after[place]._count != count)
                if stop is not None:
                    grown = logical_and(grown, logical_not(stop))
                raise_if(grown, RuntimeError(old.changed))
        for place, parts in before:
            value = after[place]
            same = isinstance(value, StagedList) and all(
                one is other for one, other in zip(parts, value._flatten())
            )
            if not same:
                raise state_error(
                    "AG210",
                    f"a loop over the list {iterated.name!r}, whose length a tensor "
                    "decides, changes the list",
                    "loop over a copy, or with `while` and an index",
                )

    return check


def _of_keys(*args: Any, **options: Any) -> Any:
    return NotImplemented


def _items(value: Any) -> Any:
    return value.sequence() if isinstance(value, StagedList) else value


def _sum(items: StagedList, /, start: Any = 0) -> Any:
    return items.sum(start)


def _sorted(items: StagedList, /, *, key: Any = None, reverse: bool = False) -> Any:
    result = items.copy()
    result.sort(key=key, reverse=reverse)
    return result


def _list(items: Any) -> StagedList:
    whole = items if isinstance(items, StagedList) else items.keys()
    return StagedList(whole._element, whole._buffers, whole._count, whole.name)


def _in_table(item: Any, items: Any) -> Any:
    return items.contains(item) if isinstance(items, StagedTable) else NotImplemented


def _in(item: Any, items: Any) -> Any:
    return items.contains(item) if isinstance(items, StagedList) else NotImplemented


#: The builtins of a list that are not those of a sequence of its items.
OF_LISTS: dict[str, Builtin] = {
    **text.BUILTINS,
    "bool": predicate,
    "in": _in,
    "len": StagedList.length,
    "list": _list,
    "sorted": _sorted,
    "sum": _sum,
}

#: The builtins of a dict or set that are not those of the list of its keys.
OF_TABLES: dict[str, Builtin] = {
    **{name: text.BUILTINS[name] for name in text.BUILTINS.keys() - {"join"}},
    "bool": predicate,
    "dict": dict_from,
    "in": _in_table,
    "len": StagedTable.length,
    "list": _list,
}
