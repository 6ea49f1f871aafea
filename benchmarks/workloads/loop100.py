"""A loop of 100 steps over a short vector; no gradient is measured yet."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (10, 100), "tiny": (3, 4)}


def inputs(random, n, steps):
    return random.random(n, np.float32), np.int32(steps)


def numpy(np):
    def run(x, steps):
        for _ in range(steps):
            x = np.float32(0.9) * x + np.sin(x)
        return x

    return run


def tensorflow(tf):
    def run(x, steps):
        for _ in tf.range(steps):
            x = 0.9 * x + tf.sin(x)
        return x

    return run


def jax(jax):
    def run(x, steps):
        step = lambda _, x: 0.9 * x + jax.numpy.sin(x)  # noqa: E731
        return jax.lax.fori_loop(0, steps, step, x)

    return run


def torch(torch):
    def run(x, steps):
        for _ in range(steps):
            x = 0.9 * x + torch.sin(x)
        return x

    return run


def numba(numba):
    return numpy(np)
