"""The functions of `heapq` and `bisect` in ordinary Python, against those of Python."""

from __future__ import annotations

import bisect
import heapq
import random
import sys
import traceback

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError
from runtime.ops.containers import lists
from runtime.staging.library import heaps
from tests import modes

ITEMS = [
    pytest.param(lambda chance: chance.randrange(9), id="numbers"),
    pytest.param(lambda chance: (chance.randrange(3), chance.random()), id="tuples"),
    pytest.param(lambda chance: "abc"[chance.randrange(3)], id="texts"),
]


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("seed", range(5))
def test_a_heap_of_python_values_is_as_that_of_python(item, seed):
    chance = random.Random(seed)
    found = [item(chance) for _ in range(chance.randrange(12))]
    expected = list(found)
    heaps.heapify(found)
    heapq.heapify(expected)

    for _ in range(60):
        assert found == expected
        name = chance.choice(["heappop", "heappush", "heappushpop", "heapreplace"])
        args = [] if name == "heappop" else [item(chance)]
        if expected or name in ("heappush", "heappushpop"):
            theirs = getattr(heapq, name)(expected, *args)
            assert getattr(heaps, name)(found, *args) == theirs
        else:
            for function, heap in (
                (getattr(heaps, name), found),
                (getattr(heapq, name), expected),
            ):
                with pytest.raises(IndexError, match=r"^index out of range$"):
                    function(heap, *args)


@pytest.mark.parametrize("name", ["bisect_left", "bisect_right"])
@pytest.mark.parametrize("seed", range(20))
def test_places_in_sorted_python_values_are_those_of_python(name, seed):
    chance = random.Random(seed)
    items = sorted(chance.randrange(9) for _ in range(chance.randrange(12)))
    x, low = chance.randrange(10), chance.randrange(len(items) + 1)
    high = chance.randrange(low, len(items) + 1)

    found = getattr(heaps, name)(items, x, low, high, lambda item: item)

    assert found == getattr(bisect, name)(items, x, low, high)


def pushed_and_popped(n):
    heap, out = [], []
    for i in range(n):
        heapq.heappush(heap, (i * 7 % 5, (i, float(i % 2))))
    heapq.heapify(heap)
    for i in range(n):
        if i % 3 == 0:
            out.append(heapq.heapreplace(heap, (i, (0, 0.5))))
        elif i % 3 == 1:
            out.append(heapq.heappushpop(heap, (i, (i, 1.5))))
        else:
            out.append(heapq.heappop(heap))
    return heap, out


def pushed_texts(n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, "dacb"[i % 4])
    return heap, heapq.heappop(heap)


def changed_when_taken_out(n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, [-i, i])
    least = list(heapq.heappop(heap))
    least[0] = 7
    other = list(heapq.heapreplace(heap, [0, 0]))
    other.append(1)
    return heap, least, other


def in_a_branch(n):
    heap = [n]
    for i in range(n):
        if i % 2:
            heapq.heappush(heap, -i)
        elif len(heap) > 1:
            heapq.heappop(heap)
    return heap


def popped_too_often(n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, i)
    for _ in range(n + 1):
        heapq.heappop(heap)
    return heap


def before_the_first(n):
    items = []
    for i in range(n):
        items.append(i)
    return bisect.bisect_left(items, 2, n - 5)


def behind_the_last(n):
    items = []
    for i in range(n):
        items.append(i)
    return bisect.bisect_right(items, 50, 0, n + 5)


def by_a_key(n):
    items = []
    for i in range(n):
        bisect.insort(items, (i, i * 7 % 5), key=lambda pair: pair[1])
    return items, bisect.bisect_left(items, 3, key=lambda pair: pair[1])


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize(
    "function",
    [
        pushed_and_popped,
        pushed_texts,
        changed_when_taken_out,
        in_a_branch,
        popped_too_often,
        before_the_first,
        behind_the_last,
        by_a_key,
    ],
)
@pytest.mark.parametrize("n", [2, 7])
def test_as_python(function, n, mode):
    expected = modes.run(function, (n,), "plain")
    found = modes.run(function, (n,), mode)

    assert found.error == expected.error
    assert found.message == expected.message
    assert modes.same(found.value, expected.value)


def test_an_element_that_is_taken_out_is_a_copy():
    def change_the_least(n):
        heap = []
        for i in range(n):
            heapq.heappush(heap, [-i, i])
        heapq.heappop(heap)[0] = 7
        return heap

    with pytest.raises(StagedStateError, match="AG210"):
        tf.function(change_the_least)(tf.constant(4))


@pytest.mark.skipif(
    sys.version_info < (3, 11),
    reason="Python 3.10 keeps the frames of a raise",
)
def test_a_traceback_shows_the_users_lines_alone():
    with pytest.raises(IndexError) as caught:
        tf.function(popped_too_often)(tf.constant(2))

    lines = [entry.line for entry in traceback.extract_tb(caught.value.__traceback__)]
    assert lines[-1] == "heapq.heappop(heap)"
    files = {e.filename for e in traceback.extract_tb(caught.value.__traceback__)}
    assert files == {__file__}


@pytest.mark.parametrize(
    "item", [lambda i: {"a": i}, lambda i: None if i > 1 else i, lambda i: [i, {}]]
)
def test_what_has_no_order_is_refused(item):
    @tf.function
    def pushed(n):
        heap = []
        for i in tf.range(n):
            heap.append(item(i))
        heapq.heapify(heap)
        return heap

    with pytest.raises(StagedStateError, match=r"AG210.*a graph orders numbers"):
        pushed(tf.constant(3))


def test_a_heap_of_vectors_is_refused():
    @tf.function
    def pushed(n):
        heap = []
        for i in tf.range(n):
            heapq.heappush(heap, tf.stack([i, i]))
        return heap

    with pytest.raises(StagedStateError, match=r"AG210.*a graph orders numbers"):
        pushed(tf.constant(3))


def filled_by_a_helper(items, x):
    for _ in tf.range(2):
        items.append(x)
    items.pop()


def pushed_where(n):
    heap, more = [], []
    for i in tf.range(n):
        heapq.heappush(heap, i)
        if i % 2 == 0:
            heapq.heappush(heap, -i)
        else:
            heapq.heappop(heap)
        filled_by_a_helper(more, i)
    return heap, more


def test_a_heap_is_changed_where_it_lies(monkeypatch):
    """A loop inside has it under the name that it has, and no other one holds it."""
    owns, room_for = [], lists.room_for

    def note(buffer, count, element, more, owned):
        owns.append(owned)
        return room_for(buffer, count, element, more, owned)

    monkeypatch.setattr(lists, "room_for", note)
    pushed = tf.function(pushed_where)
    pushed(tf.constant(20))

    # What the graph begins with is a constant.
    assert owns.count(False) <= 2 < owns.count(True)
