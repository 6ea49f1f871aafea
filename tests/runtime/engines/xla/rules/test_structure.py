"""Branches and loops on XLA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf

pytest.importorskip("jax")


def test_loops_that_count_are_differentiated_in_reverse_by_jax() -> None:
    import jax

    @tf.function
    def power(x: Any) -> Any:
        result = x
        for _ in tf.range(3):
            result = result * tf.sin(x)
        return result

    given = tf.constant(0.5, tf.float64)
    pure = power.get_concrete_function(given).to_jax()
    with tf.GradientTape() as tape:
        tape.watch(given)
        value = power(given)
    expected = tape.gradient(value, given).numpy()
    assert jax.grad(pure)(0.5) == pytest.approx(expected, rel=1e-12)


def test_a_shape_that_changes_is_refused_by_its_name() -> None:
    @tf.function(executor="xla")
    def widened(n: Any) -> Any:
        table = tf.zeros([2, 1])
        i = 0
        while i < n:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(table, tf.TensorShape([2, None]))]
            )
            table = tf.concat([table, table], 1)
            i += 1
        return table

    with pytest.raises(
        tf.errors.UnimplementedError, match=r"structure.py:\d+: the shape of table"
    ):
        widened(tf.constant(2))


def test_iterations_that_are_limited() -> None:
    @tf.function(executor="xla")
    def halved(x: Any, n: int) -> Any:
        return tf.while_loop(
            lambda x: x > 1.0, lambda x: (x / 2.0,), (x,), maximum_iterations=n
        )

    assert halved(tf.constant(64.0), 4)[0].numpy() == 4.0
    assert halved(tf.constant(64.0), 40)[0].numpy() == 1.0


def test_tests_of_loops_that_fail_or_assign() -> None:
    asked = tf.Variable(0)

    def more(i: Any, limit: Any) -> Any:
        asked.assign_add(1)
        tf.debugging.assert_less(i, 5)
        return i < limit

    @tf.function(executor="xla")
    def count(limit: Any) -> Any:
        return tf.while_loop(
            lambda i: more(i, limit), lambda i: (i + 1,), (tf.constant(0),)
        )[0]

    assert (count(tf.constant(3)).numpy(), asked.numpy()) == (3, 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x < y did not hold"):
        count(tf.constant(9))


def test_branches_of_several_lengths() -> None:
    @tf.function(executor="xla")
    def chosen(index: Any) -> Any:
        return tf.switch_case(
            index, [lambda: tf.range(3), lambda: tf.range(index), lambda: tf.range(0)]
        )

    for index, length in ((0, 3), (1, 1), (2, 0), (7, 0)):
        assert chosen(tf.constant(index)).numpy().tolist() == list(range(length))


def test_queues_and_stacks() -> None:
    @tf.function(executor="xla")
    def visited(links: Any) -> Any:
        waiting, order = [0], []
        seen = [False] * 4
        while waiting:
            place = waiting.pop(0)
            if seen[place]:
                continue
            seen[place] = True
            order.append(place)
            for other in range(4):
                if links[place][other]:
                    waiting.append(other)
        return order

    links = tf.constant([[0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]])
    assert [int(place) for place in visited(links)] == [0, 2, 1, 3]


def test_recursion_is_refused_by_its_name() -> None:
    @tf.function
    def factorial(n: Any) -> Any:
        return n * factorial(n - 1) if n > 1 else n

    compiled = tf.function(lambda n: factorial(n), executor="xla")
    with pytest.raises(tf.errors.UnimplementedError, match="calls itself"):
        compiled(tf.constant(4))


def test_loops_end_where_a_check_fails() -> None:
    @tf.function(executor="xla")
    def endless(x: Any) -> Any:
        while x > 0:
            x = x + 1
            if x > 1000:
                raise ValueError("too far")
        return x

    assert endless(tf.constant(-1)).numpy() == -1
    with pytest.raises(ValueError, match="too far"):
        endless(tf.constant(1))
    assert np.ndim(endless(tf.constant(0)).numpy()) == 0
