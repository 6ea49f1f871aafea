"""An activation: a chain of elementwise operations on a large tensor."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (1_000_000,), "tiny": (10,)}


def inputs(random, n):
    return (random.standard_normal(n, np.float32),)


def numpy(np):
    def gelu(x):
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1 + np.tanh(inner))

    return gelu


def tensorflow(tf):
    return lambda x: tf.nn.gelu(x, approximate=True)


def jax(jax):
    return lambda x: jax.nn.gelu(x, approximate=True)


def torch(torch):
    return lambda x: torch.nn.functional.gelu(x, approximate="tanh")


def numba(numba):
    def gelu(x):
        result = np.empty_like(x)
        for i in range(len(x)):
            inner = 0.7978845608028654 * (x[i] + 0.044715 * x[i] * x[i] * x[i])
            result[i] = 0.5 * x[i] * (1 + np.tanh(inner))
        return result

    return gelu


def work(n):
    """The arithmetic, a tanh as 20, and the bytes that are read and written."""
    return 28 * n, 8 * n


def c(c):
    run = c.function("gelu", "gelu")

    def gelu(x):
        result = np.empty_like(x)
        run(x, result, len(x))
        return result

    return gelu
