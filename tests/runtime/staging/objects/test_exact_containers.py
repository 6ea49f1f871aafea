"""What a container is besides its items: the order of keys, fields, identical rows."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict

import pytest

import runtime as tf
from autograph import AutographError
from runtime.core.errors import TracingError


@dataclasses.dataclass
class Point:
    x: int
    y: int = dataclasses.field(init=False, default=5)
    z: list = dataclasses.field(init=False)

    def __post_init__(self):
        self.z = [self.x]


def point(x, y):
    made = Point(x)
    made.y = y
    made.z = [x, y]
    return made


def told(found):
    return found.x, found.y, found.z


def outcome(function, n):
    """What a call gives, or the class of the error that it raises."""
    try:
        result = function(n)
    except Exception as error:
        return type(error)
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy().tolist() if tf.is_tensor(leaf) else leaf, result
    )


# --- answered -------------------------------------------------------------------------


def keys_of_both_branches(n):
    counts = {}
    if n > 0:
        counts[2] = 1
        counts[1] = 2
    else:
        counts[2] = 3
        counts[1] = 5
    return list(counts.items())


def key_moved_in_both_branches(n):
    counts = {1: 1, 2: 2}
    if n > 0:
        counts[1] = counts.pop(1)
    else:
        counts[1] = counts.pop(1) + 1
    return list(counts.items())


def order_as_it_was_after_each_iteration(n):
    counts = OrderedDict([(1, 1), (2, 2)])
    for _ in range(n):
        counts.move_to_end(1)
        counts.move_to_end(2)
        counts[1] += 1
    return list(counts.items())


def fields_of_no_constructor(n):
    found = point(1, 7)
    if n > 0:
        found = point(2, 9)
    return told(found)


def fields_of_no_constructor_in_a_loop(n):
    found = point(1, 7)
    for i in range(n):
        found = point(i, i + 3)
    return told(found)


def attribute_that_is_no_field(n):
    found = point(1, 2)
    found.note = 3
    if n > 0:
        found = point(4, 5)
        found.note = 6
    return found.note, told(found)


def one_row_twice(n):
    row = [0, 0]
    table = [row, row]
    table[n][n] = 5
    return table, row


def one_table_twice(n):
    table = [[0, 0], [1, 1]]
    tables = [table, table]
    tables[n][n][n] = 5
    return tables


def one_row_read(n):
    row = [0, 0]
    return [row, row][n]


def one_dict_changed(n):
    entry = {1: 2}
    table = [entry, entry]
    table[n][1] = 5
    return table


def class_of_what_was_tested(n):
    items = None
    if n > 0:
        items = [n]
    if items is not None:
        return isinstance(items, list)
    return False


ANSWERED = [
    keys_of_both_branches,
    key_moved_in_both_branches,
    order_as_it_was_after_each_iteration,
    fields_of_no_constructor,
    fields_of_no_constructor_in_a_loop,
    attribute_that_is_no_field,
    one_row_twice,
    one_table_twice,
    one_row_read,
    one_dict_changed,
    class_of_what_was_tested,
]


@pytest.mark.parametrize("program", ANSWERED, ids=lambda program: program.__name__)
def test_a_program_gives_what_python_gives(program):
    staged = tf.function(program)

    for n in range(4):
        assert outcome(staged, tf.constant(n)) == outcome(program, n)


def test_a_result_has_the_fields_that_no_constructor_takes() -> None:
    found = tf.function(lambda n: point(n, 3 * n))(tf.constant(2))

    assert [int(found.y), *map(int, found.z)] == [6, 2, 6]


# --- refused --------------------------------------------------------------------------


def dicts_of_two_orders(n):
    counts = {1: n, 2: 3} if n > 0 else {2: n, 1: 3}
    return list(counts)


def keys_added_in_two_orders(n):
    counts = {}
    if n > 0:
        counts[2] = 1
        counts[1] = 2
    else:
        counts[1] = 3
        counts[2] = 5
    return list(counts)


def key_moved_in_one_branch(n):
    counts = {1: 1, 2: 2}
    if n > 0:
        counts[1] = counts.pop(1)
    return list(counts)


def key_moved_in_a_loop(n):
    counts = OrderedDict([(1, 1), (2, 2)])
    for _ in range(n):
        counts.move_to_end(1)
    return list(counts)


def dict_of_another_order_in_a_loop(n):
    counts = {1: 1, 2: 2}
    for i in range(n):
        counts = {2: i, 1: i}
    return list(counts)


def joined_in_place(n):
    counts, more = {1: 2}, {}
    more[n] = 5
    counts |= more
    return len(counts)


REFUSED = {
    dicts_of_two_orders: "AG201",
    keys_added_in_two_orders: "AG207",
    key_moved_in_one_branch: "AG207",
    key_moved_in_a_loop: "AG207",
    dict_of_another_order_in_a_loop: "AG202",
    joined_in_place: "AG210",
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_a_graph_cannot_keep_is_refused(program):
    with pytest.raises((AutographError, TracingError), match=REFUSED[program]):
        tf.function(program)(tf.constant(1))


def test_a_structure_that_contains_itself_is_refused() -> None:
    items: list[object] = [1]
    items.append(items)

    assert tf.function(lambda items: items[0])(items) == 1  # what it gives is finite
    with pytest.raises(ValueError, match="AG312"):
        tf.function(lambda n: items)(tf.constant(1))
    with pytest.raises(ValueError, match="AG312"):
        tf.nest.flatten(items)
