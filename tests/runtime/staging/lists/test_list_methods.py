"""What finds an item: `index` and `count` of lists, tuples and deques."""

from __future__ import annotations

from collections import deque

import pytest

from tests import modes


def of_a_tuple(a, b):
    items = (b, a, b)
    return items.count(a), items.index(a), items.index(b, 1), (a, b, 7).count(7)


def of_a_deque(a, b):
    items = deque([b, a, b])
    return items.count(b), items.index(a), items.index(b, 1, 3)


def structures_of_as_many_leaves(a, b):
    pairs, singles = [], []
    for i in range(b):
        pairs.append(((i, a), i + a))
        singles.append((i,))
    inside = (0, (a, a)) in pairs, ((0, a), a) in pairs, 0 in singles, (0,) in singles
    counts = singles.count(0), singles.count([0]), singles.count((0,))
    return inside, counts, singles == [0, 1, 2][:b], singles == [(0,), (1,), (2,)][:b]


def missing_in_a_tuple(a, b):
    return (a, a).index(b)


def missing_behind_a_start(a, b):
    return [a, b].index(a, 1)


def within(a, b):
    items = []
    for i in range(b):
        items.append(i % 2)
    found = items.index(1, a + 1), items.index(0, -2), items.index(0, 1, b)
    return found, items.index(0, a - 1)


def missing_within(a, b):
    items = []
    for _ in range(b):
        items.append(a)
    return items.index(a, 1, 1)


PROGRAMS = [
    *((program, (1, 5)) for program in (of_a_tuple, of_a_deque, within)),
    *((program, (1, 5)) for program in (missing_in_a_tuple,)),
    (structures_of_as_many_leaves, (1, 3)),
]


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize(("program", "arguments"), PROGRAMS)
def test_as_python(program, arguments, mode):
    modes.check_as_python(program, arguments, mode)


@pytest.mark.parametrize("program", [missing_behind_a_start, missing_within])
def test_missing(program):
    for mode in modes.MODES:
        assert modes.run(program, (1, 5), mode).error == "ValueError"
