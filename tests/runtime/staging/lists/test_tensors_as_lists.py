"""Tensors given to functions that were written for lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph
import runtime as tf

ITEMS = tf.constant([3, 1, 2, 1])
OPEN = [tf.TensorSpec([None], tf.int32)]


def staged(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """In a graph that knows the length of its argument, and in one that does not."""
    return [tf.function(function), tf.function(function, input_signature=OPEN)]


def asked(xs):
    return xs.count(1), xs.index(1)


def test_what_leaves_a_list_as_it_is_is_pythons():
    for function in staged(asked):
        assert tf.nest.map_structure(int, function(ITEMS)) == (2, 1)
    for function in staged(lambda xs: xs.index(9)):
        with pytest.raises(ValueError, match="not in list"):
            function(ITEMS)


def copied(xs):
    ys = xs.copy()
    ys.append(7)
    ys[0] = 8
    return ys, xs[0]


def test_a_copy_is_a_list():
    for function in staged(copied):
        assert tf.nest.map_structure(int, function(ITEMS)) == ([8, 1, 2, 1, 7], 3)


def pops(xs):
    if xs[0] > 1:
        xs.pop()
    return xs


def assigns(xs):
    if xs[0] > 1:
        xs[0] = 1
    return xs


@pytest.mark.parametrize(
    ("function", "line"), [(pops, "xs.pop()"), (assigns, "xs[0] = 1")]
)
def test_what_changes_a_list_is_refused_at_its_line(function, line):
    for call in staged(function):
        with pytest.raises(TypeError, match="AG314") as caught:
            call(ITEMS)
        text = str(caught.value)
        assert "AG314 at " in text
        assert line in text
        assert "= list(" in text
        assert call(tf.constant([1, 2])).numpy().tolist() == [1, 2]


def test_a_tensor_has_no_method_that_changes_a_list():
    assert not hasattr(ITEMS, "append")
    assert not tf.function(lambda xs: hasattr(xs, "append"))(ITEMS)
    with pytest.raises(AttributeError, match=r"AG314: .*'sort'.*list\(items\)"):
        ITEMS.sort()
    with pytest.raises(AttributeError, match=r"no attribute 'append'$"):
        tf.constant(1).append(2)


def insertion_sort(xs):
    xs = list(xs)
    for i in range(1, len(xs)):
        item = xs[i]
        j = i - 1
        while j >= 0 and xs[j] > item:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = item
    return xs


def test_the_way_out_sorts_in_place():
    for call in [autograph.convert(insertion_sort), *staged(insertion_sort)]:
        assert tf.nest.map_structure(int, call(ITEMS)) == [1, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "instead"),
    [("sum", "tf.reduce_sum"), ("T", "tf.transpose"), ("astype", "tf.cast")],
)
def test_habits_of_numpy_are_told_the_function(name, instead):
    with pytest.raises(AttributeError, match=f"no attribute '{name}': use {instead}"):
        getattr(ITEMS, name)
    with pytest.raises(AttributeError, match=f"no attribute '{name}': use {instead}"):
        tf.function(lambda xs: getattr(xs, name))(ITEMS)


ROWS = tf.constant([[3, 1], [1, 2], [1, 1], [0, 9]])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda rows: sorted(rows), [[0, 9], [1, 1], [1, 2], [3, 1]]),
        (
            lambda rows: sorted(rows, key=lambda row: row[1], reverse=True),
            [[0, 9], [1, 2], [3, 1], [1, 1]],
        ),
    ],
)
def test_rows_are_sorted_into_a_list(function, expected):
    signature = [tf.TensorSpec([None, 2], tf.int32)]
    opened = tf.function(function, input_signature=signature)
    for call in (tf.function(function), opened):
        found = tf.nest.map_structure(lambda row: row.numpy().tolist(), call(ROWS))
        assert found == expected
        assert call(ROWS[:0]) == []


def compared(xs, limit):
    return [x for x in xs if x < limit] == xs


def test_a_list_of_the_graph_is_not_compared_with_a_tensor():
    with pytest.raises(TypeError, match=r"AG210.*list\(tensor\)"):
        tf.function(compared)(ITEMS, tf.constant(9))


def becomes_list(xs, n):
    while n > 0:
        xs = [x + 1 for x in xs]
        n -= 1
    return xs


def chosen_beside(xs, n):
    return xs if n > 0 else [1, 2]


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (becomes_list, r"AG202.*list of .*`xs = list\(xs\)`"),
        (chosen_beside, r"AG201.*list of .*`x = list\(x\)`"),
    ],
)
def test_a_tensor_beside_a_list_is_told_to_become_one(function, advice):
    with pytest.raises(TypeError, match=advice):
        tf.function(function)(ITEMS, tf.constant(2))
    found = tf.function(lambda xs, n: function(list(xs), n))(ITEMS, tf.constant(0))
    assert len(found) in (2, 4)


def by_end(starts, ends):
    return sorted(zip(starts, ends), key=lambda job: job[1])


def column_extremes(rows):
    return list(map(min, zip(*rows))), max(map(max, rows)), max(zip(*rows))


def test_what_zip_and_map_give_is_ordered():
    one, two = [3, 1, 2], [5, 9, 4]
    for function, args in ((by_end, (one, two)), (column_extremes, ([one, two],))):
        found = tf.function(function)(*tf.nest.map_structure(tf.constant, args))
        assert tf.nest.map_structure(int, found) == function(*args)


def test_a_comparison_of_tuples_is_told_to_write_one_out():
    with pytest.raises(TypeError, match=r"AG301.*a comparison of lists or tuples"):
        tf.function(lambda a, b: 1 if a == b else 2)((ITEMS[0], 1), (ITEMS[1], 1))


def looked_for(x, y):
    pairs = [(1, 2), (3, 4)]
    is_there = (x, y) in pairs, [x, y] in ([1, 2], [5, 6]), (1, 2) in [(x, y), (3,)]
    return *is_there, (x, y) not in ((1, 2), (y, x)), (x,) in [(1, 2), (3,)]


@pytest.mark.parametrize("pair", [(1, 2), (2, 1), (3, 4), (2, 2)])
def test_lists_and_tuples_are_looked_for_by_their_items(pair):
    found = tf.function(looked_for)(*map(tf.constant, pair))
    assert tf.nest.map_structure(bool, found) == looked_for(*pair)
