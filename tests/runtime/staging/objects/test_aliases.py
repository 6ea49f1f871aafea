"""Objects that have several names, and tensors as keys: right or refused in graphs."""

from __future__ import annotations

import copy
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import runtime as tf
from autograph.errors import StagingError
from runtime.core.errors import StagedStateError
from runtime.staging.objects.copy import element_copy

# --- changes of what a tensor chose ---------------------------------------------------


def changed_by_a_method(n):
    small, big = [1], [2]
    chosen = small if n > 1 else big
    chosen.append(5)
    return small, big


def changed_at_once(n):
    small, big = [], []
    for i in range(n):
        (small if i < 2 else big).append(i)
    return small, big


def changed_by_a_helper(n):
    def push(items):
        items.append(1)

    small, big = [1], [2]
    push(small if n > 1 else big)
    return small, big


def changed_list_of_an_open_length(n):
    small, big = [], []
    for i in range(n):
        small.append(i)
        big.append(-i)
    chosen = small if n > 1 else big
    chosen.append(5)
    return small, big


def changed_set(n):
    small, big = {1}, {2}
    if n > 1:
        big = small
    big.add(7)
    return len(small), len(big)


def changed_deque(n):
    small, big = deque([1]), deque([2])
    if n > 1:
        big = small
    big.append(7)
    return len(small), len(big)


def changed_source_of_a_set(n):
    small, big = {1}, {2}
    chosen = small if n > 1 else big
    small.add(n)
    return len(chosen)


def changed_source_of_a_deque(n):
    small, big = deque([1]), deque([2])
    chosen = small if n > 1 else big
    small.append(7)
    return chosen[-1]


def changed_dict_of_the_graph(n):
    small, big = {1: 1}, {2: 2}
    small[n] = 1
    big[n] = 2
    chosen = small if n > 1 else big
    chosen[n + 1] = 7
    return len(small), len(big)


def changed_set_of_the_graph(n):
    small, big = {1}, {2}
    small.add(n)
    big.add(n)
    chosen = small if n > 1 else big
    chosen.update({n + 1, 8})
    return len(small), len(big)


def changed_counter_of_the_graph(n):
    small, big = Counter(), Counter()
    small[n] += 1
    big[n] += 2
    chosen = small if n > 1 else big
    chosen.update([n, n + 1])
    return len(small), len(big)


def appended_to_what_may_be_none(n):
    items = [1, 2]
    maybe = items if n > 1 else None
    if maybe is not None:
        maybe.append(5)
    return len(items)


def grown_by_a_loop_after_a_choice(n):
    small, big = deque([4, 5]), deque([1])
    chosen = small if n > 1 else big
    for _ in range(n):
        big.append(1)
    return len(chosen)


def added_by_a_default_in_one_branch(n):
    counts = defaultdict(int)
    if n > 1:
        counts[7] += 1
    return len(counts)


def grown_by_a_loop_in_a_branch_after_a_choice(n):
    one, other = deque([2, 3]), deque([2, 3])
    if n == 3:
        other = other if n < 1 else one
        for _ in range(n):
            one.append(n)
    return len(one), len(other)


def list_in_a_named_tuple(n):
    one, other = [1, 2], [3, 4]
    chosen = Pair(one, 1)
    if n > 1:
        chosen = Pair(other, 2)
    one[0] = 9
    return chosen.a[0], chosen.b


def changed_after_a_branch(n):
    small, big = [1], [2]
    if n > 1:
        chosen = small
    else:
        chosen = big
    chosen[0] = 5
    return small, big


def changed_dict(n):
    one, other = {"v": 1}, {"v": 2}
    chosen = one if n > 1 else other
    chosen["v"] = 7
    return one["v"], other["v"]


def swapped(n):
    a, b = [1], [2]
    if n > 1:
        a, b = b, a
    a.append(3)
    return a, b


def swapped_by_an_expression(n):
    a, b = [1], [2]
    a, b = (b, a) if n > 1 else (a, b)
    a.append(3)
    return a, b


def returned_by_a_helper(n):
    def make():
        small, big = [1], [2]
        if n > 1:
            return small
        return big

    items = make()
    items.append(7)
    return items


