"""Items of Python lists that a tensor chooses for an assignment."""

from __future__ import annotations

import pytest

import autograph
import runtime as tf
from runtime.core.errors import StagedStateError
from tests import modes


def in_branch(n):
    items = [1, 2, 3]
    other = items
    if n > 1:
        items[n] = 4
        items[0] = 2
    return items, other


def widened(x, n):
    items = [1, 2, 3]
    for i in range(n):
        items[i] = x * i
    return items


def known_places(n):
    items = [1, 2, 3]
    while n >= 0:
        items[n] = items[0] + 1
        items[0] = n
        n -= 1
    return items, sum(items), len(items), [x * 2 for x in items]


def tuples(n):
    items = [(0, 0)] * 3
    for i in range(n):
        items[i] = (i, i * i)
    return items


def rows(n):
    grid = [[1, 2], [3, 4]]
    first = grid[0]
    grid[n][-1] += 10
    grid[0][n] = 5
    row = grid[1]
    row[n] = 8
    return grid, first


def appended(n):
    items = [0] * 3
    for i in range(n):
        items[i] = i
        items.append(i)
    return items


def captured(n):
    items = [3, 1, 2]

    def swap(i, j):
        items[i], items[j] = items[j], items[i]

    if n > 0:
        swap(n, 0)
    return items


def assigned_then_raised(n):
    items = [1]
    items[n] = 2
    if n > 0:
        raise ValueError("not reached")
    return items


def sliced(n):
    items = [1, 2, 3]
    items[:n] = [0]
    return items


def slice_deleted(n):
    items = [1, 2, 3]
    del items[:n]
    return items


def empty(n):
    items = []
    items[n] = 1
    return items


def asked(n):
    items = [0] * 4
    for i in range(n):
        items[i] = i
    count = 0
    for x in items:
        if x > 1:
            count += 1
    return 3 in items, max(items), f"{items}", count


def returned_early(n):
    items = [1, 2, 3]
    for i in range(n):
        items[i] = 0
        if i == 1:
            return items
    return items


def shortest_paths(n):
    d = [[0, 3, 9], [3, 0, 1], [9, 1, 0]]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return d


def joined_sets(a, b):
    parent = list(range(5))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    parent[find(a)] = find(b)
    parent[find(b)] = find(3)
    return parent


def given_to_recursion(n):
    def go(items, n):
        if n <= 0:
            return items[0]
        turned = [items[1], items[0]]
        turned[n % 2] += 1
        return go(turned, n - 1)

    return go([0, n], n)


def appended_and_asked(n):
    items = [0] * 2
    for i in range(n):
        items.append(i)
    if items:
        return len(items)
    return 0


PROGRAMS = [
    (asked, (4,)),
    (asked, (2,)),
    (returned_early, (1,)),
    (returned_early, (3,)),
    (shortest_paths, (3,)),
    (joined_sets, (1, 2)),
    (given_to_recursion, (3,)),
    (appended_and_asked, (3,)),
    (in_branch, (2,)),
    (in_branch, (1,)),
    (in_branch, (3,)),
    (widened, (0.5, 3)),
    (widened, (0.5, 4)),
    (known_places, (2,)),
    (tuples, (2,)),
    (rows, (1,)),
    (rows, (2,)),
    (rows, (-3,)),
    (appended, (2,)),
    (captured, (2,)),
    (captured, (0,)),
    (assigned_then_raised, (1,)),
    (assigned_then_raised, (0,)),
    (empty, (0,)),
    (sliced, (2,)),
    (slice_deleted, (2,)),
    (slice_deleted, (-9,)),
]


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_as_python(function, arguments, mode):
    expected = modes.run(function, arguments, "plain")
    found = modes.run(function, arguments, mode)
    assert (found.error, found.message) == (expected.error, expected.message)
    assert modes.same(found.value, expected.value)


def uneven(n):
    grid = [[1], [2, 3]]
    grid[n][0] = 1
    return grid


def of_several_kinds(n):
    items = [1, "a"]
    items[n] = 2
    return items


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (uneven, "lists of different lengths"),
        (of_several_kinds, "of several kinds"),
    ],
)
def test_refused(function, words):
    with pytest.raises(StagedStateError, match=rf"AG210: .*{words}"):
        tf.function(function)(tf.constant(1))


def doubled(n):
    items = [0] * 100
    for i in range(n):
        items[i] = i
        items[i] += i
    return items[n - 1]


def test_the_list_is_carried_as_one_tensor():
    concrete = tf.function(doubled).get_concrete_function(tf.constant(3))
    assert len(concrete.to_source().splitlines()) < 25
    assert concrete(tf.constant(40)).numpy() == 78


class Items(list):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)


def evaluated_in_order(log, x):
    def note(value):
        log.append(value)
        return value

    items = [1, 2, 3]
    items[note(x)] = note("value")
    items[note(x + 1)] += note(5)
    own = [Items([1])]
    own[note(0)][x] = 4
    table = {"a": [1]}
    return items, own, [table][0]


def test_python_values_are_pythons_business():
    one, other = [], []
    expected = evaluated_in_order(one, 0)
    assert autograph.convert(evaluated_in_order)(other, 0) == expected
    assert one == other == ["value", 0, 1, 5, 0]
