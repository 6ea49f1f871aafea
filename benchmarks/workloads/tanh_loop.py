"""A loop of which the data say when it ends."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (5,), "tiny": (5,)}


def inputs(random, n):
    return (random.random(n, np.float32),)


def numpy(np):
    def run(x):
        while np.sum(x) > 1:
            x = np.tanh(x)
        return x

    return run


def tensorflow(tf):
    def run(x):
        while tf.reduce_sum(x) > 1:
            x = tf.tanh(x)
        return x

    return run


def jax(jax):
    return lambda x: jax.lax.while_loop(lambda x: x.sum() > 1, jax.numpy.tanh, x)


def torch(torch):
    def run(x):
        while x.sum() > 1:
            x = torch.tanh(x)
        return x

    return run


def numba(numba):
    return numpy(np)
