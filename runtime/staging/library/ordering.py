"""Order: ``sorted``, ``min`` and ``max`` of structures and by keys.

The staged builtins and `heaps` call these functions; `sort` changes its list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.tensor import SymbolicTensor
from runtime.core.types import nest
from runtime.ops.containers.list_tables import ORDER, TAKE
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.elementwise.logical import logical_and, logical_not, logical_or
from runtime.ops.reduce.reductions import reduce_all
from runtime.staging.hooks import hooks
from runtime.staging.library.ordinary import Ordinary, is_ordered
from runtime.staging.lists.elements import Fixed, MaybeNone, Row, holds_none
from runtime.staging.lists.ragged import holds_ragged
from runtime.staging.lists.rows import emit
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.state.branches import raise_if


@Ordinary
def listed(items: Any) -> Any:
    """The items of a sequence as a list, each computed once."""
    return [item for item in items]  # noqa: C416  (list() of a sequence is this)


@Ordinary
def keys_of(items: Any, key: Any) -> Any:
    """The key of each item."""
    return [key(item) for item in items]


def sort(items: StagedList, key: Any, reverse: bool) -> None:
    """``items.sort(key=key, reverse=reverse)``.

    Raises:
        StagedStateError: AG210, the keys are not of a kind that has an order.
    """
    keys = items if key is None else keys_of(items, hooks.called(key))
    _order(items, keys, reverse)


def sorted_items(items: Sequence[Any], key: Any, reverse: bool) -> StagedList:
    """``sorted(items, key=key, reverse=reverse)`` of a known number of items."""
    staged = StagedList.of(list(items), "items", None)
    keys = staged if key is None else list(map(hooks.called(key), items))
    _order(staged, keys, reverse)
    return staged


def _order(items: StagedList, keys: Any, reverse: bool) -> None:
    """Put items in the order of their keys."""
    if not isinstance(keys, StagedList):
        keys = StagedList.of(keys, items.name, None)
    order = _order_of(keys, items, reverse)
    columns = [emit(TAKE, column, order) for column in items._columns()]
    items._become(columns, items._count)


def _order_of(keys: StagedList, items: StagedList, reverse: bool) -> Any:
    """The indices of the items in the order of their keys."""
    structure = keys._element.structure
    if holds_ragged(structure):
        raise items._cannot("be sorted", "lists of any length have no order there")
    if type(structure) is MaybeNone:  # as the values that `counts.get` gives for keys
        values, some = keys._columns()
        raise_if(
            logical_and(keys._count > 1, logical_not(reduce_all(some))),
            TypeError("'<' not supported between instances with 'NoneType'"),
        )
        return emit(ORDER, values, weak=False, descending=bool(reverse))
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
