"""Gradients by the parameters of random distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import GradientError

SEED = [1, 2]


def gradients(f: Any, *sources: Any) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f(*sources)
    return [g.numpy() for g in tape.gradient(y, sources)]


def test_numbers_that_are_shifted_and_scaled() -> None:
    mean, deviation = tf.constant(1.5), tf.constant(2.0)
    for draw in (tf.random.stateless_normal, tf.random.stateless_truncated_normal):
        plain = draw([3], SEED).numpy()
        found = gradients(
            lambda m, d, draw=draw: draw([3], SEED, m, d), mean, deviation
        )
        np.testing.assert_allclose(found, [3.0, plain.sum()], 1e-6)
    plain = tf.random.stateless_uniform([3], SEED).numpy()
    found = gradients(
        lambda low, high: tf.random.stateless_uniform([3], SEED, low, high),
        mean,
        deviation,
    )
    np.testing.assert_allclose(found, [(1 - plain).sum(), plain.sum()], 1e-5)
    found = gradients(lambda m, d: tf.random.normal([3], m, d), mean, deviation)
    assert found[0] == 3.0


@pytest.mark.parametrize("alpha", [0.3, 2.5, 40.0])
@pytest.mark.parametrize("staged", [False, True])
def test_gamma_numbers(alpha: float, staged: bool) -> None:
    def slopes(a: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(a)
            x = tf.random.stateless_gamma([4, 1], SEED, a, dtype=tf.float64)
        return x, tape.jacobian(x, a)

    @tf.function
    def curves(a: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            x, slope = slopes(a)
        return x, slope, tape.jacobian(slope, a)

    call = curves if staged else curves.python_function
    a = tf.constant([alpha], tf.float64)
    for x, slope, curve in zip(*[np.ravel(part) for part in call(a)]):
        step = 1e-3 * alpha
        more, less = (_moved(alpha, x, sign * step) for sign in (1, -1))
        near = (more - less) / (2 * step)
        np.testing.assert_allclose(slope, near, 1e-4)
        bend = (more - 2 * x + less) / step**2
        np.testing.assert_allclose(curve, bend, 1e-2, 1e-4 * slope / alpha)


def _moved(a: float, x: float, step: float) -> float:
    """The gamma number of ``a + step`` that is as probable to be exceeded as x of a."""
    wanted, y = _probability(a, x), x
    for _ in range(30):
        density = math.exp((a + step - 1) * math.log(y) - y - math.lgamma(a + step))
        y -= (_probability(a + step, y) - wanted) / density
    return y


def _probability(a: float, x: float) -> float:
    terms, n = [1 / a], 0
    while terms[-1] > 1e-18 or n < x:
        n += 1
        terms.append(terms[-1] * x / (a + n))
    return math.exp(a * math.log(x) - x - math.lgamma(a)) * math.fsum(terms)


def test_gamma_numbers_and_rates_of_float32() -> None:
    alpha, beta = tf.constant([0.5, 2.0]), tf.constant([[1.0], [3.0]])

    def draw(a: Any, b: Any) -> Any:
        return tf.random.stateless_gamma([4, 2, 2], SEED, a, b)

    eager = gradients(draw, alpha, beta)
    assert [g.shape for g in eager] == [(2,), (2, 1)]
    np.testing.assert_allclose(
        eager[1], -(draw(alpha, beta) / beta).numpy().sum((0, 2))[:, None], 1e-5
    )
    for found, wanted in zip(gradients(tf.function(draw), alpha, beta), eager):
        np.testing.assert_allclose(found, wanted, 1e-5)


def test_a_gamma_number_that_is_zero() -> None:
    alpha = tf.constant(1e-4)
    (found,) = gradients(lambda a: tf.random.stateless_gamma([5], SEED, a), alpha)
    assert np.isfinite(found)


def test_other_distributions_are_refused() -> None:
    with pytest.raises(GradientError, match=r"AG330: .*StatelessRandomPoisson"):
        gradients(
            lambda x: tf.random.stateless_poisson([2], SEED, x, tf.float32),
            tf.constant(3.0),
        )
