"""Forward mode, beside the gradients of tapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf


def jvp(f: Any, primals: Any, tangents: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(primals, tangents) as acc:
        y = f(*primals)
    return acc.jvp(y, unconnected_gradients="zero")


def test_a_directional_derivative() -> None:
    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as acc:
        y = x**3
    assert acc.jvp(y).numpy() == 54
    assert acc.jvp({"y": y, "one": tf.constant(1.0)})["one"] is None
    assert acc.jvp(tf.constant(1.0), "zero").numpy() == 0


def test_variables() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
        y = tf.reduce_sum(v**3) * tf.sin(v[1])
    np.testing.assert_allclose(acc.jvp(y), 2.7279, atol=1e-4)


def test_a_tape_inside_gives_products_with_the_hessian() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x**3) * x[0]
        gradient = tape.gradient(y, x)
    np.testing.assert_allclose(acc.jvp(gradient), [12, 12])


def test_a_tape_outside() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
            y = tf.reduce_sum(x**3) * x[0]
        tangent = acc.jvp(y)
    np.testing.assert_allclose(tape.gradient(tangent, x), [12, 12])


def test_accumulators_nest() -> None:
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x**4
        first = inner.jvp(y)
    assert first.numpy() == 32
    assert outer.jvp(first).numpy() == 48


@pytest.mark.parametrize("where", ["around", "inside"])
def test_functions(where: str) -> None:
    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.sin(x) * x)

    x, direction = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.0])
    if where == "around":
        found = jvp(tf.function(f), [x], [direction])
    else:
        found = tf.function(lambda x, d: jvp(f, [x], [d]))(x, direction)
    np.testing.assert_allclose(found, 1.3818, atol=1e-4)


def test_a_gradient_of_its_own() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * 2, lambda upstream: upstream * 5

    assert jvp(f, [tf.constant(1.0)], [tf.constant(3.0)]).numpy() == 15


def test_tangents_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\) has the shape \(3,\)"):
        tf.autodiff.ForwardAccumulator(tf.zeros([2]), tf.zeros([3]))
    with pytest.raises(ValueError, match="a primal is"):
        tf.autodiff.ForwardAccumulator(tf.constant(1), tf.constant(1))
