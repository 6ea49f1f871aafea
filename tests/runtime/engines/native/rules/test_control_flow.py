"""Branches and loops over arrays, of known shapes and of shapes that change."""

import numpy as np
import pytest

import runtime as tf
from tests.runtime.engines.native.test_memory import (
    LENGTHS,
    NUMBER,
    OPEN,
    agrees,
    compiled,
    vector,
)

FIXED = tf.TensorSpec([5], tf.float32)


def halves(x, n):
    while n > 0:
        if n % 2 == 0:
            x = x[1:] * 2.0
        else:
            x = x[:-1] + x[1:]
        n -= 1
    return x


def grows(x, n):
    for _ in range(n):
        x = tf.reshape(tf.broadcast_to(x[None, :], [2, tf.size(x)]), [-1]) + 1.0
    return x, tf.reduce_sum(x)


def swaps(x, y, n):
    for _ in range(n):
        x, y = y, x
    return x, y, x - y


def shifts(x, y, n):
    for i in range(n):
        x, y = y + tf.cast(i, tf.float32), x
    return x, y


def duplicates(x, n):
    y = x * 2.0
    for _ in range(n):
        x = y
        y = x + x
    return x, y


def nested(x, n):
    total = tf.zeros_like(x)
    for i in range(n):
        y = x
        for _ in range(i):
            y = y[::-1] * 0.5
        total += y[: tf.size(x)]
    return total


def flags(x, n):
    done = x < 0.0
    step = tf.constant(False)
    while n > 0 and not step:
        done = tf.logical_or(done, x > tf.cast(n, tf.float32))
        step = tf.reduce_all(done)
        n -= 2
    return done, step, n


def chosen(x, n):
    if n > 2:
        y = x
    elif n > 1:
        y = x[::2]
    else:
        y = tf.ones([n + 1])
    return y, y * 2.0


@pytest.mark.parametrize("function", [halves, grows, duplicates, nested, flags, chosen])
@pytest.mark.parametrize("spec", [OPEN, FIXED])
def test_one_array_and_a_number(function, spec):
    program = compiled(function, spec, NUMBER)
    for length in LENGTHS if spec is OPEN else (5,):
        for count in (0, 1, 2, 5):
            if function is not halves or count < length:
                agrees(program, vector(length), np.int32(count))


@pytest.mark.parametrize("function", [swaps, shifts])
@pytest.mark.parametrize("spec", [OPEN, FIXED])
def test_arrays_that_are_swapped(function, spec):
    program = compiled(function, spec, spec, NUMBER)
    for length in LENGTHS if spec is OPEN else (5,):
        for count in (0, 1, 2, 5):
            given = vector(length), vector(length)[::-1] * 2, np.int32(count)
            agrees(program, *given)


def test_inputs_of_a_loop_are_not_written_to():
    program = compiled(shifts, FIXED, FIXED, NUMBER)
    x, y = vector(5), vector(5)
    program.run([x, y, np.int32(4)])
    np.testing.assert_array_equal(x, vector(5))
    np.testing.assert_array_equal(y, vector(5))


def test_a_loop_gives_back_what_an_iteration_needs():
    def function(x, n):
        while n > 0:
            x = tf.reshape(x * 1.5, [-1, 1])[:, 0][::-1] - x
            n -= 1
        return x

    program = compiled(function, OPEN, NUMBER)
    x, count = vector(1000) * 0, np.int32(5000)
    found = program._program.call([x, count])
    np.testing.assert_array_equal(found[0], x)
    assert program._program._work._stack == 1 << 16


def test_maximum_iterations():
    def function(x, n):
        return tf.while_loop(
            lambda x, n: n > 0,
            lambda x, n: (x[1:], n - 1),
            (x, n),
            shape_invariants=(tf.TensorShape([None]), tf.TensorShape([])),
            maximum_iterations=3,
        )

    program = compiled(function, OPEN, NUMBER)
    for length in LENGTHS:
        for count in (0, 1, 5):
            agrees(program, vector(length), np.int32(count))
