"""A matrix times itself: the loop is unrolled, as `steps` is a Python number."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (10, 100), "tiny": (2, 5)}


def inputs(random, n, steps):
    return random.integers(-1, 2, (n, n), np.int32), steps


def numpy(np):
    def power(x, steps):
        result = np.eye(len(x), dtype=np.int32)
        for _ in range(steps):
            result = np.matmul(x, result)
        return result

    return power


def tensorflow(tf):
    def power(x, steps):
        result = tf.eye(x.shape[0], dtype=tf.int32)
        for _ in range(steps):
            result = tf.matmul(x, result)
        return result

    return power


def jax(jax):
    def power(x, steps):
        one = jax.numpy.eye(len(x), dtype=x.dtype)
        return jax.lax.fori_loop(0, steps, lambda _, result: x @ result, one)

    return power


def torch(torch):
    def power(x, steps):
        result = torch.eye(len(x), dtype=torch.int32)
        for _ in range(steps):
            result = x @ result
        return result

    return power


def numba(numba):
    @numba.njit
    def times(a, b):  # numba's @ is for floats
        result = np.zeros_like(a)
        for i in range(len(a)):
            for j in range(len(a)):
                for k in range(len(a)):
                    result[i, j] += a[i, k] * b[k, j]
        return result

    def power(x, steps):
        result = np.eye(len(x)).astype(np.int32)
        for _ in range(steps):
            result = times(x, result)
        return result

    return power
