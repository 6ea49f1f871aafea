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
