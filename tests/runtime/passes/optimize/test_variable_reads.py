"""Arrays that variables hold are read once where a loop does not assign them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import interpreter


def in_front_of_the_loop(w: Any, n: Any) -> Any:
    total = tf.zeros([2])
    for _ in tf.range(n):
        total += w
    return total


def in_the_loop_around(w: Any, n: Any) -> Any:
    total = tf.zeros([2])
    for _ in tf.range(2):
        for _ in tf.range(n):
            total += w
        w.assign_add(total)
    return total


def assigned_in_the_body(w: Any, n: Any) -> Any:
    total = tf.zeros([2])
    for _ in tf.range(n):
        total += w
        w.assign(w * 2.0)
    return total


def assigned_in_a_branch(w: Any, n: Any) -> Any:
    total = tf.zeros([2])
    for i in tf.range(n):
        total += w
        if i == 1:
            w.assign_add(total)
    return total


def assigned_by_an_item(w: Any, n: Any) -> Any:
    total = tf.zeros([2])
    for i in tf.range(n):
        total += w
        w[0].assign(tf.cast(i, tf.float32))
    return total


def assigned_by_a_test(w: Any, n: Any) -> Any:
    i, total = tf.constant(0), tf.zeros([2])
    while i < n and w.assign_add([1.0, 2.0])[0] < 3.0:
        total += w
        i += 1
    return total


def assigned_by_python_code(w: Any, n: Any) -> Any:
    def grow() -> Any:
        w.assign_add([1.0, 1.0])
        return np.float32(0)

    total = tf.zeros([2])
    for _ in tf.range(n):
        total += w + tf.py_function(grow, [], tf.float32)
    return total


def results(program: Callable[..., Any]) -> tuple[list[Any], list[Any], str]:
    """What the function gives and leaves in the variable, both ways; the source."""

    def traced() -> tuple[Any, Any]:
        w = tf.Variable([1.0, 2.0])
        fn = tf.function(lambda n: program(w, n))
        return w, fn.get_concrete_function(tf.constant(0))

    w, staged = traced()
    found = [staged(tf.constant(n)).numpy().tolist() for n in (0, 3)]
    v, reference = traced()
    expected = [
        np.asarray(interpreter.run(reference.graph, [np.int32(n)])[0]).tolist()
        for n in (0, 3)
    ]
    left = w.numpy().tolist(), v.numpy().tolist()
    return [found, left[0]], [expected, left[1]], staged.to_source()


@pytest.mark.parametrize(
    ("program", "where"),
    [
        (in_front_of_the_loop, "    read"),
        (in_the_loop_around, "        read"),
        (assigned_in_the_body, "        read"),
        (assigned_in_a_branch, "        read"),
        (assigned_by_an_item, "        read"),
        (assigned_by_a_test, "        read"),
        (assigned_by_python_code, "        read"),
    ],
)
def test_where_a_variable_is_read(program: Callable[..., Any], where: str) -> None:
    found, expected, source = results(program)

    assert found == expected
    (line, *_) = [line for line in source.split("\n") if "= ReadVariableOp(" in line]
    assert line.startswith(where), source


@pytest.mark.parametrize(
    ("change", "count"),
    [
        (lambda w, v, x: v.assign(w), 2),
        (lambda w, v, x: w.assign(2 * w), 3),
        (lambda w, v, x: w.scatter_add(tf.IndexedSlices([1.0], [0])), 3),
        (lambda w, v, x: w[1].assign(x), 3),
        (lambda w, v, x: tf.cond(x > 0, lambda: v.assign(w), lambda: v + 1.0), 2),
        (lambda w, v, x: tf.cond(x > 0, lambda: w.assign(w), lambda: w + 1.0), 3),
        (
            lambda w, v, x: tf.py_function(
                lambda: w.assign([5.0, 6.0]), [], tf.float32
            ),
            3,
        ),
    ],
)
def test_a_variable_is_read_once_until_it_is_assigned(change: Any, count: int) -> None:
    w, v = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])

    def program(x: Any) -> Any:
        first = w * x
        second = w + v
        change(w, v, x)
        return first, second, w - x

    staged = tf.function(program)
    source = staged.get_concrete_function(tf.constant(3.0)).to_source()
    found = staged(tf.constant(3.0))
    left = w.numpy().tolist(), v.numpy().tolist()
    w.assign([1.0, 2.0])
    v.assign([0.0, 0.0])
    expected = program(tf.constant(3.0))

    assert len(re.findall(r"^    \w+ = ReadVariableOp", source, re.M)) == count, source
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)
    assert left == (w.numpy().tolist(), v.numpy().tolist())


def test_a_number_is_read_each_time() -> None:
    # Another thread may assign it, to end the loop.
    stop = tf.Variable(False)

    @tf.function
    def f(n: Any) -> Any:
        i = tf.constant(0)
        while i < n:
            i += 1
            if stop:
                break
        return i

    source = f.get_concrete_function(tf.constant(3)).to_source()
    assert "        readvariableop = ReadVariableOp" in source or "if Read" in source
    assert f(tf.constant(3)).numpy() == 3
    stop.assign(True)
    assert f(tf.constant(3)).numpy() == 1
