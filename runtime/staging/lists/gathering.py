"""Python lists as one tensor: what all of their items are the rows of."""

from __future__ import annotations

from typing import Any

from runtime.errors import StagedStateError
from runtime.location.user_code import state_error
from runtime.ops import convert
from runtime.staging.lists.elements import Element, taken_apart
from runtime.staging.lists.rows import item_of, kept_in, rows_like, rows_of
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import frozen
from runtime.staging.state.values import checked_parts
from runtime.tracing.form import Form
from runtime.types import dtypes, nest

__all__ = [
    "gathered",
    "gathered_or_refused",
    "items_of",
    "list_of",
    "listed",
    "refused",
    "spread",
]


def listed(items: list[Any]) -> StagedList:
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
        return gathered_or_refused(items)
    except StagedStateError:
        return None


def gathered_or_refused(items: list[Any]) -> Any:
    """One tensor of all items, those of lists in the list along more axes."""
    known = kept_in(items)
    if known is not None:
        return known
    rows = [gathered_or_refused(i) if isinstance(i, list) and i else i for i in items]
    lists = [len(item) for item in items if isinstance(item, list)]
    if lists and (len(lists) < len(items) or len(set(lists)) > 1 or not lists[0]):
        raise refused(
            "a tensor chooses an item of lists of different lengths",
            "make the lists in the list equally long",
        )
    whole = listed(rows)
    if not whole.element.is_single:
        raise refused(
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
    pack, sources = whole._element.pack, whole._shared.sources()
    items = zip(*columns)
    return [frozen(pack(list(parts)), sources) for parts in items]


def refused(what: str, advice: str) -> StagedStateError:
    """The error for what a graph cannot do with the items of a list."""
    return state_error("AG210", f"{what}, which a graph cannot do", advice)
