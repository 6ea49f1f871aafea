"""The Collatz sequence: a loop of scalars with a branch in it."""

from __future__ import annotations

import ctypes

import numpy as np

SIZES = {"full": (77031,), "tiny": (6,)}


def inputs(random, n):
    return (np.int32(n),)


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def numpy(np):
    return lambda n: collatz(int(n))


def tensorflow(tf):
    def collatz(n):
        steps = tf.constant(0)
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    return collatz


def jax(jax):
    def step(state):
        n, steps = state
        n = jax.lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n)
        return n, steps + 1

    return lambda n: jax.lax.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]


def torch(torch):
    return collatz


def numba(numba):
    return collatz


def c(c):
    length = c.function("collatz", "length", ctypes.c_int32)
    return lambda n: length(int(n))
