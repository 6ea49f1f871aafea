"""How long each point of a picture stays near: a loop over whole tensors."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (256, 50), "tiny": (8, 5)}


def inputs(random, side, steps):
    y, x = np.mgrid[-1.5 : 1.5 : side * 1j, -2.0 : 1.0 : side * 1j]
    return x.astype(np.float32), y.astype(np.float32), np.int32(steps)


def numpy(np):
    def mandelbrot(x, y, steps):
        a, b, near = np.zeros_like(x), np.zeros_like(y), np.zeros(x.shape, np.int32)
        with np.errstate(all="ignore"):
            for _ in range(steps):
                a, b = a * a - b * b + x, 2 * a * b + y
                near += a * a + b * b < 4
        return near

    return mandelbrot


def tensorflow(tf):
    def mandelbrot(x, y, steps):
        a, b, near = tf.zeros_like(x), tf.zeros_like(y), tf.zeros(x.shape, tf.int32)
        for _ in tf.range(steps):
            a, b = a * a - b * b + x, 2 * a * b + y
            near += tf.cast(a * a + b * b < 4, tf.int32)
        return near

    return mandelbrot


def jax(jax):
    def mandelbrot(x, y, steps):
        def step(_, state):
            a, b, near = state
            a, b = a * a - b * b + x, 2 * a * b + y
            return a, b, near + (a * a + b * b < 4)

        zeros = jax.numpy.zeros_like
        start = zeros(x), zeros(y), zeros(x, "int32")
        return jax.lax.fori_loop(0, steps, step, start)[2]

    return mandelbrot


def torch(torch):
    def mandelbrot(x, y, steps):
        a, b = torch.zeros_like(x), torch.zeros_like(y)
        near = torch.zeros(x.shape, dtype=torch.int32)
        for _ in range(steps):
            a, b = a * a - b * b + x, 2 * a * b + y
            near += a * a + b * b < 4
        return near

    return mandelbrot


def numba(numba):
    def mandelbrot(x, y, steps):
        near = np.zeros(x.shape, np.int32)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                a = b = np.float32(0)
                for _ in range(steps):
                    a, b = a * a - b * b + x[i, j], 2 * a * b + y[i, j]
                    near[i, j] += a * a + b * b < 4
        return near

    return mandelbrot


def work(side, steps):
    """The arithmetic, and the bytes that are read and written."""
    return side * side * steps * 12, side * side * 12


def c(c):
    run = c.function("mandelbrot", "mandelbrot")

    def mandelbrot(x, y, steps):
        near = np.empty(x.shape, np.int32)
        run(x, y, near, x.size, int(steps))
        return near

    return mandelbrot
