"""A container that a body changes and then replaces by another stays what it was."""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, deque

import pytest

import runtime as tf
from autograph import AutographError
from runtime.core.errors import TracingError
from tests.names_fuzz import is_right, outcome, verdict
from tests.rebinding_world import KINDS, Box, add, load_rebinding
from tests.turns import by_turns

ARGUMENTS = (0, 1, 2, 3)


# --- answered -------------------------------------------------------------------------


def replaced_by_an_empty_list(n):
    a = []
    if n > 0:
        a.append(1)
        a = []
    return len(a)


def replaced_by_an_equal_list(n):
    a = [1]
    if n > 0:
        a.append(2)
        a = [1]
    return a


def exchanged_after_a_change(n):
    cur, nxt = [], []
    if n > 0:
        nxt.append(n)
        cur, nxt = nxt, cur
    return cur, nxt


def levels_of_a_search(n):
    level, seen = [0], 0
    while level:
        following = []
        for x in level:
            seen += 1
            if x < n:
                following.append(x + 1)
        level = following
    return seen


def item_exchanged(n):
    a, g = [], [[], [n]]
    if n > 0:
        g[0] += [n]
        a, g[0] = g[0], a
    return a, g


def replaced_by_a_helper(n):
    a, kept = [], []

    def flush():
        nonlocal a
        kept.extend(a)
        a = []

    if n > 0:
        a.append(n)
        flush()
    return a, kept


def set_replaced(n):
    a = set()
    if n > 0:
        a.add(n)
        a = set()
    return len(a)


def inner_statement_before_a_replacement(n):
    a = [n]
    g = [a, [n]]
    if n == 2:
        a = [5]
    else:
        if n < 1:
            a.insert(0, 7)
        a = [6]
    return a, g


def lists_of_a_list_in_nested_loops(n):
    g = [[], []]
    a, k = g[1], 0
    while k < n:
        while k < n:
            add(g[0], n + 1)
            add(a, 1)
            k += 1
    return g


def row_changed_by_another_name(n):
    a = [1]
    g = [a, []]
    for k in range(n):
        if k % 2 == 0:
            add(a, n)
        g[1] = g[1] + g[0]
    return g


def key_put_and_taken_out_again(n):
    a = {}
    b = a
    if n > 0:
        a[1] = 1
        a.pop(n, 0)
    return len(b)


def ordered_dict_with_a_key_of_one_branch(n):
    a = OrderedDict()
    if n > 0:
        a[1] = 1
        a.pop(1)
    a[n] = 2
    return list(a)


def joined_after_a_loop(n):
    a, c = [1], [2]
    kept = a
    for k in range(n):
        c.append(k)
        a = [k]
    return a + c, kept


def key_of_a_counter_put_and_taken_out_again(n):
    counts = Counter()
    kept = counts
    for _ in range(n):
        counts[1] = 1
        counts.clear()
    return len(kept)


ANSWERED = [
    replaced_by_an_empty_list,
    replaced_by_an_equal_list,
    exchanged_after_a_change,
    levels_of_a_search,
    item_exchanged,
    replaced_by_a_helper,
    set_replaced,
    inner_statement_before_a_replacement,
    lists_of_a_list_in_nested_loops,
    row_changed_by_another_name,
    key_put_and_taken_out_again,
    key_of_a_counter_put_and_taken_out_again,
    ordered_dict_with_a_key_of_one_branch,
    joined_after_a_loop,
]


@pytest.mark.parametrize("program", ANSWERED, ids=lambda program: program.__name__)
def test_a_replaced_container_is_not_the_one_that_was_changed(program):
    staged = tf.function(program)

    for n in ARGUMENTS:
        assert outcome(staged, tf.constant(n)) == outcome(program, n)


# --- refused --------------------------------------------------------------------------


def replaced_beside_another_name(n):
    a = []
    b = a
    if n > 0:
        a.append(1)
        a = []
    return len(a), b


def attribute_replaced(n):
    box = Box()
    box.items = []
    kept = box.items
    if n > 1:
        box.items.append(n)
        box.items = []
    return len(box.items), kept


