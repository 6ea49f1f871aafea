"""Containers in ordinary Python: the same text on Python's own and in graphs."""

from __future__ import annotations

import copy
import heapq
from collections import Counter, OrderedDict, defaultdict

import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.staging.library import dict_kinds, ordering, ordinary, tables
from tests import modes

PAIRS = [(1, 2), (3, 4), (1, 5)]


@pytest.mark.parametrize(
    "table", [{}, {3: 0}, defaultdict(int, {1: 1}), OrderedDict([(3, 1), (1, 0)])]
)
def test_pairs_are_set_as_python_updates_a_dict(table):
    expected, found = copy.copy(table), copy.copy(table)
    expected.update(PAIRS)

    tables.set_pairs(found, PAIRS)

    assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize(("method", "sign"), [("update", 1), ("subtract", -1)])
def test_counts_are_those_of_python(method, sign):
    expected, found = Counter({1: 1}), Counter({1: 1})
    getattr(expected, method)([1, 2, 1])
    getattr(expected, method)({2: 5, 7: 1})

    dict_kinds.count_each(found, [1, 2, 1], sign)
    dict_kinds.count_pairs(found, [(2, 5), (7, 1)], sign)

    assert found == expected


def test_items_and_keys_are_computed_in_their_order():
    assert ordering.listed(range(3)) == [0, 1, 2]
    assert ordering.keys_of("ab", ord) == [97, 98]


def test_an_item_is_assigned_to_the_list_itself():
    items = [1, 2]

    assert ordinary.with_item(items, 1, 5) is items == [1, 5]


def test_what_is_to_be_taken_out_is_there():
    assert ordinary.leaving([1, 2], 0, "nothing") == 1
    with pytest.raises(IndexError, match="nothing"):
        ordinary.leaving([], 0, "nothing")


def test_loops_of_the_library_are_traced_once(monkeypatch):
    added, add = [], Graph.add

    def note(graph, op, *args):
        added.append(op)
        return add(graph, op, *args)

    @tf.function
    def pushed(n):
        items = [i for i in tf.range(n)]
        added.clear()
        heapq.heappush(items, 3)
        return items

    monkeypatch.setattr(Graph, "add", note)
    pushed.get_concrete_function(tf.constant(4))

    assert added.count("ListSet") == 2, "in the loop, and after it"


def sets_changed_in_place(n):
    some = set()
    for i in range(n):
        some.add(i % 4)
    same = some
    some |= {7, 1}
    some ^= {0, 9}
    some &= {1, 2, 7, 9}
    some -= {2}
    nothing = some.update([5], [6, 1])
    some.symmetric_difference_update([6, 8])
    some.intersection_update([1, 5, 8, 9])
    some.difference_update([1])
    return sorted(same), len(some), nothing


def set_with_a_list(n):
    some = set()
    for i in range(n):
        some.add(i)
    some |= [n]
    return some


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize("function", [sets_changed_in_place, set_with_a_list])
def test_as_python(function, mode):
    expected = modes.run(function, (5,), "plain")
    found = modes.run(function, (5,), mode)

    assert found.error == expected.error
    assert modes.same(found.value, expected.value)
