"""Gradients that programs write: values are those that TensorFlow 2.21 prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.autodiff.checks import check_grads


@tf.custom_gradient
def cube(x: Any) -> Any:
    """The third power, with ten times its gradient."""
    return x**3, lambda upstream: upstream * 30 * x * x


def gradient_of(f: Any, *args: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(args)
        y = f(*args)
    return tape.gradient(y, list(args))


def test_the_function_without_a_tape() -> None:
    assert cube(tf.constant(2.0)).numpy() == 8
    assert tf.function(cube)(tf.constant(2.0)).numpy() == 8


def test_log1pexp_of_a_large_number() -> None:
    @tf.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = tf.exp(x)

        def grad(upstream: Any) -> Any:
            return upstream * (1 - 1 / (1 + e))

        return tf.math.log(1 + e), grad

    (eager,) = gradient_of(log1pexp, tf.constant(100.0))
    (staged,) = gradient_of(tf.function(log1pexp), tf.constant(100.0))
    assert eager.numpy() == staged.numpy() == 1
    # Second derivatives go through what the gradient uses of the function.
    check_grads(log1pexp, [tf.constant([0.5, -1.0], tf.float64)])


def test_an_argument_without_gradient() -> None:
    @tf.custom_gradient
    def clip_gradient_by_norm(x: Any, norm: float) -> Any:
        def grad(upstream: Any) -> Any:
            return [tf.clip_by_norm(upstream, norm), None]

        return tf.identity(x), grad

    def f(x: Any) -> Any:
        return clip_gradient_by_norm(x * 2, 0.5) ** 2

    for function in (f, tf.function(f)):
        (found,) = gradient_of(function, tf.constant([3.0, 4.0]))
        np.testing.assert_allclose(found, [0.6, 0.8], rtol=1e-6)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "staged"])
def test_the_gradient_has_a_gradient(wrap: Any) -> None:
    f, x = wrap(cube), tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        (first,) = gradient_of(f, x)
    assert first.numpy() == 270
    assert outer.gradient(first, x).numpy() == 180


def test_a_tape_in_a_graph() -> None:
    @tf.function
    def slope(x: Any) -> Any:
        return gradient_of(lambda x: cube(2 * x), x)[0]

    assert slope(tf.constant(3.0)).numpy() == 2 * 30 * 36
    assert (
        "CustomGradient"
        not in slope.get_concrete_function(tf.TensorSpec([], tf.float32)).to_source()
    )


def test_several_results() -> None:
    @tf.custom_gradient
    def f(x: Any, y: Any) -> Any:
        return (x + y, x * y), lambda a, b: (a + b * 10, a * 100 + b * 1000)

    x, y = tf.constant(3.0), tf.constant(4.0)
    for function in (f, tf.function(f)):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            a, b = function(x, y)
        assert [g.numpy() for g in tape.gradient([a, b], [x, y])] == [11, 1100]
        assert [g.numpy() for g in tape.gradient(a, [x, y])] == [1, 100]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "staged"])
def test_variables_that_are_read(wrap: Any) -> None:
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x: Any) -> Any:
        def grad(upstream: Any, variables: Any = None) -> Any:
            assert variables == [v]
            return upstream * 10, [upstream * 20]

        return x * v, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = wrap(f)(x)
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [10, 20]


def test_a_variable_as_argument() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = cube(v)
    assert tape.gradient(y, v).numpy() == 120


def test_a_gradient_that_takes_no_variables() -> None:
    v = tf.Variable(2.0, name="scale")

    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * v, lambda upstream: upstream

    with tf.GradientTape(), pytest.raises(TypeError, match=r"'scale:0'.*variables="):
        f(tf.constant(3.0))


def test_a_gradient_for_another_number_of_arguments() -> None:
    @tf.custom_gradient
    def f(x: Any, y: Any) -> Any:
        return x * y, lambda upstream: upstream

    with pytest.raises(ValueError, match="1 values for 2 arguments"):
        gradient_of(f, tf.constant(3.0), tf.constant(1.0))


def test_a_function_without_gradient() -> None:
    with pytest.raises(TypeError, match="its result and a function"):
        tf.custom_gradient(lambda x: x)(tf.constant(1.0))


def test_branches_in_the_function_and_in_its_gradient() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            if x > 1:
                return upstream * 5
            return upstream * 7

        if x > 0:
            return x * 2, grad
        return -x, grad

    staged = tf.function(f)
    for number, value, slope in [(2.0, 4, 5), (0.5, 1, 7), (-3.0, 3, 7)]:
        x = tf.constant(number)
        assert staged(x).numpy() == value
        assert gradient_of(staged, x)[0].numpy() == slope


def test_recomputing() -> None:
    v, x = tf.Variable(2.0), tf.constant(0.3)

    def f(x: Any) -> Any:
        return tf.tanh(x * v) * v

    for function in (f, tf.recompute_grad(f), tf.function(tf.recompute_grad(f))):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        found = tape.gradient(y, [x, v])
        np.testing.assert_allclose(found, [2.8463, 0.964], atol=1e-4)


def test_a_tape_keeps_nothing_of_what_is_recomputed() -> None:
    x = tf.constant(0.3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tf.recompute_grad(lambda x: tf.tanh(tf.tanh(tf.tanh(x))))(x)
    assert [step.op for step in tape._recording.steps] == ["CustomGradient"]


def test_recomputing_has_second_derivatives() -> None:
    check_grads(
        tf.recompute_grad(lambda x: tf.sin(x) * x), [tf.constant([0.5], tf.float64)]
    )


def test_passing_a_gradient_through() -> None:
    f = tf.grad_pass_through(lambda x: tf.round(x * 1.3))
    assert gradient_of(f, tf.constant(3.0))[0].numpy() == 1
    assert gradient_of(tf.function(f), tf.constant(3.0))[0].numpy() == 1
