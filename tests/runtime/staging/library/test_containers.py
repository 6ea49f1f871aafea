"""Dicts, sets, deques, heaps and slices that tensors decide about: as in Python."""

from __future__ import annotations

import bisect
import heapq
from collections import Counter, defaultdict, deque
from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError
from tests import modes

# --- dicts and sets -------------------------------------------------------------------


def counted(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    total = 0
    for key, count in counts.items():
        total = total * 10 + key + count
    return total, len(counts), max(counts, key=counts.get), sum(counts.values())


def seen_twice(xs):
    seen = set()
    for x in xs:
        if x in seen:
            return x, len(seen)
        seen.add(x)
    return -1, len(seen)


def memo(n):
    known = {0: 0, 1: 1}
    for i in range(2, n):
        known[i] = known[i - 1] + known[i - 2]
    return known, n in known, known[n - 1]


def pairs_for_keys(n):
    known = {}
    for i in range(n):
        for j in range(n):
            if (j, i) in known:
                continue
            known[i, j] = i * 10 + j
    return known, known.get((9, 9), -1), known[0, n - 1]


def missing_pair(n):
    known = {}
    for i in range(n):
        known[i, 1] = i
    return known[n, 2]


def displays(n):
    seen, depth = {n}, {n: 0, n + 1: 5}
    seen.add(n + 1)
    depth[n + 2] = len(seen)
    squares = {i: i * i for i in range(n)}
    small = {v % 3 for v in squares.values()}
    return seen, depth, squares, small, {**depth, 0: n}, len({n, 3})


def defaults(n):
    sums, counts = defaultdict(int), Counter()
    for i in range(n):
        sums[i % 3] += i
        counts[i % 2] += 1
    return sums, counts[0], counts[7], len(counts)


def removed(n):
    items = {}
    for i in range(n):
        items[i] = i
    del items[0]
    first = items.pop(1), items.pop(77, -1), items.setdefault(2, 9)
    for key in list(items):
        if key % 2 == 0:
            del items[key]
    while items:
        key, _ = items.popitem()
        if key == 3:
            break
    return first, items, list(items.keys()), sorted(items)


def removed_too_often(n):
    items = {1: 1}
    items[n] = 2
    del items[n]
    del items[n]
    return items


def members_of_pythons_own(n):
    seen, flags = {1, 5}, set()

    def note(x):
        flags.add("any")
        if x == 2:
            flags.add("two")

    if n > 3:
        seen.add(3)
        seen.discard(1)
    for i in range(n):
        note(i)
    return len(seen), 3 in seen, n in seen, seen, "two" in flags, len(flags)


def set_operations(n):
    some = set()
    for i in range(n):
        some.add(i % 4)
    some.discard(9)
    some.remove(0)
    other = {1, 7}
    joined = some | other, some & other, some - other, some ^ other
    return joined, some <= {1, 2, 3}, some == {1, 2, 3}, some.isdisjoint([8])


def grown_in_a_loop_over_it(n):
    items = {1: 1}
    for i in range(n):
        items[i] = i
    for key in items:
        if key == 2:
            items[key + 100] = 0
    return len(items)


def in_one_branch(n):
    found = {}
    if n > 2:
        found[n] = 1
    else:
        found[0] = 2
    for i in range(n):
        if i > 1:
            found[i] = found.get(i, 5) + i
    return found


def anew_in_each_iteration(n):
    sizes = []
    for i in range(n):
        seen = set()
        for j in range(i):
            seen.add(j * 7 % 3)
        sizes.append(len(seen))
    return sizes


class Tally:
    def __init__(self):
        self.counts = {}
        self.seen = set()

    def add(self, x, y):
        if (x, y) not in self.seen:
            self.seen.add((x, y))
            self.counts[x] = self.counts.get(x, 0) + y


def in_an_object(n):
    tally = Tally()
    other = tally.counts
    for i in range(n):
        tally.add(i % 2, i % 3)
    return tally.counts, len(tally.seen), other is tally.counts


def filled_by_a_helper(n):
    def fill(items, n):
        for i in range(n):
            items[i] = i * i

    items = {}
    fill(items, n)
    return items, len(items)


def of_texts(n):
    words = {}
    for i in range(n):
        word = "abcab"[i % 5]
        words[word] = words.get(word, 0) + 1
    return words


# --- deques, heaps, sorted lists ------------------------------------------------------


def searched_by_breadth(n):
    grid = [[0, 0, 0], [1, 1, 0], [0, 0, 0]]
    depth = {(0, 0): n}
    queue = deque([(0, 0)])
    while queue:
        y, x = queue.popleft()
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            b, a = y + dy, x + dx
            if 0 <= b < 3 and 0 <= a < 3 and grid[b][a] == 0 and (b, a) not in depth:
                depth[b, a] = depth[y, x] + 1
                queue.append((b, a))
    return depth[2, 0], len(depth)


def turned(n):
    queue = deque()
    for i in range(n):
        queue.append(i)
    queue.rotate(2)
    queue.extendleft([7, 8])
    queue.appendleft(9)
    last = queue.pop()
    total = 0
    for x in queue:
        total = total * 10 + x
    return total, last, len(queue), queue[0], queue[-1], list(queue), 3 in queue


def queues_beside_each_other(n):
    queue, items = deque([n, n]), [n, 1]
    for i in range(n):
        queue.append(i)
        items.append(i)
    before, copy = list(queue), queue.copy()
    for i in range(2 * n):
        if i % 3 == 0:
            before = list(queue)
        queue.append(queue.popleft() + i)
        copy.append(copy.popleft() - i)
        items.append(items.pop(0) * 2)
        items.append(items[0])
    return before, copy, queue, items


def emptied(n):
    queue = deque([1])
    for i in range(n):
        if i > 0:
            queue.popleft()
    return len(queue)


def heaped(n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, (i * 7 % 5, i))
    out = heapq.heappop(heap), heapq.heapreplace(heap, (2, 2))
    more = heapq.heappushpop(heap, (0, 1)), heapq.heappushpop(heap, (9, 1))
    return heap, out, more


def heap_of_some(n):
    heap = [5, n, 3, 8, 1]
    heapq.heapify(heap)
    heapq.heappush(heap, n + 1)
    largest = heapq.nlargest(2, heap), heapq.nsmallest(2, heap, key=lambda v: -v)
    return heap, heapq.heappop(heap), largest


def heap_that_is_empty(n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, i)
    for _ in range(n + 1):
        heapq.heappop(heap)
    return heap


def kept_in_order(n):
    items = []
    for i in range(n):
        bisect.insort(items, i * 7 % 5)
    places = bisect.bisect_left(items, 2), bisect.bisect(items, 2)
    return items, places, bisect.bisect_left([1, 3, 5], n)


# --- order and slices -----------------------------------------------------------------


def ordered(n):
    def cost(pair):
        return -pair[0]

    pairs = []
    for i in range(n):
        pairs.append((i * 7 % 5, i))
    pairs.sort(key=cost)
    by_last = sorted(pairs, key=lambda p: p[1], reverse=True)
    return pairs, by_last, sorted(pairs), min(pairs), max(pairs, key=lambda p: p[1])


def ordered_python(n):
    items = [(n, 2), (1, n), (n, 1)]
    best = (99, 0)
    for i in range(n):
        best = min(best, (i * 7 % 5, -i))
    items.sort(key=lambda p: p[1])
    return items, sorted(items), best, sorted(range(4), key=lambda i: -i * n)


def texts_in_order(n):
    words = []
    for i in range(n):
        words.append("xyz"[i % 3] * (i % 4))
    words.sort(key=len)
    return [len(word) for word in words], sorted(words)[-1] == "z"


def cut(n):
    items = list(range(8))
    other = items
    items[1:n] = [9, 9]
    del items[n + 2 :]
    for i in range(n):
        items[i : i + 1] = [i, i]
    return items, other is items, items[::-1], items[:n]


def in_steps(n):
    items = []
    for i in range(n):
        items.append(i)
    items[::2] = [7] * ((n + 1) // 2)
    turned = items[::-1]
    del turned[::2]
    return items, turned


def steps_of_another_length(n):
    items = []
    for i in range(n):
        items.append(i)
    items[::2] = [7]
    return items


def unpacked(n):
    items = []
    for i in range(n):
        items.append(i)
    items.extend(range(n))
    return [*items, n], [0, *items, *items]


# --- lists of lists -------------------------------------------------------------------


def uneven(n):
    neighbours = [[1, 2], [3], [0, 1, 3], []]
    total = 0
    for i in range(n):
        for j in neighbours[i % 4]:
            total = total * 3 + j
        total += len(neighbours[i % 4])
    return total, neighbours[n % 4], 3 in neighbours[n % 4]


def sorted_by_digits(n):
    items, place = [170, 45, 75, 90, 2, 24, 802, 66], 1
    while n // place > 0:
        buckets = [[] for _ in range(10)]
        for x in items:
            buckets[x // place % 10].append(x)
        items = []
        for bucket in buckets:
            for x in bucket:
                items.append(x)
        place *= 10
    return items


def moved(n):
    stacks, total = [[1, 2, 3], [4], []], 0
    for i in range(n):
        if stacks[i % 3]:
            x = stacks[i % 3].pop()
            stacks[(i + 1) % 3].append(x)
            total += x
    return stacks, total


def row_with_a_name(n):
    buckets = [[] for _ in range(3)]
    for i in range(n):
        bucket = buckets[i % 3]
        bucket.append(i)
        if len(bucket) > 1:
            bucket.pop(0)
        bucket.insert(0, -i)
    return buckets, sum(buckets[n % 3]), sorted(buckets[n % 3])


class Edges:
    def __init__(self, n):
        self.ends = [[] for _ in range(n)]

    def add(self, u, v, cost):
        self.ends[u].append((v, cost))
        self.ends[v].append((u, cost))


def cheapest(n):
    graph = Edges(4)
    for i in range(n):
        graph.add(i % 4, (i + 1) % 4, i + 1)
    costs, heap = [99] * 4, [(0, n % 4)]
    costs[n % 4] = 0
    while heap:
        cost, u = heapq.heappop(heap)
        if cost > costs[u]:
            continue
        for v, more in graph.ends[u]:
            if cost + more < costs[v]:
                costs[v] = cost + more
                heapq.heappush(heap, (cost + more, v))
    return costs, len(graph.ends[0])


def taken_from_none(n):
    stacks = [[1], [], []]
    for i in range(n):
        stacks[i].pop()
    return stacks


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (counted, ([3, 1, 3, 2, 3, 1],)),
    (seen_twice, ([3, 1, 2, 1],)),
    (seen_twice, ([3],)),
    *((program, (5,)) for program in (memo, pairs_for_keys, missing_pair, displays)),
    *((program, (5,)) for program in (defaults, removed, set_operations, of_texts)),
    (removed_too_often, (4,)),
    *((members_of_pythons_own, (n,)) for n in (2, 5)),
    *((grown_in_a_loop_over_it, (n,)) for n in (2, 4)),
    *((in_one_branch, (n,)) for n in (1, 4)),
    *((program, (4,)) for program in (anew_in_each_iteration, in_an_object)),
    (filled_by_a_helper, (3,)),
    *((program, (4,)) for program in (searched_by_breadth, turned, heaped)),
    *((queues_beside_each_other, (n,)) for n in (1, 9)),
    *((emptied, (n,)) for n in (2, 3)),
    *((program, (4,)) for program in (heap_of_some, heap_that_is_empty, kept_in_order)),
    *((program, (6,)) for program in (ordered, ordered_python, texts_in_order)),
    *((program, (5,)) for program in (cut, in_steps, steps_of_another_length)),
    (unpacked, (5,)),
    (uneven, (5,)),
]


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_as_python(function, arguments, mode):
    expected = modes.run(function, arguments, "plain")
    found = modes.run(function, arguments, mode)

    assert found.error == expected.error
    # Python shows an eager tensor that is a key as a tensor.
    assert mode == "eager" or found.message == expected.message
    assert modes.same(found.value, expected.value)


# --- what is refused ------------------------------------------------------------------


def of_several_kinds(n):
    items = {}
    for i in range(n):
        items[i] = i
    items["a"] = 1
    return items


def list_for_a_value(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 2, []).append(i)
    return groups


def given_to_python(n):
    items = {}
    for i in range(n):
        items[i] = i
    return tuple(items)


def of_a_greatest_length(n):
    queue = deque()
    for i in tf.range(n):
        queue.append(i)
    for i in tf.range(n):
        queue = deque([i, 3], maxlen=2)
        queue.append(5)
    return queue


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (of_a_greatest_length, "which a graph cannot carry"),
        (of_several_kinds, "several kinds"),
        (list_for_a_value, "a copy|several kinds|item"),
        (given_to_python, "code that is not converted"),
        (moved, "chose among several was changed"),
        (row_with_a_name, "chose among several was changed"),
        (cheapest, "chose among several was changed"),
        (sorted_by_digits, "chose among several was changed"),
        (taken_from_none, "chose among several was changed"),
    ],
)
def test_refused(program, message):
    with pytest.raises(
        StagedStateError, match=rf"test_containers\.py:\d+: AG.*{message}"
    ):
        tf.function(program)(tf.constant(3))


