"""Jacobians: of tapes, and `tf.hessians` in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf


def jacobian(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x) * x[0]
    return tape.jacobian(y, x)


def test_a_jacobian() -> None:
    x = tf.constant([1.0, 2.0])
    wanted = [[1.3818, 0.0], [0.9093, -0.4161]]
    np.testing.assert_allclose(jacobian(x), wanted, atol=1e-4)
    np.testing.assert_allclose(tf.function(jacobian)(x), wanted, atol=1e-4)


def test_a_jacobian_of_an_unknown_length() -> None:
    staged = tf.function(jacobian, input_signature=[tf.TensorSpec([None])])
    for count in (1, 4):
        x = tf.cast(tf.range(count), tf.float32) + 1
        np.testing.assert_allclose(staged(x), jacobian(x), rtol=1e-6)


def test_shapes_and_structures() -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.linalg.matvec(w, v)
    found = tape.jacobian(y, {"v": v, "w": w})
    np.testing.assert_array_equal(found["v"], w)
    assert found["w"].shape == (3, 3, 2)
    np.testing.assert_array_equal(found["w"][1], [[0, 0], [1, 2], [0, 0]])


def test_what_a_target_does_not_depend_on() -> None:
    x, z = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * x
    assert tape.jacobian(y, z) is None
    zeros = tape.jacobian(y, z, unconnected_gradients="zero")
    np.testing.assert_array_equal(zeros, [0, 0])
    assert tape.batch_jacobian(y, tf.constant([1.0, 2.0])) is None


def test_a_target_without_elements() -> None:
    x = tf.zeros([0, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.jacobian(y, x).shape == (0, 2, 0, 2)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "staged"])
def test_a_jacobian_for_each_row(wrap: Any) -> None:
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stack([x[:, 0] * x[:, 1], x[:, 1], x[:, 0] ** 2], 1)
        return tape.batch_jacobian(y, x)

    found = wrap(f)(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    wanted = [[[2, 1], [0, 1], [2, 0]], [[4, 3], [0, 1], [6, 0]]]
    np.testing.assert_array_equal(found, wanted)


def test_rows_that_are_not_equally_many() -> None:
    x, y = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
    with pytest.raises(tf.errors.InvalidArgumentError, match="different lengths"):
        tape.batch_jacobian(y, x)
    with pytest.raises(ValueError, match="first axis"):
        tape.batch_jacobian(tf.constant(1.0), x)


def test_a_hessian() -> None:
    def hessian(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x**3) + x[0] * x[1]
            gradient = inner.gradient(y, x)
        return outer.jacobian(gradient, x)

    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(hessian(x), [[6, 1], [1, 12]])
    np.testing.assert_array_equal(tf.function(hessian)(x), [[6, 1], [1, 12]])


def test_hessians_of_a_graph() -> None:
    @tf.function
    def f(x: Any, z: Any) -> Any:
        y = tf.reduce_sum(x**3) * z
        return tf.hessians(y, [x, z])

    by_x, by_z = f(tf.constant([1.0, 2.0]), tf.constant(2.0))
    np.testing.assert_array_equal(by_x, [[12, 0], [0, 24]])
    assert by_z is None or by_z.numpy() == 0
