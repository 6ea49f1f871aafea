"""`tf.gradients`: gradients in graphs without a tape."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf


def test_gradients_of_what_the_graph_computed() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any, z: Any) -> Any:
        y = x * x * z * v
        return tf.gradients([y, x], [x, z, v], grad_ys=[tf.constant(2.0), None])

    found = f(tf.constant(3.0), tf.constant(4.0))
    assert [g.numpy() for g in found] == [97, 36, 72]


def test_tensors_that_count_as_constants() -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = x * x
        return tf.gradients(y * x, [x, y], stop_gradients=[y])

    assert [g.numpy() for g in f(tf.constant(3.0))] == [9, 3]


def test_what_does_not_depend() -> None:
    @tf.function
    def f(x: Any, z: Any) -> Any:
        assert tf.gradients(x * x, [z]) == [None]
        return tf.gradients(x * x, z, unconnected_gradients="zero")

    assert f(tf.constant(3.0), tf.constant([1.0]))[0].numpy().tolist() == [0]


def test_outside_of_graphs() -> None:
    with pytest.raises(RuntimeError, match=r"tf\.GradientTape"):
        tf.gradients(tf.constant(1.0), tf.constant(2.0))


def test_tensors_from_outside_of_a_branch() -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = x * x
        if x > 0:
            return tf.gradients(y, [x])[0]
        return x

    with pytest.raises(
        tf.errors.GradientError, match=r"AG330: tf\.gradients of tensors"
    ):
        f(tf.constant(3.0))
