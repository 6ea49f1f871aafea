"""Large matrix products, one after the other."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (1000, 200), "quick": (1000, 2), "tiny": (4, 3)}


def inputs(random, n, steps):
    x = random.random((n, n), np.float32)
    return x / x.sum(1, keepdims=True), steps  # rows that sum up to 1 stay so


def product(x, steps):
    for _ in range(steps):
        x = x @ x
    return x


def numpy(np):
    return product


def tensorflow(tf):
    def product(x, steps):
        for _ in range(steps):
            x = tf.matmul(x, x)
        return x

    return product


def jax(jax):
    return lambda x, steps: jax.lax.fori_loop(0, steps, lambda _, x: x @ x, x)


def torch(torch):
    return product


def work(n, steps):
    """The arithmetic, and the bytes that are read and written."""
    return 2 * n**3 * steps, 12 * n * n * steps
