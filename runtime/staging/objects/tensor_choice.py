"""Tensors of several lengths that a tensor chooses among.

They stand for lists of several lengths, as the neighbours of each vertex of a graph::

    for neighbour in neighbours[vertex]:
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.ops import convert
from runtime.ops.arrays.gather import gather
from runtime.ops.arrays.indexing import getitem
from runtime.ops.arrays.joining import concat, stack
from runtime.ops.arrays.shape import shape as shape_of
from runtime.staging.lists.elements import Element
from runtime.staging.lists.parts import emit
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import chosen


def choice_of_tensors(values: Sequence[Any]) -> Callable[..., Any] | None:
    """What chooses among tensors of several lengths; None for other values.

    Empty lists may be among them, which have no dtype as tensors. What is chosen is a
    tensor, and where there are such lists a list that cannot be changed.
    """
    tensors = [value for value in values if isinstance(value, Tensor)]
    others = [value for value in values if not isinstance(value, Tensor)]
    if not tensors or any(type(value) is not list or value for value in others):
        return None
    first, *rest = tensors
    if not first.shape.rank or any(not _are_alike(first, other) for other in rest):
        return None
    lengths = {tensor.shape[0] for tensor in tensors}
    is_one_length = len(lengths) == 1 and None not in lengths and not others
    return None if is_one_length else _chosen


def _are_alike(one: Tensor, other: Tensor) -> bool:
    if one.dtype is not other.dtype or one.shape.rank != other.shape.rank:
        return False
    inner = one.shape[1:]
    return bool(inner.is_fully_defined() and inner == other.shape[1:])


def _chosen(values: Sequence[Any], index: Any) -> Any:
    count = convert.constant(len(values), dtypes.int32)
    place = emit("ListPlace", count, index, use="get", weak=False)
    tensors = [value for value in values if isinstance(value, Tensor)]
    lengths = [_length(value) for value in values]
    starts: list[Any] = [0]
    for length in lengths[:-1]:
        starts.append(starts[-1] + length)
    start, length = gather(stack(starts), place), gather(stack(lengths), place)
    items = getitem(concat(tensors, axis=0), slice(start, start + length))
    lists = [value for value in values if isinstance(value, list)]
    if not lists:
        return items
    whole = StagedList(Element.number(items.spec), [items], length, "items")
    # Nobody can change the tensors, and the lists are watched.
    return chosen(whole, lists)


def _length(value: Any) -> Any:
    known = len(value) if isinstance(value, list) else value.shape[0]
    return shape_of(value)[0] if known is None else known
