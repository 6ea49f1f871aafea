"""Softmax of the rows of a matrix."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (1024,), "tiny": (4,)}


def inputs(random, n):
    return (random.standard_normal((n, n), np.float32),)


def numpy(np):
    def softmax(x):
        powers = np.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    return softmax


def tensorflow(tf):
    return lambda x: tf.nn.softmax(x)


def jax(jax):
    return lambda x: jax.nn.softmax(x)


def torch(torch):
    return lambda x: torch.softmax(x, -1)


def numba(numba):
    def softmax(x):
        result = np.empty_like(x)
        for i in range(len(x)):
            result[i] = np.exp(x[i] - x[i].max())
            result[i] /= result[i].sum()
        return result

    return softmax


def work(n):
    """The arithmetic, an exp as 15, and the bytes that are read and written."""
    return 19 * n * n, 8 * n * n
