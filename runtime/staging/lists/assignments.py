"""``items[i] = v`` and ``del items[i]`` of Python lists, where a tensor is the index.

The list stays the object that it is, and as long as it is: its items become the rows of
one tensor (see `rows`).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from runtime.errors import StagedStateError
from runtime.graph.context import current_graph
from runtime.ops import convert
from runtime.ops.convert import is_tensor
from runtime.ops.elementwise.arithmetic import equal
from runtime.staging.lists.elements import Element, taken_apart
from runtime.staging.lists.parts import index_tensor
from runtime.staging.lists.rows import emit, item_of, kept_in, rows_like, rows_of
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.choice import is_open, item_at, where_one
from runtime.staging.state.values import checked_parts
from runtime.tracing.form import Form
from runtime.types import dtypes, nest
from runtime.where.user_code import state_error

__all__ = [
    "delitem",
    "gathered",
    "inserted",
    "items_of",
    "list_of",
    "setitem",
    "spread",
    "taken_out",
]

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
        raise _refused(
            "a slice whose ends are tensors was assigned to",
            "make a list of the parts: `items = items[:i] + values + items[j:]`",
        )
    if not items:
        raise IndexError("list assignment index out of range")
    place, *rest = path
    if rest and not _is_table(items, len(rest)):
        target = item_at(items, place)
        if type(target) is list and any(map(is_tensor, rest)):
            setitem(target, rest, value)  # one list, as often as it is there
            return
        *steps, last = rest
        functools.reduce(operator.getitem, steps, target)[last] = value
        return
    if rest:
        _fill(items, _placed(items, _gathered(items), path, value))
        return
    if any(map(is_open, (*items, value))):
        graph = current_graph()
        if graph is not None and graph.parent is not None:
            raise _refused(
                "in a branch or a loop, a tensor chooses which of the lists, dicts or "
                "objects in a list is replaced",
                "assign the items of the inner list one by one: `items[i][j] = value`",
            )
        count = convert.constant(len(items), dtypes.int32)
        place = emit("ListPlace", count, index_tensor(place), use="del", weak=False)
        items[:] = [
            where_one(equal(place, number), value, item)
            for number, item in enumerate(items)
        ]
        return
    whole = _listed(items)
    whole[path[0]] = value
    items[:] = items_of(whole, len(items))


def _ends(key: slice) -> tuple[Any, ...]:
    return key.start, key.stop, key.step


def delitem(items: list[Any], path: _Path) -> None:
    """``del items[i]``; IndexError is raised when the graph runs.

    Raises:
        StagedStateError: AG210, a slice, or an item of a list in a list.
    """
    if len(path) > 1 or isinstance(path[0], slice):
        raise _refused(
            "a tensor says which part of a list is deleted",
            "make a list of the other parts: `items = items[:i] + items[j:]`",
        )
    if not items:
        raise IndexError("list assignment index out of range")
    whole = _listed(items)
    del whole[path[0]]
    items[:] = items_of(whole, len(items) - 1)


def inserted(items: list[Any], index: Any, value: Any) -> None:
    """``items.insert(index, value)``."""
    whole = _listed(items)
    whole.insert(index, value)
    items[:] = items_of(whole, len(items) + 1)


def taken_out(items: list[Any], index: Any) -> Any:
    """``items.pop(index)``; IndexError is raised when the graph runs."""
    whole = _listed(items)
    value = whole.pop(index)
    items[:] = items_of(whole, len(items) - 1)
    return value


# --- lists as tensors -----------------------------------------------------------------


def _listed(items: list[Any]) -> StagedList:
    """The list as one in the graph; made of what its items are the rows of, if any."""
    buffers = [item_of(item, index) for index, item in enumerate(items)]
    found = next((buffer for buffer in buffers if buffer is not None), None)
    if found is None:
        whole = _of_columns(items)
        return StagedList.of(items, "items", None) if whole is None else whole
    others = [index for index, buffer in enumerate(buffers) if buffer is not found]
    dims = found.shape.dims
    if others and (not dims or dims[0] != len(items) or 2 * len(others) > len(items)):
        return StagedList.of(items, "items", None)
    # Most of the items are rows still: the others are put among them.
    whole = list_of(found, len(items))
    for index in others:
        whole[index] = items[index]
    return whole


def _of_columns(items: list[Any]) -> StagedList | None:
    """The list of structures whose leaves are the rows of tensors; None for others."""
    form, leaves = Form.of(items[0])
    buffers = [item_of(leaf, 0) for leaf in leaves]
    if not buffers or any(buffer is None for buffer in buffers):
        return None
    for place, item in enumerate(items):
        beside, leaves = Form.of(item)
        if not form.is_like(beside):
            return None
        if any(item_of(leaf, place) is not b for leaf, b in zip(leaves, buffers)):
            return None
    count = convert.constant(len(items), dtypes.int32)
    whole = StagedList(taken_apart(items[0], "items")[0], buffers, count, "items")
    for item in items:
        whole._shared.give(item)
    return whole


def spread(items: list[Any]) -> list[Any] | None:
    """The list with the rows of one tensor for items; None if they cannot be that."""
    if not items or any(map(checked_parts, nest.flatten(items))):
        return None
    buffer = gathered(items)
    return None if buffer is None else rows_like(items, buffer)


def gathered(items: list[Any]) -> Any:
    """One tensor of all items; None if they are not of one kind."""
    try:
        return _gathered(items)
    except StagedStateError:
        return None


def _gathered(items: list[Any]) -> Any:
    """One tensor of all items, those of lists in the list along more axes."""
    known = kept_in(items)
    if known is not None:
        return known
    rows = [_gathered(i) if isinstance(i, list) and i else i for i in items]
    lists = [len(item) for item in items if isinstance(item, list)]
    if lists and (len(lists) < len(items) or len(set(lists)) > 1 or not lists[0]):
        raise _refused(
            "a tensor chooses an item of lists of different lengths",
            "make the lists in the list equally long",
        )
    whole = _listed(rows)
    if not whole.element.is_single:
        raise _refused(
            "a tensor chooses an item of a list of structures",
            "put numbers or tensors of one shape into the list",
        )
    return whole._columns()[0]


def list_of(buffer: Any, length: int) -> StagedList:
    """The list of the rows of a tensor."""
    count = convert.constant(length, dtypes.int32)
    return StagedList(Element.number(buffer.spec), [buffer], count, "items")


def items_of(whole: StagedList, length: int) -> list[Any]:
    """The items of a list in the graph whose length is known."""
    whole._check()
    columns = [rows_of(buffer, length) for buffer in whole._buffers]
    if whole._element.is_single:
        return columns[0]
    pack = whole._element.pack
    return [pack([column[index] for column in columns]) for index in range(length)]


# --- lists of lists -------------------------------------------------------------------


def _placed(items: list[Any], buffer: Any, path: _Path, value: Any) -> Any:
    """The tensor of a list with another value in one place."""
    whole = list_of(buffer, len(items))
    place, *rest = path
    if rest:
        value = _placed(items[0], whole[place], rest, value)
    whole[place] = value
    return whole._buffers[0]


def _fill(items: list[Any], buffer: Any) -> None:
    """Put the rows of a tensor into the lists, which stay the objects that they are."""
    _put(items, rows_like(items, buffer))


def _put(items: list[Any], values: list[Any]) -> None:
    for index, value in enumerate(values):
        if isinstance(value, list):
            _put(items[index], value)
        else:
            items[index] = value


def _is_table(items: list[Any], depth: int) -> bool:
    """Whether it is a list of as many lists of values that are one tensor."""
    leaves = items
    for _ in range(depth):
        if any(type(item) is not list for item in leaves):
            return False
        if len({*map(id, leaves)}) != len(leaves):
            return False
        leaves = [inner for item in leaves for inner in item]
    if kept_in(items) is not None:
        return True
    return not any(map(is_open, leaves)) and gathered(leaves) is not None


def _refused(what: str, advice: str) -> StagedStateError:
    return state_error("AG210", f"{what}, which a graph cannot do", advice)
