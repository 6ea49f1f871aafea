"""Tapes around calls of functions: the call is one step, its gradient another call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import GradientError

X = tf.constant([0.5, -1.0, 2.0], tf.float64)


def test_the_gradient_of_a_call() -> None:
    w = tf.Variable(3.0, dtype=tf.float64)

    @tf.function
    def f(a: Any, times: int = 2, *, b: Any = None) -> Any:
        total = tf.reduce_sum(tf.tanh(a) * w) * times
        return {"sum": total, "parts": (a * b["x"], 7)}

    b = {"x": tf.constant(4.0, tf.float64)}
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([X, b["x"]])
        found = f(X, b=b)
    tanh = np.tanh(X.numpy())
    gradients = tape.gradient(found["sum"], [X, w, b["x"]])
    np.testing.assert_allclose(gradients[0], 6 * (1 - tanh**2))
    np.testing.assert_allclose(gradients[1], 2 * tanh.sum())
    assert gradients[2] is None
    by_b = tape.gradient(found["parts"][0], [X, b["x"]])
    np.testing.assert_allclose(by_b[0], [4.0] * 3)
    np.testing.assert_allclose(by_b[1], 1.5)
    assert f.experimental_get_tracing_count() == 1


def test_higher_orders_of_a_call() -> None:
    w = tf.Variable(3.0, dtype=tf.float64)

    @tf.function
    def f(a: Any) -> Any:
        return tf.reduce_sum(tf.sin(a * w) * tf.exp(a))

    def gradients(call: Any) -> list[Any]:
        with tf.GradientTape() as third:
            third.watch(X)
            with tf.GradientTape() as second:
                second.watch(X)
                with tf.GradientTape() as first:
                    first.watch(X)
                    y = call(X)
                one = first.gradient(y, X)
            two = second.gradient(one, X)
        return [y, one, two, third.gradient(two, w)]

    for staged, eager in zip(gradients(f), gradients(f.python_function)):
        np.testing.assert_allclose(staged, eager, 1e-12)


def test_a_call_in_a_graph() -> None:
    w = tf.Variable(3.0, dtype=tf.float64)
    called = tf.function(lambda a: tf.reduce_sum(tf.tanh(a) * a * w))
    concrete = called.get_concrete_function(X)

    def twice(call: Any, a: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as inner:
                inner.watch(a)
                y = call(a)
            one = inner.gradient(y, a)
        return one, outer.gradient(one, [a, w])

    staged = tf.function(lambda a: twice(concrete, a))(X)
    eager = twice(called.python_function, X)
    for found, wanted in zip(tf.nest.flatten(staged), tf.nest.flatten(eager)):
        np.testing.assert_allclose(found, wanted, 1e-12)


def test_effects_of_a_call_happen_once() -> None:
    count = tf.Variable(0)

    @tf.function
    def f(a: Any) -> Any:
        count.assign_add(1)
        return tf.exp(a)

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    tape.gradient(y, X)
    assert count.numpy() == 1


def test_gathered_rows_in_a_call() -> None:
    v = tf.Variable(tf.ones([4, 2]))
    f = tf.function(lambda indices: tf.reduce_sum(tf.gather(v, indices) ** 2))
    with tf.GradientTape() as tape:
        y = f(tf.constant([1, 1, 3]))
    found = tf.convert_to_tensor(tape.gradient(y, v)).numpy()
    assert found.tolist() == [[0.0, 0.0], [4.0, 4.0], [0.0, 0.0], [2.0, 2.0]]


def test_what_has_no_gradient_is_named_when_it_is_asked_for() -> None:
    @tf.function
    def f(a: Any) -> Any:
        return tf.random.stateless_poisson([2, 2], [1, 2], a, tf.float32)

    x = tf.constant([[2.0, 1.0], [1.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.shape == (2, 2)
    with pytest.raises(GradientError, match=r"test_calls.py:\d+: AG330: .*Poisson"):
        tape.gradient(y, x)


def test_eager_tensors_that_a_function_reads() -> None:
    x, unwatched = tf.constant(3.0), tf.constant(2.0)

    @tf.function
    def f(y: Any) -> Any:
        return x * x * y * unwatched

    def slope() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(tf.constant(5.0))
        assert y.numpy() == 90
        return tape.gradient(y, x).numpy()

    assert slope() == slope() == 60
    # Once with a constant, once with an input; plain calls use the former.
    assert f.experimental_get_tracing_count() == 2
    assert f(tf.constant(5.0)).numpy() == 90
    x = tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(tf.constant(5.0))
    assert tape.gradient(y, x).numpy() == 80


def test_a_concrete_function_with_a_recorded_constant() -> None:
    x = tf.constant(3.0)
    concrete = tf.function(lambda: x * x).get_concrete_function()
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(GradientError, match="as a constant"):
            concrete()


def test_watching_an_eager_tensor_in_a_function() -> None:
    x = tf.constant(3.0)

    @tf.function
    def f() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    assert f().numpy() == 6


def test_one_of_several_results_of_an_unknown_shape() -> None:
    @tf.custom_gradient
    def pair(x: Any, y: Any) -> Any:
        return (x + y, x * y), lambda a, b: (a + b * 10, a * 100 + b * 1000)

    f = tf.function(
        pair, input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])]
    )
    x, y = tf.constant([3.0]), tf.constant([4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a, b = f(x, y)
    assert [g.numpy() for g in tape.gradient(a, [x, y])] == [[1], [100]]
    assert [g.numpy() for g in tape.gradient(b, [x, y])] == [[10], [1000]]
