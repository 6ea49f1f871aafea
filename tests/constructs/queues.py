"""`collections.deque`, `heapq` and `bisect` where tensors decide."""

from __future__ import annotations

import bisect
import heapq
from collections import deque

from tests.support import construct


@construct("`deque` as a queue", (5,), (0,))
def queue(n):
    waiting = deque([n])
    count = 0
    while waiting:
        x = waiting.popleft()
        count += 1
        if x > 0:
            waiting.append(x - 1)
            if x % 2 == 0:
                waiting.appendleft(x // 2 - 1)
    return count


@construct("`deque`: indexes, `len`, iteration, `rotate`", (5,))
def both_ends(n):
    items = deque()
    for i in range(n):
        items.append(i)
    items.rotate(2)
    last = items.pop()
    return list(items), last, len(items), items[0], items[-1]


@construct("`popleft` of an empty deque", (3,))
def emptied(n):
    items = deque()
    for i in range(n):
        items.append(i)
    for _ in range(n + 1):
        items.popleft()
    return len(items)


@construct("`heappush`, `heappop`", (6,), (1,))
def heap(n):
    items = []
    for i in range(n):
        heapq.heappush(items, (i * 7 % 5, i))
    return items, heapq.heappop(items), items


@construct("`heapify`, `nlargest`, `nsmallest`", (6,))
def heap_of_some(n):
    items = [5, n, 3, 8, 1]
    heapq.heapify(items)
    return items, heapq.nlargest(2, items), heapq.nsmallest(2, items)


@construct("`insort`, `bisect_left`", (6,), (0,))
def kept_in_order(n):
    items = []
    for i in range(n):
        bisect.insort(items, i * 7 % 5)
    return items, bisect.bisect_left(items, 2)
