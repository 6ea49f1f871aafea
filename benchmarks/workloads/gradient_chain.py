"""The gradient of a straight line of nodes: what tracing each of them costs."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (2000,), "tiny": (10,)}


def inputs(random, nodes):
    return random.random(3, np.float32), nodes


def numpy(np):
    return lambda x, nodes: np.full_like(x, np.float32(0.9) ** (nodes // 2))


def tensorflow(tf):
    def run(x, nodes):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(nodes // 2):
                y = 0.9 * y + 0.1
        return tape.gradient(y, x)

    return run


def jax(jax):
    def total(x, nodes):
        for _ in range(nodes // 2):
            x = 0.9 * x + 0.1
        return x.sum()

    return jax.grad(total)