def assigned_by_a_helper(n):
    def make():
        small, big = [1], [2]
        if n > 1:
            chosen = small
        else:
            chosen = big
        return chosen

    items = make()
    items[0] = 7
    return items


def kept_or_replaced(n):
    best, other = [0], [1]
    if n == 1:
        best = other[:]
    elif n == 2:
        best = [2]
    best.append(1)
    return best


def kept_in_a_loop(n):
    current = [0, 0]
    best = list(current)
    for i in range(n):
        current[0] = i
        if i == 1:
            best = current[:]
    best[1] = 5
    return best


def rows_of_a_table(n):
    row = [0, 1]
    for i in range(n):
        new = [row[1], row[0] + 1] if i % 2 == 0 else row
        row = new
        row[0] = row[0] + 1
    return row


REFUSED = [
    grown_by_a_loop_in_a_branch_after_a_choice,
    appended_to_what_may_be_none,
    grown_by_a_loop_after_a_choice,
    added_by_a_default_in_one_branch,
    changed_set,
    changed_deque,
    changed_source_of_a_set,
    changed_source_of_a_deque,
    changed_dict_of_the_graph,
    changed_set_of_the_graph,
    changed_counter_of_the_graph,
    changed_by_a_method,
    changed_at_once,
    changed_by_a_helper,
    changed_list_of_an_open_length,
    list_in_a_named_tuple,
    changed_after_a_branch,
    changed_dict,
    swapped,
    swapped_by_an_expression,
    returned_by_a_helper,
    assigned_by_a_helper,
    kept_or_replaced,
    kept_in_a_loop,
    rows_of_a_table,
]


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_a_change_of_one_of_several_is_refused(program):
    with pytest.raises((StagedStateError, StagingError), match=r"AG2(01|09|10)"):
        tf.function(program)(tf.constant(3))


# --- and what is none -----------------------------------------------------------------


def read_alone(n):
    small, big = [1, 2], [3, 4, 5]
    chosen = small if n > 1 else big
    return sum(chosen), len(small)


def read_set(n):
    small, big = {1, 2}, {3}
    chosen = small if n > 1 else big
    return len(chosen), 3 in chosen, len(small)


def read_deque(n):
    small, big = deque([1, 2]), deque([3])
    chosen = small if n > 1 else big
    return chosen[0], len(chosen), len(small)


def changed_copy_of_a_set(n):
    small, big = {1}, {2}
    chosen = (small if n > 1 else big).copy()
    chosen.add(n)
    return len(chosen), len(small), len(big)


def changed_copy_of_a_dict_of_the_graph(n):
    small, big = {1: 1}, {2: 2}
    small[n] = 1
    big[n] = 2
    chosen = (small if n > 1 else big).copy()
    chosen[n + 1] = 7
    return len(chosen), len(small), len(big)


class Box:
    pass


def added_in_place_to_an_attribute(n):
    x, y = Box(), Box()
    x.items = []
    y.items = x.items
    x.items += [i for i in range(n)]
    return len(x.items), len(y.items)


def added_in_place_to_an_item(n):
    rows = [[], [1]]
    row = rows[0]
    rows[0] += [i for i in range(n)]
    return len(row), len(rows[0])


def repeated_in_place(n):
    x, y = Box(), Box()
    x.items = [1, 2]
    y.items = x.items
    x.items *= n
    return len(x.items), len(y.items)


def joined_in_place(n):
    added = {4}
    added.add(n)
    items = same = {1, 2}
    items |= added
    other = left = {1, n}
    left &= added
    return len(items), len(same), len(other), len(left)


def added_to_a_default_dict(n):
    counts = defaultdict(int, {1: 1})
    same = counts
    counts[n] += 1
    return len(counts), sum(counts.values()), sum(same.values())


def counter_without_the_key(n):
    one, other = Counter([1, 1]), Counter([1])
    chosen = one if n > 1 else other
    return chosen[1], chosen[5]


def list_that_may_be_none_changed_by_a_method(n):
    class Log:
        def __init__(self):
            self.items = []

        def add(self):
            self.items.append(4)

    log = Log()
    maybe = log if n > 1 else None
    if maybe is not None:
        maybe.add()
    return len(log.items)


