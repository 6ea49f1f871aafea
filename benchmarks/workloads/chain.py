"""A straight line of nodes: what tracing and compiling each of them costs."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (2000,), "long": (20000,), "tiny": (10,)}


def inputs(random, nodes):
    return random.random(3, np.float32), nodes


def chain(x, nodes):
    for _ in range(nodes // 2):
        x = 0.9 * x + 0.1
    return x


def numpy(np):
    return chain


def tensorflow(tf):
    return chain


def jax(jax):
    return chain
