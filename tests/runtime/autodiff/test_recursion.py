"""Gradients of functions that call themselves as a tensor decides; see `programs`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import GradientError

X, N = tf.constant(0.7, tf.float64), tf.constant(3)


def gradient(f: Any, *sources: Any) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f(*sources)
    return [g and g.numpy() for g in tape.gradient(y, sources)]


def square(y: Any, n: Any) -> Any:
    if n == 0:
        return y
    return square(y * y, n - 1)


def test_the_backward_function_calls_itself() -> None:
    def slope(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x, n)
        return tape.gradient(y, x)

    f = tf.function(slope)
    for n in (0, 3, 40):
        one = tf.constant(1.0, tf.float64)
        assert f(one, tf.constant(n)).numpy() == 2.0**n
    assert f.experimental_get_tracing_count() == 1
    text = str(f.get_concrete_function(X, N).graph)
    assert text.count("graph='square_gradient'") == 2, text  # from around, and within


def test_forward_mode() -> None:
    with tf.autodiff.ForwardAccumulator([X], [tf.constant(2.0, tf.float64)]) as forward:
        y = tf.function(lambda x: square(x, N))(X)
    np.testing.assert_allclose(forward.jvp(y), 2 * 8 * 0.7**7)


def test_a_variable_that_changes_before_the_gradient() -> None:
    v = tf.Variable(1.3, dtype=tf.float64)

    def power(x: Any, n: Any) -> Any:
        if n == 0:
            return x
        return v * power(x * v, n - 1)

    with tf.GradientTape() as tape:
        y = tf.function(power)(X, N)
        v.assign(100.0)
    np.testing.assert_allclose(tape.gradient(y, v), 0.7 * 6 * 1.3**5)

    @tf.function
    def inside(x: Any) -> Any:
        v.assign(1.3)
        with tf.GradientTape() as tape:
            y = power(x, N)
            v.assign(100.0)
        return tape.gradient(y, v)

    np.testing.assert_allclose(inside(X), 0.7 * 6 * 1.3**5)


def test_an_argument_that_the_result_does_not_depend_on() -> None:
    def f(x: Any, z: Any, n: Any) -> Any:
        if n == 0:
            return x
        return f(x * x, z + 1.0, n - 1)

    found = gradient(tf.function(lambda x, z: f(x, z, N)), X, X * 2.0)
    assert found[1] is None
    np.testing.assert_allclose(found[0], 8 * 0.7**7)


def test_gradients_of_results_that_are_not_used() -> None:
    def f(x: Any, n: Any) -> Any:
        if n == 0:
            return x, tf.sin(x)
        a, b = f(x * x, n - 1)
        return b, a * x

    def first(x: Any) -> Any:
        return f(x, N)[0]

    staged, eager = gradient(tf.function(first), X), gradient(first, X)
    np.testing.assert_allclose(staged, eager)


@pytest.mark.parametrize("effect", ["print", "random", "python"])
def test_what_would_happen_twice_is_refused(effect: str) -> None:
    def f(x: Any, n: Any) -> Any:
        if n == 0:
            return x
        if effect == "print":
            tf.print(n)
        elif effect == "random":
            x = x + tf.random.normal([], dtype=tf.float64)
        else:
            x = tf.py_function(lambda x: x, [x], tf.float64)
        return f(x * x, n - 1)

    with pytest.raises(GradientError, match=r"test_recursion.py:\d+: AG330: 'f' calls"):
        gradient(tf.function(lambda x: f(x, N)), X)


def test_a_tape_in_the_function_itself() -> None:
    def f(x: Any, n: Any) -> Any:
        if n == 0:
            return x
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x * x, n - 1)
        return tape.gradient(y, x)

    with pytest.raises(GradientError, match=r"AG330: .* is asked for within itself"):
        tf.function(f)(X, N)
