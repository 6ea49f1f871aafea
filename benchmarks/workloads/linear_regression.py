"""One step of gradient descent; the gradient is written by hand."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (1000,), "tiny": (10,)}


def inputs(random, n):
    x = random.standard_normal(n, np.float32)
    y = 3 * x + 2 + random.standard_normal(n, np.float32)
    return x, y, np.float32(5.0), np.float32(0.0)


def numpy(np):
    def step(x, y, w, b):
        error = w * x + b - y
        loss = np.mean(error * error)
        dw, db = 2 * np.mean(error * x), 2 * np.mean(error)
        return w - np.float32(0.1) * dw, b - np.float32(0.1) * db, loss

    return step


def tensorflow(tf):
    def step(x, y, w, b):
        error = w * x + b - y
        loss = tf.reduce_mean(error * error)
        dw, db = 2 * tf.reduce_mean(error * x), 2 * tf.reduce_mean(error)
        return w - 0.1 * dw, b - 0.1 * db, loss

    return step


def jax(jax):
    def step(x, y, w, b):
        error = w * x + b - y
        loss = (error * error).mean()
        dw, db = 2 * (error * x).mean(), 2 * error.mean()
        return w - 0.1 * dw, b - 0.1 * db, loss

    return step


def torch(torch):
    return jax(torch)


def numba(numba):
    return numpy(np)
