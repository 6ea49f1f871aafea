"""`heapq` and `bisect` of lists with tensors in them, and of lists in the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.ops.containers.list_heaps import BISECT, HEAP
from runtime.ops.containers.list_tables import TAKE
from runtime.ops.elementwise.arithmetic import maximum
from runtime.staging.library.ordering import as_called, listed, sorted_items
from runtime.staging.lists.assignments import items_of
from runtime.staging.lists.lists import StagedList
from runtime.staging.lists.parts import emit, index_tensor
from runtime.staging.lists.sequences import StagedSequence, as_sequence, weakened
from runtime.tensor import Tensor

__all__ = ["FUNCTIONS"]


def _whole(items: Any) -> StagedList:
    if isinstance(items, StagedList):
        return items
    if isinstance(items, (Tensor, StagedSequence)):
        items = listed(as_sequence(items))
    return (
        items if isinstance(items, StagedList) else StagedList.of(items, "heap", None)
    )


def _changed(items: Any, change: Callable[[StagedList], Any], more: int) -> Any:
    """Change a heap: a list in the graph, or one of Python, which stays the object."""
    whole = _whole(items)
    result = change(whole)
    if whole is not items:
        items[:] = items_of(whole, len(items) + more)
    return result


def _ordered(items: StagedList, change: str, less: int = 0) -> None:
    """Put the elements in the order that they have after a change of the heap."""
    _check_order(items)
    columns = items._columns()
    places = emit(HEAP, *columns, weak=False, change=change)
    columns = [emit(TAKE, column, places) for column in columns]
    items._become(columns, items._count - less if less else items._count)


def _check_order(items: StagedList) -> None:
    element = items._element
    is_fixed = len(element.specs) != len(element.leaves)
    if is_fixed or any(spec.rank for spec in element.specs):
        raise items._cannot("be a heap", "it holds more than numbers, texts and tuples")


def _first(items: StagedList) -> Any:
    place = emit("ListPlace", items._count, index_tensor(0), use="heap")
    return items._row(place, shared=False)


def _heappush(heap: Any, item: Any) -> None:
    if not isinstance(heap, StagedList) and not heap:
        heap.append(item)
        return

    def change(items: StagedList) -> None:
        items.append(item)
        _ordered(items, "push")

    _changed(heap, change, 1)


def _heappop(heap: Any) -> Any:
    def change(items: StagedList) -> Any:
        result = _first(items)
        _ordered(items, "pop", 1)
        return result

    return _changed(heap, change, -1)


def _heapify(heap: Any) -> None:
    _changed(heap, lambda items: _ordered(items, "all"), 0)


def _heapreplace(heap: Any, item: Any) -> Any:
    def change(items: StagedList) -> Any:
        result = _first(items)
        items[0] = item
        _ordered(items, "first")
        return result

    return _changed(heap, change, 0)


def _heappushpop(heap: Any, item: Any) -> Any:
    if not isinstance(heap, StagedList) and not heap:
        return item

    def change(items: StagedList) -> Any:
        items.append(item)
        _ordered(items, "push and pop")
        return items.pop()

    return _changed(heap, change, 0)


def _nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return _extreme(n, iterable, key, True)


def _nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return _extreme(n, iterable, key, False)


def _extreme(n: Any, iterable: Any, key: Any, reverse: bool) -> Any:
    if isinstance(iterable, (Tensor, StagedSequence)):
        iterable = listed(as_sequence(iterable))
    if not isinstance(iterable, StagedList):
        items = list(iterable)
        whole = sorted_items(items, key, reverse)
        if type(n) is int:
            return items_of(whole, len(items))[: max(n, 0)]
    else:
        whole = iterable.copy()
        whole.sort(key=key, reverse=reverse)
    return whole[: max(n, 0) if type(n) is int else maximum(index_tensor(n), 0)]


# --- sorted lists ---------------------------------------------------------------------


def _bisected(right: bool) -> Callable[..., Any]:
    def bisect(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
        if not isinstance(a, (StagedList, Tensor)) and not len(a):
            return lo
        whole = _whole(a)
        if key is not None:
            function, every = as_called(key), whole.sequence()
            whole = _whole(
                listed(StagedSequence(every.length, lambda i: function(every.item(i))))
            )
        end = whole._count if hi is None else index_tensor(hi)
        beside = whole.again()
        beside.append(x)
        _check_order(beside)
        columns = beside._columns()
        start = index_tensor(lo)
        return weakened(emit(BISECT, start, end, *columns, weak=False, right=right))

    return bisect


def _inserted(right: bool) -> Callable[..., None]:
    find = _bisected(right)

    def insort(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
        if not isinstance(a, StagedList) and not a:
            a.append(x)
            return
        place = find(a, x if key is None else as_called(key)(x), lo, hi, key=key)
        _changed(a, lambda items: items.insert(place, x), 1)

    return insort


#: By the names of their modules and their own.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "bisect.bisect_left": _bisected(False),
    "bisect.bisect_right": _bisected(True),
    "bisect.insort_left": _inserted(False),
    "bisect.insort_right": _inserted(True),
    "heapq.heapify": _heapify,
    "heapq.heappop": _heappop,
    "heapq.heappush": _heappush,
    "heapq.heappushpop": _heappushpop,
    "heapq.heapreplace": _heapreplace,
    "heapq.nlargest": _nlargest,
    "heapq.nsmallest": _nsmallest,
}
