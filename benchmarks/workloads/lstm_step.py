"""One step of training an LSTM on sequences: batches × steps × features."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (32, 32, 64), "tiny": (2, 3, 4)}
COMPILED = ("jax",)
RATE = 0.1


def inputs(random, batch, steps, width):
    def draw(*shape):
        return random.standard_normal(shape, np.float32)

    return draw(batch, steps, width), np.tanh(draw(batch, width))


def weights(random, batch, steps, width):
    def draw(*shape):
        return random.standard_normal(shape, np.float32) / np.float32(width**0.5)

    return draw(width, 4 * width), draw(width, 4 * width), np.zeros(4 * width, "f4")


def numpy(np, *weights):
    weights = [np.array(weight) for weight in weights]

    def step(x, y):
        loss, gradients = _gradients(np, weights, x, y)
        for weight, gradient in zip(weights, gradients):
            weight -= np.float32(RATE) * gradient
        return loss

    return step


def _gradients(np, weights, x, y):
    w, u, b = weights
    state = h = c = np.zeros_like(y)
    states = []
    for i in range(x.shape[1]):
        gates = x[:, i] @ w + h @ u + b
        gates = 1 / (1 + np.exp(-gates[:, : 3 * y.shape[1]])), gates[:, -y.shape[1] :]
        keep, take, give = np.split(gates[0], 3, axis=1)
        new = np.tanh(gates[1])
        states.append((h, c, keep, take, give, new))
        c = keep * c + take * new
        h = give * np.tanh(c)
    found = [np.zeros_like(weight) for weight in weights]
    dh, dc = 2 * (h - y) / np.float32(h.size), np.zeros_like(c)
    for i, state in reversed(list(enumerate(states))):
        back, dc = _back(np, state, dh, dc)
        found[0] += x[:, i].T @ back
        found[1] += state[0].T @ back
        found[2] += back.sum(0)
        dh = back @ u.T
    return np.mean((h - y) ** 2), found


def _back(np, state, dh, dc):
    _, c, keep, take, give, new = state
    squashed = np.tanh(keep * c + take * new)
    dc = dc + dh * give * (1 - squashed * squashed)
    parts = dc * c, dc * new, dh * squashed
    gates = [d * g * (1 - g) for d, g in zip(parts, (keep, take, give))]
    gates.append(dc * take * (1 - new * new))
    return np.concatenate(gates, axis=1), dc * keep


def tensorflow(tf, *weights):
    w, u, b = weights = [tf.Variable(weight) for weight in weights]

    def step(x, y):
        with tf.GradientTape() as tape:
            x = tf.transpose(x, [1, 0, 2])
            h = c = tf.zeros_like(y)
            for i in tf.range(tf.shape(x)[0]):
                gates = tf.matmul(x[i], w) + tf.matmul(h, u) + b
                keep, take, give, new = tf.split(gates, 4, axis=1)
                c = tf.sigmoid(keep) * c + tf.sigmoid(take) * tf.tanh(new)
                h = tf.sigmoid(give) * tf.tanh(c)
            loss = tf.reduce_mean(tf.square(h - y))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(RATE * gradient)
        return loss

    return step


def jax(jax, *weights):
    @jax.jit
    def update(weights, x, y):
        value, found = jax.value_and_grad(loss)(weights, x, y)
        return value, jax.tree.map(lambda w, g: w - RATE * g, weights, found)

    def step(x, y):
        nonlocal weights
        value, weights = jax.block_until_ready(update(weights, x, y))
        return value

    loss = _jax_loss(jax)
    return step


def _jax_loss(jax):
    def loss(weights, x, y):
        w, u, b = weights

        def cell(state, each):
            h, c = state
            gates = each @ w + h @ u + b
            keep, take, give, new = jax.numpy.split(gates, 4, axis=1)
            squash = jax.nn.sigmoid
            c = squash(keep) * c + squash(take) * jax.numpy.tanh(new)
            return (squash(give) * jax.numpy.tanh(c), c), None

        start = jax.numpy.zeros_like(y), jax.numpy.zeros_like(y)
        (h, _), _ = jax.lax.scan(cell, start, x.swapaxes(0, 1))
        return jax.numpy.mean((h - y) ** 2)

    return loss


def torch(torch, *weights):
    w, u, b = weights = [torch.tensor(each, requires_grad=True) for each in weights]

    def step(x, y):
        h = c = torch.zeros_like(y)
        for each in x.unbind(1):
            keep, take, give, new = torch.chunk(each @ w + h @ u + b, 4, 1)
            c = torch.sigmoid(keep) * c + torch.sigmoid(take) * torch.tanh(new)
            h = torch.sigmoid(give) * torch.tanh(c)
        loss = torch.mean((h - y) ** 2)
        found = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, found):
                weight -= RATE * gradient
        return loss.detach()

    return step
