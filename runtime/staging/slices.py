"""``items[i:j] = values`` and ``del items[i:j:k]`` of a list in a graph."""

from __future__ import annotations

from typing import Any

from runtime import dtypes
from runtime.ops import convert
from runtime.ops.elementwise import maximum, minimum
from runtime.ops.indexing import getitem
from runtime.ops.list_tables import SET_ROWS, TAKE, WITHOUT
from runtime.ops.sequences import range as range_of
from runtime.staging.list_parts import emit, index_tensor, size_of
from runtime.subgraph import adapted

__all__ = ["delete_slice", "set_slice"]


def set_slice(items: Any, key: slice, value: Any) -> None:
    """``items[key] = value``; ValueError if a slice in steps is of another length."""
    items._check()
    values = items._like(value)
    if not _is_whole(key):
        places = getitem(range_of(items._count), key)
        items._widen(values.element)
        columns = [
            emit(SET_ROWS, column, places, adapted(rows, column.spec))
            for column, rows in zip(items._columns(), values._columns())
        ]
        items._become(columns, items._count)
        return
    start, stop = _places(items, key)
    tail, result = items[stop:], items[:start]
    result.extend(values)
    result.extend(tail)
    items._become(result._buffers, result._count)


def delete_slice(items: Any, key: slice) -> None:
    """``del items[key]``."""
    if _is_whole(key):
        start, stop = _places(items, key)
        result = items[:start]
        result.extend(items[stop:])
        items._become(result._buffers, result._count)
        return
    items._check()
    places = getitem(range_of(items._count), key)
    left = emit(WITHOUT, items._count, places, weak=False)
    columns = [emit(TAKE, column, left) for column in items._columns()]
    items._become(columns, size_of(left))


def _is_whole(key: slice) -> bool:
    """Whether a slice leaves no items out."""
    return key.step is None or (type(key.step) is int and key.step == 1)


def _places(items: Any, key: slice) -> tuple[Any, Any]:
    """The start and the stop of a slice without a step, within the list."""
    start = 0 if key.start is None else _clamped(items, key.start)
    stop = items._count if key.stop is None else _clamped(items, key.stop)
    return start, maximum(start, stop)


def _clamped(items: Any, index: Any) -> Any:
    place = index_tensor(index)
    negative = convert.cast(place < 0, dtypes.int32)
    return minimum(maximum(place + negative * items._count, 0), items._count)
