"""The gradient of a loop of 100 steps over a short vector."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (10, 100), "tiny": (3, 4)}


def inputs(random, n, steps):
    return random.random(n, np.float32), steps


def numpy(np):
    def run(x, steps):
        states = []
        for _ in range(steps):
            states.append(x)
            x = np.float32(0.9) * x + np.sin(x)
        gradient = np.ones_like(x)
        for state in reversed(states):
            gradient = np.float32(0.9) * gradient + gradient * np.cos(state)
        return gradient

    return run


def tensorflow(tf):
    def run(x, steps):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(steps):
                y = 0.9 * y + tf.sin(y)
        return tape.gradient(y, x)

    return run


def jax(jax):
    def total(x, steps):
        step = lambda y, _: (0.9 * y + jax.numpy.sin(y), None)  # noqa: E731
        return jax.numpy.sum(jax.lax.scan(step, x, length=steps)[0])

    return jax.grad(total)


def torch(torch):
    def run(x, steps):
        x = x.clone().requires_grad_()
        y = x
        for _ in range(steps):
            y = 0.9 * y + torch.sin(y)
        y.sum().backward()
        return x.grad

    return run
