"""Lists of different lengths in a list whose length a tensor decides."""

from __future__ import annotations

from collections import deque

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError
from tests import modes


def of_three_lengths(n):
    items = []
    for i in range(n):
        items.append([])
        items.append([i])
        items.append([i, i + 1])
    return items, items[1], len(items[2]), items[0]


def longer_and_longer(n):
    rows = [[1]]
    for i in range(n):
        rows.append(rows[-1] + [i])
    return rows, len(rows[-1])


def texts(n):
    rows = [["a"]]
    for i in range(n):
        rows.append(rows[i] + [str(i)])
    return rows


def paths_on_a_stack(n):
    stack, found = [(0, [])], []
    while stack:
        node, path = stack.pop()
        if node == n:
            found.append(path)
        else:
            stack.append((node + 1, path + [node]))
            if node % 2:
                stack.append((node + 1, path))
    return found, len(found)


def paths_in_a_queue(n):
    best, queue = [], deque([[0]])
    while queue:
        path = queue.popleft()
        if len(path) > n:
            best = path
            break
        for step in (1, 2):
            queue.append(path + [path[-1] + step])
    return best


def beside_other_values(n):
    items = [(0, "a", [])]
    for i in range(n):
        items.append((i, items[i][1] + "b", items[i][2] + [1.5 * i]))
    return items


def changed(n):
    rows = [[], [1]]
    for i in range(n):
        rows.append(rows[-1] + [i])
    some = rows[1:]
    some.reverse()
    some.insert(1, [9, 9, 9, 9, 9, 9])
    del some[0]
    some[0] = []
    some[1:2] = [[7], [8, 8]]
    total = 0
    for row in some:
        for value in row:
            total += value
    sizes = [len(row) for row in some], sum(len(row) for row in rows)
    return some, some + [[5]], some * 2, total, sizes, [x for r in some for x in r]


def in_an_order_of_lengths(n):
    rows = [[1, 2]]
    for i in range(n):
        rows.append(rows[0][: i % 2])
        rows.append(rows[0] + [i])
    return max(rows, key=len), sorted(rows, key=len), f"{rows}"


def subsets(n):
    found = [[]]
    for i in range(3):
        found = found + [some + [i * n] for some in found]
    return len(found), found


def groups(n):
    found = {}
    for i in range(n):
        found[i % 2] = found.get(i % 2, []) + [i]
    counted = {}
    for i in range(n):
        if i % 2 in counted:
            counted[i % 2] = counted[i % 2] + [i]
        else:
            counted[i % 2] = [i]
    sizes = len(found.get(7, [])), sorted(len(group) for group in found.values())
    return found, counted, sizes


PROGRAMS = [
    *(of_three_lengths, longer_and_longer, texts, paths_on_a_stack, paths_in_a_queue),
    *(beside_other_values, changed, in_an_order_of_lengths, subsets, groups),
]


@pytest.mark.parametrize("mode", ["staged", "interpreted"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_python(program, mode):
    for n in (0, 3):
        expected = modes.run(program, (n,), "plain")
        found = modes.run(program, (n,), mode)

        assert (found.error, found.message) == (expected.error, expected.message)
        assert modes.same(found.value, expected.value)


def searched(n):
    return [0] in longer_and_longer(n)[0]


def compared(n):
    return longer_and_longer(n)[0] == [[1]]


def made_a_tensor(n):
    return tf.stack(longer_and_longer(n)[0])


def added_to_a_default(n):
    found = {n: [n]}
    found.get(n, [0, 0]).append(n)
    return found


def put_in_order(n):
    return sorted(longer_and_longer(n)[0])


@pytest.mark.parametrize(
    "program", [searched, compared, made_a_tensor, put_in_order, added_to_a_default]
)
def test_refused(program):
    with pytest.raises(StagedStateError, match=r"test_ragged\.py:\d+: AG210"):
        tf.function(program)(tf.constant(3))