def items_changed_and_replaced(n):
    box = Box()
    box.items = [0, 1]
    for i in range(n):
        box.items[0] = box.items[0] + i
        box.items = [1, 2, n]
    return len(box.items)


def copy_read_by_list(n):
    a = []
    b = a
    if n < 1:
        a = [1]
    b[:] = [7]
    return list(a)


def pairs_of_a_copy(n):
    a = {}
    b = a
    a[n] = 5
    if n < 1:
        a = a.copy()
    b[n + 1] = 5
    return list(a.items())


def changed_after_a_loop_that_opened_it(n):
    a, b = [1], [1]
    kept, k = a, 0
    while k < n:
        a, b = b, [n]
        kept.append(n)
        k += 1
    a.insert(0, 7)
    return a, kept


def other_name_of_what_a_loop_opened(n):
    g = [deque(), deque([1])]
    if n % 2 == 0:
        g[0] = g[1]
        for _ in range(n):
            g[1].appendleft(7)
    g[0].append(3)
    return list(g[1])


def exchanged_in_a_loop(n):
    cur, nxt = [], []
    for i in range(n):
        nxt.append(i)
        cur, nxt = nxt, cur
    return cur, nxt


def batches(n):
    xs, total = [], 0
    for i in range(n):
        xs.append(i)
        total += len(xs)
        xs = []
    return total, xs


def batches_of_two(n):
    batch, sizes = [], []
    for i in range(n + 3):
        batch.append(i)
        if len(batch) == 2:
            sizes.append(sum(batch))
            batch = []
    return sizes, batch


def deques_exchanged_in_a_loop(n):
    one, other = deque([2, 3]), deque([4, 5])
    for _ in range(n):
        one, other = other, one
        one.append(n)
    return len(one), len(other)


@dataclasses.dataclass
class Row:
    x: int
    items: list


def attribute_of_an_object_that_is_assigned_again(n):
    items = [1, 2]
    row = other = Row(1, [3])
    if n % 2 == 0:
        row.items = items
        row = other
    row.items.append(n)
    return items


def list_in_a_tuple_that_may_be_none(n):
    row = 3, [4]
    chosen = None
    if n >= 1:
        chosen = row
    if chosen is not None:
        chosen[1][0] = n
    return row[1]


def list_in_a_tuple_that_may_be_none_by_another_name(n):
    row = 3, [4]
    chosen = None
    if n >= 1:
        chosen = row
    if chosen is not None:
        items = chosen[1]
        items[0] = n
    return row[1]


def list_changed_where_its_item_is_exchanged_otherwise(n):
    items, holder = [1, 2], Box()
    holder.rows, holder.row = [items, [3]], items
    pair = [items]
    if n > 0:
        holder.rows[0] = [5, 6]
    else:
        holder.row.append(9)
    return pair[0]


REFUSED = [
    replaced_beside_another_name,
    attribute_replaced,
    items_changed_and_replaced,
    copy_read_by_list,
    pairs_of_a_copy,
    changed_after_a_loop_that_opened_it,
    other_name_of_what_a_loop_opened,
    exchanged_in_a_loop,
    batches,
    batches_of_two,
    deques_exchanged_in_a_loop,
    attribute_of_an_object_that_is_assigned_again,
    list_in_a_tuple_that_may_be_none,
    list_in_a_tuple_that_may_be_none_by_another_name,
    list_changed_where_its_item_is_exchanged_otherwise,
]


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_a_copy_whose_source_changed_is_refused(program):
    with pytest.raises((AutographError, TracingError), match="AG210"):
        tf.function(program)(tf.constant(2))


def test_a_key_that_a_loop_takes_out_is_refused() -> None:
    def program(n):
        counts, k = {1: 1}, 0
        while k < n:
            counts.clear()
            k += 1
        return len(counts)

    with pytest.raises(TracingError, match="AG202"):
        tf.function(program)(tf.constant(1))


# --- random programs ------------------------------------------------------------------


@pytest.mark.parametrize("seed", by_turns(range(40)))
@pytest.mark.parametrize("kind", KINDS)
def test_a_random_program_gives_what_python_gives_or_is_refused(kind, seed):
    found = verdict(load_rebinding(kind, seed), ARGUMENTS)

    assert is_right(found), found
