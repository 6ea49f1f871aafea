"""`keys`, `values` and `items` that are held in a name show what is in the dict now."""

from __future__ import annotations

from collections import OrderedDict
from types import SimpleNamespace

import pytest

from tests import modes


def of_an_empty_dict(xs):
    counts = {}
    keys, values, items = counts.keys(), counts.values(), counts.items()
    for x in xs:
        counts[x] = x * 2
    return list(keys), list(values), list(items), len(keys), 4 in keys


def of_keys_in_a_graph(xs):
    counts = {}
    for x in xs:
        counts[x] = x * 2
    keys = counts.keys()
    counts[100] = 1
    return len(keys), list(keys), 100 in keys


def read_in_the_loop_that_adds(xs):
    counts = {}
    for x in xs:
        counts[x] = x * 2
    keys, values, items = counts.keys(), counts.values(), counts.items()
    total = 0
    for x in xs:
        counts[x + 10] = x
        total += len(keys) + sum(values)
        if x > 3:
            counts[1] = 5
            total += len(items)
    return total, len(keys), sum(values), sorted(items)


def added_in_a_branch(xs):
    counts = {0: 1}
    keys = counts.keys()
    for x in xs:
        if x > 3:
            counts[x] = 1
    return len(keys), sum(keys), 4 in keys


def held_by_an_object(xs):
    counts = {0: 1}
    holder = SimpleNamespace(values=counts.values())

    def count(x):
        counts[x] = counts.get(x, 0) + 1

    for x in xs:
        count(x)
    return sum(holder.values), len(holder.values)


def of_keys_of_python(xs):
    sums = {"a": 1, "b": 2}
    values = sums.values()
    if xs[0] > 1:
        sums["a"] = 7
    for x in xs:
        sums["b"] += x
    return sum(values), list(values)


def of_an_ordered_dict(xs):
    counts = OrderedDict()
    items = counts.items()
    for x in xs:
        counts[x] = 1
    counts.pop(3)
    return list(items)


PROGRAMS = [
    of_an_empty_dict,
    of_keys_in_a_graph,
    read_in_the_loop_that_adds,
    added_in_a_branch,
    held_by_an_object,
    of_keys_of_python,
    of_an_ordered_dict,
]


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_python(program, mode):
    expected = modes.run(program, ([3, 4, 3],), "plain")
    found = modes.run(program, ([3, 4, 3],), mode)

    assert expected.error is None
    assert found.message == ""
    assert modes.same(found.value, expected.value)