def shown(n):
    items, members, queue = {}, set(), deque()
    for i in range(n):
        items[i, i] = i
        members.add(i)
        queue.append(i)
    return f"{items}", str(members), repr((queue,))


def test_text_of_containers_is_pythons():
    texts = tf.function(shown)(tf.constant(3))

    assert [text.numpy().decode() for text in texts] == list(shown(3))


# --- dicts whose first values are None ------------------------------------------------


def reached(start, goal, edges):
    parent = {start: None}
    queue = deque([start])
    while queue:
        vertex = queue.popleft()
        if vertex == goal:
            break
        for tail, head in edges:
            if tail == vertex and head not in parent:
                parent[head] = tail
                queue.append(head)
    else:
        return -1
    return len(parent) * 10 + len(queue)


def put_beside_none(start, goal):
    parent = {start: None, 1: None}
    if start != goal:
        parent[goal] = start
    return len(parent), parent[start] is None


@pytest.mark.parametrize(("start", "goal"), [(0, 3), (2, 0), (1, 1), (0, 9)])
def test_values_that_are_none_at_first(start: int, goal: int) -> None:
    edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    found = tf.function(reached)(tf.constant(start), tf.constant(goal), edges)
    assert int(found) == reached(start, goal, edges)
    found = tf.function(put_beside_none)(tf.constant(start), tf.constant(goal))
    assert tf.nest.map_structure(int, found) == put_beside_none(start, goal)