class Pair(NamedTuple):
    a: Any
    b: Any


def changed_in_the_branches(n):
    def push(items):
        items.append(1)

    small, big = [1], [2]
    if n > 1:
        push(small)
    else:
        push(big)
    return small, big


def changed_copy(n):
    small, big = [1], [2]
    chosen = list(small if n > 1 else big)
    chosen.append(5)
    return chosen, small, big


@dataclass
class Ends:
    a: Any
    b: Any


def changed_or_replaced(n):
    ends = Ends(n, 6)
    if n == 1:
        ends = Ends(ends.b, 2)
    else:
        ends.a, ends.b = ends.b, ends.a
    return ends.a, ends.b


def longest_run(n):
    best, run = [], []
    for x in [1, 2, n, 4, 1]:
        if run and x < run[-1]:
            run = []
        run = run + [x]
        if len(run) > len(best):
            best = run
    return best


def lists_of_two_lengths(n):
    short, long = [1, 2], [1, 2, 3]
    chosen = short
    for i in range(n):
        chosen = long if i % 2 else short
    return sum(chosen)


ALLOWED = [
    added_in_place_to_an_attribute,
    added_in_place_to_an_item,
    repeated_in_place,
    joined_in_place,
    added_to_a_default_dict,
    counter_without_the_key,
    list_that_may_be_none_changed_by_a_method,
    read_set,
    read_deque,
    changed_copy_of_a_set,
    changed_copy_of_a_dict_of_the_graph,
    read_alone,
    changed_in_the_branches,
    changed_copy,
    changed_or_replaced,
    longest_run,
    lists_of_two_lengths,
]


@pytest.mark.parametrize("program", ALLOWED, ids=lambda program: program.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_what_is_made_anew_may_change(program, n):
    found = tf.function(program)(tf.constant(n))

    assert tf.nest.map_structure(int, found) == program(n)


# --- elements that leave the graph ----------------------------------------------------


def test_elements_that_are_returned_are_lists_and_dicts():
    @tf.function
    def first_of(n):
        rows, tables = [], []
        for i in range(n):
            rows.append([i, i + 1])
            tables.append({"i": i})
        return rows[0], (tables[0],)

    row, (table,) = first_of(tf.constant(2))
    assert type(row) is list
    assert type(table) is dict


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_elements_can_be_changed(copied):
    items = copied(element_copy([1]))
    items.append(2)
    table = copied(element_copy({"a": 1}))
    table["b"] = 2

    assert items == [1, 2]
    assert table == {"a": 1, "b": 2}


def test_an_element_or_a_list():
    def either(n):
        rows = []
        for i in range(n):
            rows.append([i, i + 1])
        row = rows[0] if n > 1 else [0, 0]
        return row[0] + row[1]

    assert tf.function(either)(tf.constant(3)).numpy() == either(3)


def named_as_what_is_returned(n):
    a, b = [1, 2], [3, 4]
    return_value = a
    while n > 5:
        return_value = b
        n -= 1
    return_value[0] = 9
    return a[0] * 10 + b[0]


def test_a_variable_is_not_told_by_its_name_alone():
    with pytest.raises(StagedStateError, match="AG210"):
        tf.function(named_as_what_is_returned)(tf.constant(9))


def returned_from_a_loop_in_a_branch(rows, n):
    def complete(path):
        if len(path) == n:
            return path + [0] if rows[path[-1]][0] else None
        for vertex in range(1, n):
            if rows[path[-1]][vertex] and vertex not in path:
                if (cycle := complete(path + [vertex])) is not None:
                    return cycle
        return None

    return complete([0])


@pytest.mark.parametrize("rows", [[[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 1], [1, 0]]])
def test_a_result_may_be_kept_beside_another_function_s_flag(rows):
    given = [[tf.constant(v) for v in row] for row in rows]
    found = tf.function(returned_from_a_loop_in_a_branch)(given, len(rows))
    expected = returned_from_a_loop_in_a_branch(rows, len(rows))
    assert found == expected if expected is None else list(map(int, found)) == expected
