"""What comes first: ``sorted``, ``min`` and ``max`` of structures and by keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.ops.containers.list_tables import ORDER, TAKE
from runtime.ops.convert import as_tensor
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.elementwise.logical import logical_and, logical_or
from runtime.staging.library.ordinary import is_ordered
from runtime.staging.lists.elements import Fixed, Row, holds_none
from runtime.staging.lists.lists import StagedList
from runtime.staging.lists.rows import emit
from runtime.staging.lists.sequences import StagedSequence
from runtime.staging.state.loops import stage_loop
from runtime.tensor import SymbolicTensor
from runtime.types import nest

__all__ = ["as_called", "compared", "listed", "set_caller", "sorted_items"]


#: What to call in place of the user's function for a key; `compiler.backend` sets it.
_caller: list[Callable[[Any], Any]] = [lambda function: function]


def set_caller(caller: Callable[[Any], Any]) -> None:
    """Register the compiler, which knows the converted form of a function."""
    _caller[:] = [caller]


def as_called(function: Any) -> Any:
    """What to call in place of a function of the user's."""
    return _caller[0](function)


def listed(items: StagedSequence) -> Any:
    """The items of a sequence as a list, each computed once."""
    if isinstance(items.length, int):
        return [items.item(index) for index in range(items.length)]

    def step(state: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        index, found = state
        item = items.item(index)
        if isinstance(found, StagedList):
            found = found.again()
            found.append(item)
        else:
            found = [*found, item]
        following = index + 1
        return following < items.length, (following, found)

    start = as_tensor(0)
    names = ("index", "items")
    _, found = stage_loop(start < items.length, step, (start, []), names)
    return found


def _sort(items: StagedList, key: Any, reverse: bool) -> None:
    """``items.sort(key=key, reverse=reverse)``.

    Raises:
        StagedStateError: AG210, the keys are not of a kind that has an order.
    """
    keys = items
    if key is not None:
        every = items.sequence()
        key = as_called(key)
        keys = listed(StagedSequence(every.length, lambda i: key(every.item(i))))
        if not isinstance(keys, StagedList):
            keys = StagedList.of(keys, items.name, None)
    places = _places(keys, items, reverse)
    columns = [emit(TAKE, column, places) for column in items._columns()]
    items._become(columns, items._count)


def sorted_items(items: Sequence[Any], key: Any, reverse: bool) -> StagedList:
    """``sorted(items, key=key, reverse=reverse)`` of some items that are known."""
    whole = StagedList.of(list(items), "items", None)
    keys = whole
    if key is not None:
        keys = StagedList.of(list(map(as_called(key), items)), "items", None)
    places = _places(keys, whole, reverse)
    columns = [emit(TAKE, column, places) for column in whole._columns()]
    whole._become(columns, whole._count)
    return whole


def _places(keys: StagedList, items: StagedList, reverse: bool) -> Any:
    """The places of the items in their order."""
    structure = keys._element.structure
    if holds_none(structure) or not is_ordered(structure):
        raise items._cannot("be sorted", "None and dicts have no order")
    columns = [
        column
        for column, leaf in zip(keys._columns(), keys._element.leaves)
        if not isinstance(leaf, Fixed)
    ]
    if not columns:
        raise items._cannot("be sorted", "a graph orders numbers, texts and tuples")
    ranks = {column.shape.rank for column in columns}
    if not _has_rows(structure) and ranks != {1}:
        raise items._cannot("be sorted", "its elements are tensors with axes")
    return emit(ORDER, *columns, weak=False, descending=bool(reverse))


def _has_rows(structure: Any) -> bool:
    if type(structure) is Row:
        return True
    return any(_has_rows(part) for _, part in nest.children(structure) or ())


def compared(better: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """``one < other`` or ``one > other``, of tuples and lists too.

    ``better`` is the comparison, of two single values.
    """
    kinds = {list if isinstance(value, list) else type(value) for value in (one, other)}
    if len(kinds) > 1 or not (isinstance(one, (tuple, list))):
        return better(one, other)
    result: Any = better(len(one), len(other))
    for left, right in reversed(list(zip(one, other))):
        same = _same(left, right)
        first = compared(better, left, right)
        result = _either(first, _both(same, result))
    return result


def _same(one: Any, other: Any) -> Any:
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        if len(one) != len(other):
            return False
        result: Any = True
        for left, right in zip(one, other):
            result = _both(result, _same(left, right))
        return result
    tensors = (SymbolicTensor,)
    if isinstance(one, tensors) or isinstance(other, tensors):
        return equal(one, other)
    return one == other


def _both(one: Any, other: Any) -> Any:
    for value, rest in ((one, other), (other, one)):
        if not isinstance(value, SymbolicTensor):
            return rest if value else False
    return logical_and(one, other)


def _either(one: Any, other: Any) -> Any:
    for value, rest in ((one, other), (other, one)):
        if not isinstance(value, SymbolicTensor):
            return True if value else rest
    return logical_or(one, other)


StagedList.in_order = staticmethod(_sort)
StagedList.listed = staticmethod(listed)
