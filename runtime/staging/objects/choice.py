"""One of several lists, dicts or objects that a tensor chooses: a frozen value.

A graph chooses values, not objects. What it chooses is a copy of one of the objects,
which is read as long as none of them has changed, and never written: see `copy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.core.location.user_code import state_error
from runtime.core.types import dtypes, nest
from runtime.core.types.specs import TensorSpec
from runtime.ops import convert
from runtime.ops.containers.list_tables import CHOOSE
from runtime.staging.lists.elements import Element, taken_apart
from runtime.staging.lists.gathering import gathered, list_of
from runtime.staging.lists.parts import emit, index_tensor
from runtime.staging.lists.rows import rows_like
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.copy import (
    ChosenCopy,
    check_fresh,
    frozen,
    plain_class,
    sources_in,
)
from runtime.staging.objects.kinds import attributes_of, behaves_as, is_mutable
from runtime.staging.objects.tensor_choice import choice_of_tensors
from runtime.staging.state.values import can_be_tensor
from runtime.staging.tracing.subgraph import state_tensor


def choose(values: Sequence[Any], index: Any) -> Any:
    """The value at an index; a frozen one, if there is something in it that can change.

    Raises:
        StagedStateError: AG210, they are of several kinds.
    """
    found = _one_of(values, index)
    sources = [*filter(is_open, values), *sources_in(values)]
    is_new = all(found is not value for value in values)
    return frozen(found, sources) if is_new else found


def item_at(items: Sequence[Any], index: Any) -> Any:
    """``items[index]`` of what can be changed; IndexError when the graph runs."""
    found = choose(items, index)
    if found is items[0]:  # nothing is chosen, so that nobody looks at the index
        count = convert.constant(len(items), dtypes.int32)
        emit("ListPlace", count, index_tensor(index), use="get", weak=False)
    return found


def where_one(test: Any, value: Any, other: Any) -> Any:
    """``value if test else other``; the object itself, if both are the same one."""
    return choose([other, value], convert.cast(test, dtypes.int32))


def is_open(value: Any) -> bool:
    """Whether there is something in a value that can be changed."""
    if can_be_tensor(value) or value is None:
        return False
    cls = plain_class(value) if isinstance(value, ChosenCopy) else type(value)
    if cls in (list, dict, StagedList) or is_mutable(cls):
        return True
    return any(is_open(part) for _, part in nest.children(value) or ())


def _one_of(values: Sequence[Any], index: Any) -> Any:
    """A copy of the value at an index, which nothing watches."""
    first = values[0]
    if all(value is first for value in values):
        return first
    make = choice_of_tensors(values)
    if make is not None:
        return make(values, index_tensor(index))
    check_fresh(list(values))
    found = None
    if all(isinstance(v, StagedList) or behaves_as(v, list) for v in values):
        found = _list_of(values, index)
    elif any(map(is_open, values)):
        found = _structure_of(values, index)
    return StagedList.of(list(values), "items", None)[index] if found is None else found


def _list_of(lists: Sequence[Any], index: Any) -> Any:
    lengths = {None if isinstance(v, StagedList) else len(v) for v in lists}
    if lengths == {0}:
        return []
    if len(lengths) > 1 or None in lengths:
        return _open_list(lists, index)
    kinds = {_kind(item) for items in lists for item in items}
    if len(kinds) == 1 and None not in kinds:
        buffer = gathered(list(map(list, lists)))
        if buffer is not None:
            return rows_like(lists[0], list_of(buffer, len(lists))[index])
    return [_one_of(items, index) for items in zip(*lists)]


def _kind(leaf: Any) -> Any:
    """What leaves have in common that are items of one tensor; None for others."""
    if not can_be_tensor(leaf):
        return None
    spec: TensorSpec = state_tensor(leaf).spec
    dims = spec.shape.dims
    return spec.dtype, None if dims is None else tuple(dims), spec.weak


def _open_list(lists: Sequence[Any], index: Any) -> StagedList:
    """One of several lists of several lengths, or of lengths that a tensor decides."""
    element: Element | None = None
    for items in lists:
        if not isinstance(items, StagedList) and any(map(is_open, items)):
            raise state_error(
                "AG210",
                "a tensor chooses among lists of different lengths that have lists, "
                "dicts or objects in them, of which a graph cannot make one",
                "make the lists equally long",
            )
        if isinstance(items, StagedList) or items:
            found = _staged(items, None).element
            element = found if element is None else element.joined(found, "rows")
    element = element or taken_apart(0, "rows")[0]
    staged = [_staged(items, element) for items in lists]
    for items in staged:
        items._widen(element)
    count = convert.constant(len(lists), dtypes.int32)
    place = emit("ListPlace", count, index_tensor(index), use="get", weak=False)
    buffers = [
        emit(CHOOSE, place, *columns, weak=columns[0].spec.weak)
        for columns in zip(*(items._buffers for items in staged))
    ]
    counts = (items._count for items in staged)
    return StagedList(element, buffers, emit(CHOOSE, place, *counts, weak=False), "row")


def _staged(items: Any, element: Element | None) -> StagedList:
    """A list of Python as one in the graph; one in the graph as a copy of itself."""
    if isinstance(items, StagedList):
        items._check()
        return StagedList(items._element, items._buffers, items._count, items.name)
    return StagedList.of(list(items), "row", element)


def _structure_of(values: Sequence[Any], index: Any) -> Any:
    """One of several tuples, dicts or objects; None for those that are unlike."""
    first = values[0]
    cls = plain_class(first)
    if any(plain_class(value) is not cls for value in values):
        return None
    if is_mutable(cls):
        return _object_of(values, index, cls)
    inside = [nest.children(value) for value in values]
    steps = [None if parts is None else [s for s, _ in parts] for parts in inside]
    if steps[0] is None or any(other != steps[0] for other in steps):
        return None
    if isinstance(first, dict) and any(list(v) != list(first) for v in values):
        return None
    columns = zip(*([part for _, part in parts or ()] for parts in inside))
    found = [_one_of(parts, index) for parts in columns]
    return nest.rebuild(nest.plain(first), found)


def _object_of(values: Sequence[Any], index: Any, cls: Any) -> Any:
    columns = list(map(attributes_of, values))
    if any(column.keys() != columns[0].keys() for column in columns):
        return None
    made = cls.__new__(cls)
    for name in columns[0]:
        part = _one_of([column[name] for column in columns], index)
        object.__setattr__(made, name, part)
    return made
