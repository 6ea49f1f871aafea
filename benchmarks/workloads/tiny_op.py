"""One small operation: what a call costs."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (3,), "tiny": (3,)}


def inputs(random, n):
    return (random.random(n, np.float32),)


def plus_one(x):
    return x + 1.0


def numpy(np):
    return plus_one


def tensorflow(tf):
    return plus_one


def jax(jax):
    return plus_one


def torch(torch):
    return plus_one


def numba(numba):
    return lambda x: x + np.float32(1.0)
