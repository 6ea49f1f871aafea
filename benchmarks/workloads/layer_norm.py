"""Layer normalisation of the rows of a matrix."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (1024,), "tiny": (4,)}


def inputs(random, n):
    x = random.standard_normal((n, n), np.float32)
    return x, random.random(n, np.float32), random.random(n, np.float32)


def numpy(np):
    def layer_norm(x, scale, offset):
        x = x - x.mean(-1, keepdims=True)
        variance = np.mean(x * x, -1, keepdims=True)
        return x / np.sqrt(variance + 1e-5) * scale + offset

    return layer_norm


def tensorflow(tf):
    def layer_norm(x, scale, offset):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) / tf.sqrt(variance + 1e-5) * scale + offset

    return layer_norm


def jax(jax):
    def layer_norm(x, scale, offset):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / jax.numpy.sqrt(variance + 1e-5) * scale + offset

    return layer_norm


def torch(torch):
    def layer_norm(x, scale, offset):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, offset)

    return layer_norm


def numba(numba):
    def layer_norm(x, scale, offset):
        result = np.empty_like(x)
        for i in range(len(x)):
            row = x[i] - x[i].mean()
            deviation = np.sqrt(np.mean(row * row) + np.float32(1e-5))
            result[i] = row / deviation * scale + offset
        return result

    return layer_norm


def work(n):
    """The arithmetic, and the bytes that are read and written."""
    return 8 * n * n, 8 * n * n
