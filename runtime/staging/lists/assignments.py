"""``items[i] = v`` and ``del items[i]`` of Python lists, where a tensor is the index.

The staged builtins of the same names and `list_methods` call these functions. They
replace the items of the list, which stays the same object: the new items are the rows
of one tensor (see `rows`).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from runtime.core.graph.context import current_graph
from runtime.core.types import dtypes
from runtime.ops import convert
from runtime.ops.convert import is_tensor
from runtime.ops.elementwise.arithmetic import equal
from runtime.staging.lists.gathering import (
    as_staged_list,
    gathered,
    gathered_or_refused,
    items_of,
    list_of,
    refused,
)
from runtime.staging.lists.parts import index_tensor
from runtime.staging.lists.rows import common_buffer, emit, rows_like
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.choice import is_open, item_at, where_one

_Path = Sequence[Any]


def setitem(items: Any, path: _Path, value: Any) -> None:
    """``items[i][j] = value`` for the ``path`` ``(i, j)``.

    IndexError is raised when the graph runs.

    Raises:
        StagedStateError: AG210, items of several kinds, or lists to be replaced.
    """
    if isinstance(items, StagedList):
        items.set_within(path, value)
        return
    if isinstance(path[-1], slice):
        if len(path) > 1 and not any(map(is_tensor, _ends(path[-1]))):
            row = item_at(items, path[0])
            row = functools.reduce(operator.getitem, path[1:-1], row)
            row[path[-1]] = value
            return
        raise refused(
            "a slice whose ends are tensors was assigned to",
            "make a list of the parts: `items = items[:i] + values + items[j:]`",
        )
    if not items:
        raise IndexError("list assignment index out of range")
    index, *rest = path
    if rest and not _is_table(items, len(rest)):
        target = item_at(items, index)
        if type(target) is list and any(map(is_tensor, rest)):
            setitem(target, rest, value)  # one list, as often as it is there
            return
        *steps, last = rest
        functools.reduce(operator.getitem, steps, target)[last] = value
        return
    if rest:
        _fill(items, _with_item(items, gathered_or_refused(items), path, value))
        return
    if any(map(is_open, (*items, value))):
        graph = current_graph()
        if graph is not None and graph.parent is not None:
            raise refused(
                "in a branch or a loop, a tensor chooses which of the lists, dicts or "
                "objects in a list is replaced",
                "assign the items of the inner list one by one: `items[i][j] = value`",
            )
        count = convert.constant(len(items), dtypes.int32)
        index = emit("ListPlace", count, index_tensor(index), use="del", weak=False)
        items[:] = [
            where_one(equal(index, number), value, item)
            for number, item in enumerate(items)
        ]
        return
    staged = as_staged_list(items)
    staged[path[0]] = value
    items[:] = items_of(staged, len(items))


def _ends(key: slice) -> tuple[Any, ...]:
    return key.start, key.stop, key.step


def delitem(items: list[Any], path: _Path) -> None:
    """``del items[i]``; IndexError is raised when the graph runs.

    Raises:
        StagedStateError: AG210, a slice, or an item of a list in a list.
    """
    if len(path) > 1 or isinstance(path[0], slice):
        raise refused(
            "a tensor says which part of a list is deleted",
            "make a list of the other parts: `items = items[:i] + items[j:]`",
        )
    if not items:
        raise IndexError("list assignment index out of range")
    staged = as_staged_list(items)
    del staged[path[0]]
    items[:] = items_of(staged, len(items) - 1)


def inserted(items: list[Any], index: Any, value: Any) -> None:
    """``items.insert(index, value)``."""
    staged = as_staged_list(items)
    staged.insert(index, value)
    items[:] = items_of(staged, len(items) + 1)


def popped(items: list[Any], index: Any) -> Any:
    """``items.pop(index)``; IndexError is raised when the graph runs."""
    staged = as_staged_list(items)
    value = staged.pop(index)
    items[:] = items_of(staged, len(items) - 1)
    return value


# --- lists of lists -------------------------------------------------------------------


def _with_item(items: list[Any], buffer: Any, path: _Path, value: Any) -> Any:
    """The buffer of a list with the item at a path replaced."""
    staged = list_of(buffer, len(items))
    index, *rest = path
    if rest:
        value = _with_item(items[0], staged[index], rest, value)
    staged[index] = value
    return staged._buffers[0]


def _fill(items: list[Any], buffer: Any) -> None:
    """Replace the items of nested lists by the rows of a tensor, in place."""
    _put(items, rows_like(items, buffer))


def _put(items: list[Any], values: list[Any]) -> None:
    for index, value in enumerate(values):
        if isinstance(value, list):
            _put(items[index], value)
        else:
            items[index] = value


def _is_table(items: list[Any], depth: int) -> bool:
    """Whether a list of distinct lists, of this depth, can be one tensor."""
    leaves = items
    for _ in range(depth):
        if any(type(item) is not list for item in leaves):
            return False
        if len({*map(id, leaves)}) != len(leaves):
            return False
        leaves = [inner for item in leaves for inner in item]
    if common_buffer(items) is not None:
        return True
    return not any(map(is_open, leaves)) and gathered(leaves) is not None
