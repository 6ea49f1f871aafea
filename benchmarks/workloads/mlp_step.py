"""One step of training a network of two layers, with Adam."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (64, 784, 256, 10), "tiny": (4, 6, 5, 3)}
COMPILED = ("jax",)
RATE, EPSILON = 1e-3, 1e-12


def inputs(random, batch, pixels, hidden, classes):
    images = random.random((batch, pixels), np.float32)
    return images, random.integers(0, classes, batch).astype(np.int32)


def weights(random, batch, pixels, hidden, classes):
    def draw(*shape):
        return random.standard_normal(shape, np.float32) / np.float32(shape[0] ** 0.5)

    first = draw(pixels, hidden), np.zeros(hidden, np.float32)
    return *first, draw(hidden, classes), np.zeros(classes, np.float32)


def numpy(np, *weights):
    weights = [np.array(weight) for weight in weights]
    slots = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in weights]
    count = 0

    def step(x, labels):
        nonlocal count
        count += 1
        loss, gradients = _gradients(np, weights, x, labels)
        rate = np.float32(RATE * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count))
        for weight, gradient, (mean, square) in zip(weights, gradients, slots):
            mean += np.float32(0.1) * (gradient - mean)
            square += np.float32(0.001) * (gradient * gradient - square)
            weight -= rate * mean / (np.sqrt(square) + np.float32(EPSILON))
        return loss

    return step


def _gradients(np, weights, x, labels):
    w, b, v, c = weights
    hidden = np.maximum(x @ w + b, 0)
    logits = hidden @ v + c
    shares = np.exp(logits - logits.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.mean(np.log(shares[rows, labels]))
    shares[rows, labels] -= 1
    error = shares / np.float32(len(labels))
    back = (error @ v.T) * (hidden > 0)
    return loss, (x.T @ back, back.sum(0), hidden.T @ error, error.sum(0))


def tensorflow(tf, *weights):
    w, b, v, c = weights = [tf.Variable(weight) for weight in weights]
    slots = [[tf.Variable(tf.zeros_like(w)) for w in weights] for _ in range(2)]
    count = tf.Variable(0.0)

    def step(x, labels):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, w) + b)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels, tf.matmul(hidden, v) + c
            )
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, weights)
        count.assign_add(1.0)
        rate = RATE * tf.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        for weight, gradient, mean, square in zip(weights, gradients, *slots):
            mean.assign_add(0.1 * (gradient - mean))
            square.assign_add(0.001 * (tf.square(gradient) - square))
            weight.assign_sub(rate * mean / (tf.sqrt(square) + EPSILON))
        return loss

    return step


def jax(jax, *weights):
    slots = [(0 * weight, 0 * weight) for weight in weights]
    count = 0.0

    def step(x, labels):
        nonlocal weights, slots, count
        count += 1.0
        found = update(weights, slots, count, x, labels)
        loss, weights, slots = jax.block_until_ready(found)
        return loss

    update = _jax_update(jax)
    return step


def _jax_update(jax):
    def loss(weights, x, labels):
        w, b, v, c = weights
        found = jax.nn.log_softmax(jax.nn.relu(x @ w + b) @ v + c)
        return -jax.numpy.mean(found[jax.numpy.arange(len(labels)), labels])

    @jax.jit
    def update(weights, slots, count, x, labels):
        value, gradients = jax.value_and_grad(loss)(weights, x, labels)
        rate = RATE * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count)
        changed = []
        for weight, gradient, (mean, square) in zip(weights, gradients, slots):
            mean = mean + 0.1 * (gradient - mean)
            square = square + 0.001 * (gradient**2 - square)
            weight = weight - rate * mean / (jax.numpy.sqrt(square) + EPSILON)
            changed.append((weight, (mean, square)))
        return value, *map(list, zip(*changed))

    return update


def torch(torch, *weights):
    w, b, v, c = weights = [torch.tensor(each, requires_grad=True) for each in weights]
    adam = torch.optim.Adam(weights, RATE, eps=EPSILON)

    def step(x, labels):
        adam.zero_grad()
        logits = torch.relu(x @ w + b) @ v + c
        loss = torch.nn.functional.cross_entropy(logits, labels.long())
        loss.backward()
        adam.step()
        return loss.detach()

    return step
