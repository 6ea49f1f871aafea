"""Tensors that are updated where they lie, if nobody else holds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph.record import get
from runtime.engines import interpreter
from runtime.ops.kernels.in_place import in_place

UPDATES = [
    ("TensorScatterUpdate", tf.tensor_scatter_nd_update, [0, 7, 2, 5]),
    ("TensorScatterAdd", tf.tensor_scatter_nd_add, [0, 8, 2, 8]),
    ("TensorScatterSub", tf.tensor_scatter_nd_sub, [0, -6, 2, -2]),
    ("TensorScatterMax", tf.tensor_scatter_nd_max, [0, 7, 2, 5]),
    ("TensorScatterMin", tf.tensor_scatter_nd_min, [0, 1, 2, 3]),
]
PLACES, VALUES = np.array([[1], [3]]), np.array([7, 5])


@pytest.mark.parametrize(("op", "function", "expected"), UPDATES)
def test_kernels_copy_what_is_held(op: str, function: Any, expected: Any) -> None:
    write = get(op).kernel_in_place

    def given_away() -> bool:
        array = np.arange(4)
        before = id(array)
        array = write(array, PLACES, VALUES)
        assert array.tolist() == expected
        return id(array) == before

    def held() -> None:
        array = np.arange(4)
        other = array
        array = write(array, PLACES, VALUES)
        assert (other.tolist(), array.tolist()) == ([0, 1, 2, 3], expected)

    def seen_by_a_view() -> None:
        array = np.arange(4)
        view = array[1:]
        array = write(array, PLACES, VALUES)
        assert (view.tolist(), array.tolist()) == ([1, 2, 3], expected)

    def a_view() -> None:
        base = np.arange(4)
        array = base[:]
        array = write(array, PLACES, VALUES)
        assert (base.tolist(), array.tolist()) == ([0, 1, 2, 3], expected)

    assert given_away()
    held()
    seen_by_a_view()
    a_view()
    assert function(tf.range(4), PLACES, VALUES).numpy().tolist() == expected


def test_other_layouts_are_copied() -> None:
    write = get("TensorScatterAdd").kernel_in_place
    array = np.asfortranarray(np.zeros((2, 3)))
    before = id(array)
    array = write(array, np.array([[1, 2], [1, 2]]), np.array([1.0, 2.0]))
    assert id(array) != before
    assert array.tolist() == [[0, 0, 0], [0, 0, 3]]

    frozen = np.zeros(2)
    frozen.flags.writeable = False
    frozen = write(frozen, np.array([[1]]), np.array([1.0]))
    assert frozen.tolist() == [0, 1]


def marks(x: Any, n: Any) -> Any:
    seen = tf.zeros([8], tf.int32)
    for i in tf.range(n):
        seen = tf.tensor_scatter_nd_add(seen, [[x[i]]], [i + 1])
    return seen


def the_argument_itself(x: Any, n: Any) -> Any:
    for i in tf.range(n):
        x = tf.tensor_scatter_nd_update(x, [[i]], [x[i] * 10])
    return x


def all_versions(x: Any, n: Any) -> Any:
    before = x
    for i in tf.range(n):
        before, x = x, tf.tensor_scatter_nd_sub(x, [[i]], [1])
    return before, x


def its_own_rows(x: Any, n: Any) -> Any:
    table = tf.stack([x, x * 2])
    for _ in tf.range(n):
        table = tf.tensor_scatter_nd_add(table, [[0]], table[1:])
    return table


def a_constant(x: Any, n: Any) -> Any:
    table = tf.constant([1, 2, 3, 4])
    for i in tf.range(n):
        table = tf.tensor_scatter_nd_max(table, [[i]], [x[i] + 2])
    return table


def in_a_branch(x: Any, n: Any) -> Any:
    kept = table = x + 1
    for i in tf.range(n):
        if i % 2 == 0:
            table = tf.tensor_scatter_nd_update(table, [[i]], [0])
    return kept, table


@pytest.mark.parametrize(
    "fn",
    [marks, the_argument_itself, all_versions, its_own_rows, a_constant, in_a_branch],
)
def test_programs(fn: Callable[..., Any]) -> None:
    x = np.array([3, 1, 2, 0], np.int32)
    args = tf.constant(x), tf.constant(4)
    concrete = tf.function(fn).get_concrete_function(*args)
    arrays = [arg.numpy() for arg in args]
    expected = [np.asarray(r).tolist() for r in interpreter.run(concrete.graph, arrays)]

    for _ in range(2):
        found = tf.nest.flatten(concrete(*args))
        assert [tensor.numpy().tolist() for tensor in found] == expected
    assert args[0].numpy().tolist() == [3, 1, 2, 0]


def test_a_place_outside_is_the_same_error() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = tf.zeros([3])
        for i in tf.range(n):
            x = tf.tensor_scatter_nd_update(x, [[i]], [1.0])
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="3"):
        f(tf.constant(4))


# --- who holds an array ---------------------------------------------------------------


@in_place
def is_given(array: Any, owned: bool) -> bool:
    return owned


def test_an_array_of_one_variable_is_given_away() -> None:
    array = np.zeros(3)

    assert is_given(array)


def test_an_array_of_two_variables_is_not() -> None:
    array = np.zeros(3)
    other = array

    assert not is_given(array)
    assert other is array


def test_the_only_view_of_an_array_is_given_away() -> None:
    view = np.zeros(4)[1:]

    assert is_given(view)


def test_the_view_of_a_view_is_given_away() -> None:
    view = np.zeros(4)[1:][1:]

    assert is_given(view)


def test_a_view_of_an_array_that_somebody_holds_is_not() -> None:
    array = np.zeros(4)
    view = array[1:]

    assert not is_given(view)
    assert not is_given(array)


def test_one_of_two_views_is_not() -> None:
    array = np.zeros(4)
    view, other = array[1:], array[:1]
    del array

    assert not is_given(view)
    del other
    assert is_given(view)


@pytest.mark.parametrize("make", [bytes, bytearray])
def test_a_view_of_what_is_no_array_is_not(make: Any) -> None:
    view = np.frombuffer(make(16))

    assert not is_given(view)
