"""One step of linear regression: a tape, two variables, gradient descent."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (1000,), "tiny": (10,)}
COMPILED = ("jax",)


def inputs(random, n):
    x = random.standard_normal(n, np.float32)
    return x, 3 * x + 2 + random.standard_normal(n, np.float32)


def weights(random, n):
    return np.float32(5.0), np.float32(0.0)


def numpy(np, w, b):
    def step(x, y):
        nonlocal w, b
        error = w * x + b - y
        loss = np.mean(error * error)
        w = w - np.float32(0.1) * (2 * np.mean(error * x))
        b = b - np.float32(0.1) * (2 * np.mean(error))
        return loss

    return step


def tensorflow(tf, w, b):
    w, b = tf.Variable(w), tf.Variable(b)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w * x + b - y))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
        return loss

    return step


def jax(jax, *weights):
    def loss(weights, x, y):
        w, b = weights
        return jax.numpy.mean((w * x + b - y) ** 2)

    @jax.jit
    def update(weights, x, y):
        value, found = jax.value_and_grad(loss)(weights, x, y)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, found)

    def step(x, y):
        nonlocal weights
        value, weights = jax.block_until_ready(update(weights, x, y))
        return value

    return step


def torch(torch, *weights):
    weights = [torch.tensor(w, requires_grad=True) for w in weights]

    def step(x, y):
        w, b = weights
        loss = torch.mean((w * x + b - y) ** 2)
        found = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, found):
                weight -= 0.1 * gradient
        return loss.detach()

    return step
