"""Gradients of functions beside central differences, to the second order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import runtime as tf

__all__ = ["check_grads", "sample"]


def sample(*shape: int, low: float = -1.5, high: float = 1.5, seed: int = 0) -> Any:
    """Numbers between `low` and `high`, no two of them close to each other."""
    count = int(np.prod(shape))
    order = np.random.default_rng(seed + 31 * count).permutation(count)
    values = low + (high - low) * (order + 0.5) / max(count, 1)
    return tf.constant(values.reshape(shape))


def check_grads(
    f: Callable[..., Any], x: Sequence[Any], order: int = 2, tolerance: float = 2e-5
) -> None:
    """Compare gradients with differences, eagerly and staged; then theirs."""
    exact, near = tf.test.compute_gradient(f, x, 1e-5)
    staged, _ = tf.test.compute_gradient(tf.function(_converted(f)), x, 1e-5)
    for found, wanted, in_graph in zip(exact, near, staged):
        np.testing.assert_allclose(found, wanted, tolerance, tolerance)
        np.testing.assert_allclose(in_graph, found, 1e-9, 1e-9)
    if order == 1:
        return
    for place in range(len(x)):
        check_grads(_gradient_by(f, place), x, order - 1, 10 * tolerance)


def _converted(f: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        return f(*args)

    return function


def _gradient_by(f: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The gradient of the weighted sum of a function's results."""

    def function(*args: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(args[place])
            y = tf.convert_to_tensor(f(*args))
            weights = tf.cast(tf.range(tf.size(y)), y.dtype) * 0.3 - 0.5
            total = tf.reduce_sum(y * tf.reshape(weights, tf.shape(y)))
        found = tape.gradient(total, args[place], unconnected_gradients="zero")
        return tf.convert_to_tensor(found)

    return function
