"""`heapq` and `bisect` in ordinary Python.

The functions in the first part are those of Python's modules, over any list. The second
part calls them for lists with tensors in them, and for lists in the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.core.tensor import Tensor
from runtime.ops.elementwise.arithmetic import maximum
from runtime.staging.hooks import hooks
from runtime.staging.library.ordering import listed, sorted_items
from runtime.staging.library.ordinary import (
    Ordinary,
    check_order,
    is_less,
    leaving,
    size,
    with_item,
)
from runtime.staging.lists.gathering import items_of
from runtime.staging.lists.parts import index_tensor
from runtime.staging.lists.sequences import StagedSequence, as_sequence
from runtime.staging.lists.staged_list import StagedList

# --- heaps ----------------------------------------------------------------------------


@Ordinary
def _rise(heap: Any, start: Any, at: Any) -> None:
    """Move an element up, over all that are greater."""
    item, above = heap[at], (at - 1) // 2
    # Not `and`: at the top, `above` is -1, the last element, and it is only read.
    while (at > start) & is_less(item, heap[above]):
        heap = with_item(heap, at, heap[above])
        at, above = above, (above - 1) // 2
    heap[at] = item


@Ordinary
def _sink(heap: Any, start: Any, end: Any) -> Any:
    """Move an element down to a leaf of ``heap[:end]``, and up from there again."""
    item, at = heap[start], start
    below = 2 * at + 1
    while below < end:
        right = min(below + 1, end - 1)
        below = below if is_less(heap[below], heap[right]) else right
        heap = with_item(heap, at, heap[below])
        at, below = below, 2 * below + 1
    heap[at] = item
    _rise(heap, start, at)
    return heap


# Without loops and branches there is nothing to convert.


def heappush(heap: Any, item: Any) -> None:
    """Put an element into a heap."""
    heap.append(item)
    _rise(heap, 0, size(heap) - 1)


def heappop(heap: Any) -> Any:
    """Take the least element out of a heap."""
    least, last = leaving(heap, 0, "index out of range"), size(heap) - 1
    heap[0] = heap[last]
    _sink(heap, 0, last)
    heap.pop()
    return least


def heapreplace(heap: Any, item: Any) -> Any:
    """Take the least element out of a heap, and put another one in after that."""
    least = leaving(heap, 0, "index out of range")
    heap[0] = item
    _sink(heap, 0, size(heap))
    return least


@Ordinary
def heappushpop(heap: Any, item: Any) -> Any:
    """Put an element into a heap, and take the least one out after that."""
    if heap and is_less(heap[0], item):
        return heapreplace(heap, item)
    return item


@Ordinary
def heapify(heap: Any) -> None:
    """Put the elements of a list in the order of a heap."""
    at = len(heap) // 2
    while at > 0:
        at -= 1
        heap = _sink(heap, at, len(heap))


# --- sorted lists ---------------------------------------------------------------------


@Ordinary
def bisect_left(items: Any, x: Any, low: Any, high: Any, key: Any) -> Any:
    """The first index at which an element can be inserted into a sorted list."""
    if low < 0:
        raise ValueError("lo must be non-negative")
    while low < high:
        middle = (low + high) // 2
        if is_less(key(items[middle]), x):
            low = middle + 1
        else:
            high = middle
    return low


@Ordinary
def bisect_right(items: Any, x: Any, low: Any, high: Any, key: Any) -> Any:
    """The last index at which an element can be inserted into a sorted list."""
    if low < 0:
        raise ValueError("lo must be non-negative")
    while low < high:
        middle = (low + high) // 2
        if is_less(x, key(items[middle])):
            high = middle
        else:
            low = middle + 1
    return low


# --- for the compiler -----------------------------------------------------------------


def _whole(items: Any) -> StagedList:
    """A list of ordered elements, as one in the graph."""
    if isinstance(items, (Tensor, StagedSequence)):
        items = listed(as_sequence(items))
    staged: StagedList = (
        items if isinstance(items, StagedList) else StagedList.of(items, "heap", None)
    )
    check_order(staged.element)
    return staged


def _changed(
    items: Any, change: Callable[..., Any], args: tuple[Any, ...], more: int
) -> Any:
    """Change a list in the graph, or a Python list in place by way of one."""
    staged = _whole(items)
    result = change(staged, *args)
    if staged is not items:
        items[:] = items_of(staged, len(items) + more)
    return result


def _in_heap(
    change: Callable[..., Any], more: int, of_empty: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A function of `heapq`; ``more`` elements are in the heap after it.

    ``of_empty`` is called for an empty Python list, which has no elements to take a
    form from.
    """

    def changed(heap: Any, *args: Any) -> Any:
        if isinstance(heap, StagedList) or heap:
            return _changed(heap, change, args, more)
        return (of_empty or change)(heap, *args)

    return changed


def _extreme(reverse: bool) -> Callable[..., Any]:
    def extreme(n: Any, iterable: Any, key: Any = None) -> Any:
        if isinstance(iterable, (Tensor, StagedSequence)):
            iterable = listed(as_sequence(iterable))
        if not isinstance(iterable, StagedList):
            items = list(iterable)
            ordered = sorted_items(items, key, reverse)
            if type(n) is int:
                return items_of(ordered, len(items))[: max(n, 0)]
        else:
            ordered = iterable.copy()
            ordered.sort(key=key, reverse=reverse)
        return ordered[: max(n, 0) if type(n) is int else maximum(index_tensor(n), 0)]

    return extreme


def _bisected(find: Callable[..., Any]) -> Callable[..., Any]:
    def bisect(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
        if not isinstance(a, (StagedList, Tensor)) and not len(a):
            return lo
        staged = _whole(a)
        high = staged.length() if hi is None else hi
        return find(staged, x, lo, high, _same if key is None else hooks.called(key))

    return bisect


def _same(item: Any) -> Any:
    return item


def _inserted(find: Callable[..., Any]) -> Callable[..., None]:
    bisect = _bisected(find)

    def insort(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
        if not isinstance(a, StagedList) and not a:
            a.append(x)
            return
        value = x if key is None else hooks.called(key)(x)
        index = bisect(a, value, lo, hi, key=key)
        _changed(a, StagedList.insert, (index, x), 1)

    return insort


#: By the names of their modules and their own.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "bisect.bisect_left": _bisected(bisect_left),
    "bisect.bisect_right": _bisected(bisect_right),
    "bisect.insort_left": _inserted(bisect_left),
    "bisect.insort_right": _inserted(bisect_right),
    "heapq.heapify": _in_heap(heapify, 0, lambda heap: None),
    "heapq.heappop": _in_heap(heappop, -1),
    "heapq.heappush": _in_heap(heappush, 1, list.append),
    "heapq.heappushpop": _in_heap(heappushpop, 0, lambda heap, item: item),
    "heapq.heapreplace": _in_heap(heapreplace, 0),
    "heapq.nlargest": _extreme(True),
    "heapq.nsmallest": _extreme(False),
}
