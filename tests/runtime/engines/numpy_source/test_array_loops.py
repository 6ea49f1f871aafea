"""Loops over whole arrays: to the last bit what the interpreter gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runtime as tf
from runtime.engines import interpreter
from runtime.engines.numpy_source.executable import compile_graph
from tests.runtime.engines.numpy_source import agreement


@pytest.fixture(autouse=True)
def _small():
    """Small arrays count as large, blocks have few elements, and two threads work."""
    with agreement.small_blocks():
        yield


def check(function, *values):
    """The graph in every way there is to run it."""
    graph = tf.function(function).get_concrete_function(*values).graph
    agreement.check(graph, [np.asarray(value) for value in values])


def numbers(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return tf.constant(rng.standard_normal(shape).astype(np.float32))


def test_a_known_number_of_iterations_over_a_large_array():
    def damped(x):
        for _ in tf.range(7):
            x = x * 0.5 + 1.0
        return x

    found = tf.function(damped)(tf.ones([200, 200]))
    assert float(found[0, 0]) == 2 - 0.5**7
    check(damped, numbers(200, 200))


def mandelbrot(x, y, steps):
    a, b, near = tf.zeros_like(x), tf.zeros_like(y), tf.zeros(x.shape, tf.int32)
    for _ in tf.range(steps):
        a, b = a * a - b * b + x, 2 * a * b + y
        near += tf.cast(a * a + b * b < 4, tf.int32)
    return near


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
@pytest.mark.parametrize("dims", [(5, 9), (40,), (1, 3)])
def test_any_number_of_iterations(dims, steps):
    x, y = numbers(*dims), numbers(*dims, seed=1)
    check(mandelbrot, x, y, tf.constant(steps))
    check(lambda x, y: mandelbrot(x, y, steps), x, y)


def test_state_that_changes_places():
    def rotate(x, y):
        for _ in tf.range(5):
            x, y = y * 0.5 + x, x * 0.25 - y
        return x, y, x + y

    check(rotate, numbers(30), numbers(30, seed=1))
    x = numbers(30)
    check(lambda x: rotate(x, x), x)


def test_rows_columns_scalars_and_sums_of_rows():
    def program(x, row, column, scalar):
        for _ in tf.range(4):
            x = x * row + column
            x = x / (1.0 + tf.reduce_sum(tf.abs(x), axis=-1, keepdims=True)) - scalar
        return x

    values = numbers(6, 11), numbers(11, seed=1), numbers(6, 1, seed=2)
    check(program, *values, tf.constant(np.float32(0.3)))


def test_loops_in_other_statements():
    def program(x, y, n):
        total = tf.zeros_like(x)
        for i in tf.range(n):
            z = x
            for _ in tf.range(i):
                z = tf.tanh(z) * y + x
            if tf.reduce_sum(z) > 0.0:
                for _ in tf.range(2, 5):
                    z = z * 0.5 - y
            total += z
        return total

    check(program, numbers(20), numbers(20, seed=1), tf.constant(4))


def test_loops_over_rows_and_python_counters():
    def over_rows(x, rows):
        for _ in rows:
            x = tf.sin(x) * 2.0 + x
        return x

    def counting(x, n):
        i = tf.constant(2)
        while i < n:
            x = tf.sin(x) * 2.0 + x
            i += 1
        return x

    check(over_rows, numbers(20), numbers(3, 2))
    check(counting, numbers(20), tf.constant(6))
    check(counting, numbers(20), tf.constant(1))


def test_arrays_that_are_strided():
    graph = tf.function(mandelbrot).get_concrete_function(
        numbers(9, 5), numbers(9, 5), tf.constant(3)
    )
    run = compile_graph(graph.graph)
    x, y = np.asarray(numbers(5, 9)).T, np.asarray(numbers(9, 10))[:, ::2]
    arrays = [x, y, np.int32(3)]
    np.testing.assert_array_equal(
        run(arrays)[0], interpreter.run(graph.graph, arrays)[0]
    )


def test_loops_that_need_more_than_their_own_elements():
    def uses_number(x):
        for i in tf.range(4):
            x = tf.tanh(x) * tf.cast(i, tf.float32)
        return x

    def uses_all(x):
        for _ in tf.range(4):
            x = tf.tanh(x) - tf.reduce_sum(x)
        return x

    def shifts(x, y):
        for _ in tf.range(4):
            x, y = y, tf.tanh(x) * y
        return x, y

    def stops(x):
        for _ in tf.range(4):
            x = tf.tanh(x) * 2.0
            if tf.reduce_sum(x) > 1.0:
                break
        return x

    def rolls(x):
        for _ in tf.range(4):
            x = tf.roll(x, 1, 0) * 0.5 + x
        return x

    for program in (uses_number, uses_all, stops, rolls):
        check(program, numbers(30))
    check(shifts, numbers(30), numbers(30, seed=1))


UPDATES = [
    lambda a, b, c: a * b + c,
    lambda a, b, c: tf.tanh(c - a),
    lambda a, b, c: tf.where(a > b, c, a * 0.5),
    lambda a, b, c: tf.maximum(b, 0.25) - c,
    lambda a, b, c: tf.math.erf(b) * a,
    lambda a, b, c: tf.nn.softmax(a + b) - c,
]


@settings(max_examples=12, deadline=None)
@given(
    choices=st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=2, max_size=4),
    steps=st.integers(0, 4),
    dims=st.tuples(st.integers(1, 5), st.integers(2, 15)),
)
def test_any_updates(choices, steps, dims):
    states = [numbers(*dims, seed=seed) for seed in range(len(choices))]
    captured = numbers(*dims, seed=9)

    def program(states, captured, steps):
        for _ in tf.range(steps):
            known = [*states, captured]
            states = [
                UPDATES[update](*(known[place % len(known)] for place in places))
                for update, *places in choices
            ]
        return states

    check(
        lambda *args: program(list(args[:-2]), args[-2], args[-1]),
        *(*states, captured, tf.constant(steps)),
    )
