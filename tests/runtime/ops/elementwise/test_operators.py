"""`+` of what a program may mean to join: lists, and slices of one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf

ROWS = tf.constant([[1, 2], [3, 4], [5, 6], [7, 8]])
ITEMS = tf.constant([1, 2, 3, 4])


def turned(xs: Any) -> Any:
    return xs[1:] + xs[:1]


def turned_by(xs: Any, k: Any) -> Any:
    return xs[k:] + xs[:k]


def first_and_rest(xs: Any) -> Any:
    return [xs[0]] + xs[1:]


def in_modes(function: Callable[..., Any], *args: Any) -> list[Callable[[], Any]]:
    """The call in eager code, in a graph, and in one that knows no lengths."""
    signature = [
        tf.TensorSpec([None, *x.shape[1:]] if x.shape.rank else [], x.dtype)
        for x in args
    ]
    staged = (tf.function(function), tf.function(function, input_signature=signature))
    return [lambda f=f: f(*args) for f in (function, *staged)]


def test_slices_of_one_vector_that_differ_in_length_are_refused_in_graphs() -> None:
    eager, *staged = in_modes(turned, ITEMS)
    assert eager().numpy().tolist() == [3, 4, 5]  # that is TensorFlow's code
    eager, *others = in_modes(turned_by, ITEMS, tf.constant(1))
    assert eager().numpy().tolist() == [3, 4, 5]
    for call in staged + others:
        with pytest.raises(tf.errors.InvalidArgumentError, match="joins nothing") as e:
            call()
        assert e.value.code == "AG310"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda xs: xs[1:] + xs[:-1], [3, 5, 7]),
        (lambda xs: xs[2:] + xs[:2], [4, 6]),
        (lambda xs: tf.add(xs[1:], xs[:1]), [3, 4, 5]),
        (lambda xs: xs[1:] - xs[:1], [1, 2, 3]),
        (lambda xs: xs[1:] + tf.constant([10]), [12, 13, 14]),
        (lambda xs: xs + xs[:1], [2, 3, 4, 5]),
    ],
)
def test_what_is_an_addition_goes_on_being_one(
    function: Callable[..., Any], expected: list[int]
) -> None:
    for call in in_modes(function, ITEMS):
        assert call().numpy().tolist() == expected


def test_slices_by_a_tensor_are_added_where_the_lengths_agree() -> None:
    for call in in_modes(turned_by, ITEMS, tf.constant(2)):
        assert call().numpy().tolist() == [4, 6]


def test_a_slice_along_another_axis_is_broadcast() -> None:
    for call in in_modes(lambda xs: xs[:, 1:] + xs[:, :1], ROWS):
        assert call().numpy().tolist() == [[3], [7], [11], [15]]
    parts = tf.constant([1, 2, 3, 4, 5, 6])
    table = tf.reshape(parts[:4], [2, 2]) + tf.reshape(parts[4:], [1, 2])
    assert table.numpy().tolist() == [[6, 8], [8, 10]]


def test_a_row_is_added_to_the_rows_of_one_matrix() -> None:
    for call in in_modes(lambda m: m[1:] + m[:1], ROWS):
        assert call().numpy().tolist() == [[4, 6], [6, 8], [8, 10]]
    batch = tf.constant([[0, 0], [1, 2], [3, 4]])[1:]
    assert (batch + batch[:1]).numpy().tolist() == [[2, 4], [4, 6]]


def test_a_list_of_rows_is_not_broadcast() -> None:
    for call in in_modes(first_and_rest, ROWS):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()
    for call in in_modes(lambda xs: xs + [[10, 20]], ROWS[:2]):
        assert call().numpy().tolist() == [[11, 22], [13, 24]]
