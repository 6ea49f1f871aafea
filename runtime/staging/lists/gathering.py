"""Python lists as one tensor whose rows are the items.

`assignments`, `items` and the choices of objects call these functions. They add nodes
to the graph being built, and leave the lists as they are.
"""

from __future__ import annotations

from typing import Any

from runtime.core.errors import StagedStateError
from runtime.core.location.user_code import state_error
from runtime.core.types import dtypes, nest
from runtime.ops import convert
from runtime.staging.lists.elements import Element, taken_apart
from runtime.staging.lists.rows import common_buffer, item_of, rows_like, rows_of
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import frozen
from runtime.staging.state.values import checked_parts
from runtime.staging.tracing.form import Form


def as_staged_list(items: list[Any]) -> StagedList:
    """The list as one in the graph, made of the buffer behind its items, if any."""
    buffers = [item_of(item, index) for index, item in enumerate(items)]
    common = next((buffer for buffer in buffers if buffer is not None), None)
    if common is None:
        staged = _of_columns(items)
        return StagedList.of(items, "items", None) if staged is None else staged
    others = [index for index, buffer in enumerate(buffers) if buffer is not common]
    dims = common.shape.dims
    if others and (not dims or dims[0] != len(items) or 2 * len(others) > len(items)):
        return StagedList.of(items, "items", None)
    # Most of the items are still rows of the buffer: the others are written into it.
    staged = list_of(common, len(items))
    for index in others:
        staged[index] = items[index]
    return staged


def _of_columns(items: list[Any]) -> StagedList | None:
    """The list of structures whose leaves are the rows of tensors; None for others."""
    form, leaves = Form.of(items[0])
    buffers = [item_of(leaf, 0) for leaf in leaves]
    if not buffers or any(buffer is None for buffer in buffers):
        return None
    for index, item in enumerate(items):
        other_form, leaves = Form.of(item)
        if not form.is_like(other_form):
            return None
        if any(item_of(leaf, index) is not b for leaf, b in zip(leaves, buffers)):
            return None
    count = convert.constant(len(items), dtypes.int32)
    staged = StagedList(taken_apart(items[0], "items")[0], buffers, count, "items")
    for item in items:
        staged._shared.give(item)
    return staged


def spread(items: list[Any]) -> list[Any] | None:
    """The list with the rows of one tensor for items; None if its items differ."""
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
    """One tensor of all items; lists in the list become further axes."""
    buffer = common_buffer(items)
    if buffer is not None:
        return buffer
    rows = [gathered_or_refused(i) if isinstance(i, list) and i else i for i in items]
    lists = [len(item) for item in items if isinstance(item, list)]
    if lists and (len(lists) < len(items) or len(set(lists)) > 1 or not lists[0]):
        raise refused(
            "a tensor chooses an item of lists of different lengths",
            "make the lists in the list equally long",
        )
    staged = as_staged_list(rows)
    if not staged.element.is_single:
        raise refused(
            "a tensor chooses an item of a list of structures",
            "put numbers or tensors of one shape into the list",
        )
    return staged._columns()[0]


def list_of(buffer: Any, length: int) -> StagedList:
    """The list of the rows of a tensor."""
    count = convert.constant(length, dtypes.int32)
    return StagedList(Element.number(buffer.spec), [buffer], count, "items")


def items_of(staged: StagedList, length: int) -> list[Any]:
    """The items of a list in the graph whose length is known."""
    staged._check()
    columns = [rows_of(buffer, length) for buffer in staged._buffers]
    if staged._element.is_single:
        return columns[0]
    pack, sources = staged._element.pack, staged._shared.sources()
    items = zip(*columns)
    return [frozen(pack(list(leaves)), sources) for leaves in items]


def refused(what: str, advice: str) -> StagedStateError:
    """The error AG210 for a use of items that a graph cannot compute."""
    return state_error("AG210", f"{what}, which a graph cannot do", advice)
