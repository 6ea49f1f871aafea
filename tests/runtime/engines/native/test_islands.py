"""Graphs that are partly native."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

import runtime as tf

X = np.linspace(0.0, 1.0, 20000, dtype=np.float32)


def printing(x, count):
    total = 0.0
    for i in tf.range(count):
        if i % 2 == 0:
            tf.print("at", i)
        part = tf.reduce_sum(tf.sin(x) * tf.cast(i, tf.float32))
        total += part - tf.sqrt(part + 1.0)
    tf.print("total", total > 3.0)
    return x * total, total


def failing(x, count):
    tf.print("before", count)
    y = tf.reduce_sum(tf.cast(x * 10.0, tf.int32) // count)
    tf.print("after", y)
    return y


def recursive(x, count):
    if count <= 0:
        tf.print("end")
        return tf.reduce_sum(x)
    return recursive(x * 2.0 - tf.sin(x), count - 1)


def bodies(x, count):
    if count > 3:
        tf.print("many")
        x = tf.exp(x) + x * x
    while tf.reduce_max(tf.cos(x)) > 0.5:
        tf.print("again")
        x = x + tf.exp(tf.sin(x)) / 3.0
    return x


def own(values):
    return values[::-1].copy()


def calling(x, count):
    y = tf.numpy_function(own, [tf.exp(x) * x], tf.float32)
    y.set_shape(x.shape)
    return tf.reduce_sum(y * x) + tf.cast(count, tf.float32)


PROGRAMS = (printing, failing, recursive, bodies, calling)


def outcome(function, executor, count):
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        made = tf.function(function, executor=executor)
        try:
            found = tf.nest.map_structure(np.asarray, made(tf.constant(X), count))
        except tf.errors.OpError as error:
            found = str(error)
    return found, printed.getvalue(), made


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_results_effects_and_errors_are_those_of_numpy(function, count):
    count = tf.constant(count)
    expected, printed, _ = outcome(function, "numpy", count)
    found, also_printed, made = outcome(function, "native", count)
    if isinstance(expected, str):
        assert found == expected
    else:
        for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected)):
            np.testing.assert_allclose(one, other, 3e-4)
    assert also_printed == printed
    concrete = made.get_concrete_function(tf.constant(X), tf.constant(0))
    assert concrete.executable.native.coverage == "partly"
    assert "native_1" in concrete.to_source()


def test_a_loop_with_a_print_counts_as_ever():
    made = outcome(printing, "native", tf.constant(3))[2]
    concrete = made.get_concrete_function(tf.constant(X), tf.constant(0))
    assert "for i in" in concrete.to_source()


def test_numbers_alone_are_left_to_python():
    @tf.function(executor="native")
    def small(n):
        tf.print("n", n)
        return n * 2 + 1

    concrete = small.get_concrete_function(tf.TensorSpec([], tf.int64))
    assert concrete.executable.native.coverage == "numpy"


def test_values_checked_by_the_program_are_checked_all_the_same():
    made = tf.function(printing, executor="native")
    x = tf.constant(X)
    with contextlib.redirect_stderr(io.StringIO()):
        made(x, tf.constant(2))
        tf.debugging.enable_check_numerics()
        try:
            with pytest.raises(tf.errors.InvalidArgumentError):
                made(x * np.inf, tf.constant(2))
        finally:
            tf.debugging.disable_check_numerics()


def test_a_loop_that_puts_several_shapes_into_one_array_is_not_native():
    def rows(n):
        return [[y for y in range(x)] for x in range(n)]

    for executor in ("numpy", "native"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="AG210"):
            tf.function(rows, executor=executor)(tf.constant(3))


@pytest.mark.parametrize("key", [0, 2, 3, 99])
def test_a_key_that_is_not_there_is_not_deleted(key):
    def popped(n, key):
        items = {}
        for i in range(n):
            items[i] = 2 * i
        return items.pop(key, -1), items.pop(key, -2), len(items), items.get(2, -3)

    given = tf.constant(3), tf.constant(key)
    found = tf.function(popped, executor="native")(*given)

    assert found == tf.function(popped, executor="numpy")(*given)
