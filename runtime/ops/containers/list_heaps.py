"""The ops behind `heapq` and `bisect` of lists in graphs: where each element goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.ops.record import Op, register
from runtime.ops.shapes import dims_of, spec
from runtime.types import dtypes
from runtime.types.specs import TensorSpec

__all__ = ["BISECT", "HEAP"]

Array = np.ndarray[Any, Any]

BISECT = "ListBisect"
HEAP = "ListHeap"


class _Heap:
    """The places of a list's elements in the order of a heap, as `heapq` has them."""

    def __init__(self, columns: tuple[Array, ...]) -> None:
        self._columns = columns
        self.places = list(range(len(columns[0])))

    def _value(self, place: int) -> tuple[Any, ...]:
        return tuple(column[place : place + 1].tolist()[0] for column in self._columns)

    def is_less(self, one: int, other: int) -> bool:
        """Whether one element is less than another, by their places in the list."""
        return self._value(one) < self._value(other)

    def rise(self, start: int, at: int) -> None:
        """Move what is at a position up, over all that are greater."""
        places = self.places
        moved = places[at]
        while at > start:
            above = (at - 1) // 2
            if not self.is_less(moved, places[above]):
                break
            places[at] = places[above]
            at = above
        places[at] = moved

    def sink(self, at: int) -> None:
        """Move what is at a position down to a leaf, and up from there again."""
        places, start = self.places, at
        moved, end = places[at], len(places)
        below = 2 * at + 1
        while below < end:
            right = below + 1
            if right < end and not self.is_less(places[below], places[right]):
                below = right
            places[at] = places[below]
            at, below = below, 2 * below + 1
        places[at] = moved
        self.rise(start, at)


def _push(heap: _Heap) -> None:
    heap.rise(0, len(heap.places) - 1)


def _pop(heap: _Heap) -> None:
    last = heap.places.pop()
    if heap.places:
        heap.places[0] = last
        heap.sink(0)


def _all(heap: _Heap) -> None:
    for at in reversed(range(len(heap.places) // 2)):
        heap.sink(at)


def _first(heap: _Heap) -> None:
    heap.sink(0)


def _push_and_pop(heap: _Heap) -> None:
    """The last element goes in and the least one comes out, which is the last then."""
    given = heap.places.pop()
    if heap.places and heap.is_less(heap.places[0], given):
        given, heap.places[0] = heap.places[0], given
        heap.sink(0)
    heap.places.append(given)


_CHANGES: dict[str, Callable[[_Heap], None]] = {
    "all": _all,
    "first": _first,
    "pop": _pop,
    "push": _push,
    "push and pop": _push_and_pop,
}


def _heap(*columns: Array, change: str) -> Array:
    heap = _Heap(columns)
    _CHANGES[change](heap)
    return np.array(heap.places, np.int32)


def _infer_heap(*columns: TensorSpec, change: str) -> TensorSpec:
    dims = dims_of(columns[0])
    count = dims[0] if dims and change != "pop" else None
    return spec((count,), dtypes.int32)


#: The places of a heap's elements after a change of it.
register(Op(HEAP, _heap, _infer_heap, strong=True))


def _bisect(low: Array, high: Array, *columns: Array, right: bool) -> Array:
    """Where a value goes in a sorted list; the value is the last row of the columns."""
    start, end = int(low), int(high)
    last = len(columns[0]) - 1
    values = _Heap(columns)
    if start < 0:
        raise ValueError("lo must be non-negative")
    while start < end:
        middle = (start + end) // 2
        if middle >= last:
            raise IndexError("list index out of range")
        if right:
            goes_left = values.is_less(last, middle)
        else:
            goes_left = not values.is_less(middle, last)
        start, end = (start, middle) if goes_left else (middle + 1, end)
    return np.array(start, np.int32)


def _infer_bisect(*operands: TensorSpec, right: bool) -> TensorSpec:
    return TensorSpec((), dtypes.int32)


register(Op(BISECT, _bisect, _infer_bisect, stateful=True, strong=True))
