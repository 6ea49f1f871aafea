"""`set_loop_options`: what it does in staged loops, and nothing anywhere else."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf

set_loop_options = tf.autograph.experimental.set_loop_options


def doubled(n: Any, shape: Any, limit: Any = None) -> Any:
    x = tf.ones([1, 2])
    i = 0
    while i < n:
        set_loop_options(
            maximum_iterations=limit,
            shape_invariants=[(x, shape)],
            parallel_iterations=1,
            swap_memory=True,
        )
        x = tf.concat([x, x], 0)
        i += 1
    return i, x


@pytest.mark.parametrize("shape", [[None, 2], tf.TensorShape([None, None]), None])
def test_both_options_at_once(shape: Any) -> None:
    i, x = tf.function(doubled)(tf.constant(9), shape, 3)

    assert (int(i), x.shape) == (3, [8, 2])


def test_shapes_are_known_behind_the_loop() -> None:
    @tf.function
    def rows(n: Any) -> Any:
        return doubled(n, [None, 2])[1]

    spec = tf.TensorSpec([], tf.int32)
    found = rows.get_concrete_function(spec).structured_outputs
    assert found.shape.as_list() == [None, 2]


def test_a_for_loop_with_else() -> None:
    @tf.function
    def capped(n: Any) -> Any:
        found = []
        for i in tf.range(n):
            set_loop_options(maximum_iterations=2)
            found.append(i)
        else:
            found.append(100)
        return found

    assert list(map(int, capped(tf.constant(5)))) == [0, 1, 100]


def total(n: Any) -> Any:
    found = 0
    for i in tf.range(n):
        for j in [1, 2, 3]:
            set_loop_options(maximum_iterations=1)
            found += j
        for j in range(2):
            set_loop_options(maximum_iterations=1)
            found += i * j if i > 0 else j
        (j,) = tf.while_loop(lambda j: j < 4, once, [0])
        found += j
    return found


def once(j: Any) -> Any:
    set_loop_options(maximum_iterations=1)
    return j + 1


def test_loops_of_python_in_a_staged_loop_are_not_meant() -> None:
    assert int(tf.function(total)(tf.constant(3))) == int(total(3)) == 34


@pytest.mark.parametrize("values", [[1, 2], (3,)])
def test_converted_loops_that_python_runs_are_not_meant(values: Any) -> None:
    def of_items(n: Any, items: Any) -> Any:
        found = 0
        for i in tf.range(n):
            for item in items:
                set_loop_options(maximum_iterations=1)
                found += item * i
        return found

    def of_numbers(n: Any, limit: Any) -> Any:
        found = 0
        for i in tf.range(n):
            k = 0
            while k < limit:
                set_loop_options(maximum_iterations=1)
                found += i
                k += 1
        return found

    n = tf.constant(4)
    assert int(tf.function(of_items)(n, values)) == int(of_items(n, values)) == 18
    assert int(tf.function(of_numbers)(n, 3)) == int(of_numbers(n, 3)) == 18


def test_it_does_nothing_to_python_values() -> None:
    assert doubled(2, [7], 1)[0] == tf.autograph.to_graph(doubled)(2, [7], 1)[0] == 2
    assert int(tf.function(doubled)(2, [7], 1)[0]) == 2
    set_loop_options(maximum_iterations=1)


def late(n: Any) -> Any:
    x = tf.ones([1])
    for _ in tf.range(n):
        y = x + 1
        set_loop_options(shape_invariants=[(y, [None])])
        x = tf.concat([x, x], 0)
    return x


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (
            lambda n: doubled(n, [1, 2]),
            ValueError,
            r"\(1, 2\) of 'x' does not hold aft",
        ),
        (
            lambda n: doubled(n, [3, 2]),
            ValueError,
            r"\(3, 2\) of 'x' does not hold bef",
        ),
        (lambda n: doubled(n, None, n), TypeError, "must be known while tracing"),
        (lambda n: doubled(n, None, 1.5), TypeError, "must be an integer"),
        (late, ValueError, "call set_loop_options first thing in the body"),
    ],
)
def test_what_goes_wrong(function: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        tf.function(function)(tf.constant(3))
