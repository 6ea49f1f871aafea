"""One step of training a small network for images, with gradient descent."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (32, 28, 16), "tiny": (2, 6, 3)}
COMPILED = ("jax",)
RATE = 0.1


def inputs(random, batch, side, width):
    images = random.standard_normal((batch, side, side, 1), np.float32)
    return images, random.integers(0, 10, batch).astype(np.int32)


def weights(random, batch, side, width):
    def draw(*shape):
        return random.standard_normal(shape, np.float32) / np.float32(3)

    return draw(3, 3, 1, width), draw(3, 3, width, width), draw(width, 10), draw(10)


def numpy(np, *weights):
    weights = [np.array(weight) for weight in weights]

    def step(x, labels):
        loss, gradients = _gradients(np, weights, x, labels)
        for weight, gradient in zip(weights, gradients):
            weight -= np.float32(RATE) * gradient.reshape(weight.shape)
        return loss

    return step


def _gradients(np, weights, x, labels):
    first, second, w, b = weights
    rows, once = _layer(np, x, first)
    more_rows, twice = _layer(np, once, second)
    pooled = twice.mean((1, 2))
    logits = pooled @ w + b
    shares = np.exp(logits - logits.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    loss = -np.mean(np.log(shares[np.arange(len(x)), labels]))
    shares[np.arange(len(x)), labels] -= 1
    error = shares / np.float32(len(x))
    spread = (error @ w.T)[:, None, None] / np.float32(twice[0, ..., 0].size)
    back = spread * (twice > 0)
    padded = np.pad(back, [(0, 0), (2, 2), (2, 2), (0, 0)])
    turned = second[::-1, ::-1].transpose(0, 1, 3, 2)
    earlier = _layer(np, padded, turned, lambda x: x)[1] * (once > 0)
    found = [
        rows.T @ back.reshape(len(rows), -1)
        for rows, back in ((rows, earlier), (more_rows, back))
    ]
    return loss, (*found, pooled.T @ error, error.sum(0))


def _layer(np, x, filters, then=lambda x: np.maximum(x, 0)):
    parts = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    rows = parts.transpose(0, 1, 2, 4, 5, 3).reshape(-1, filters[..., 0].size)
    found = rows @ filters.reshape(rows.shape[1], -1)
    return rows, then(found).reshape(*parts.shape[:3], -1)


def tensorflow(tf, *weights):
    first, second, w, b = weights = [tf.Variable(weight) for weight in weights]

    def layer(x, filters):
        return tf.nn.relu(tf.nn.conv2d(x, filters, 1, "VALID"))

    def step(x, labels):
        with tf.GradientTape() as tape:
            x = layer(layer(x, first), second)
            logits = tf.matmul(tf.reduce_mean(x, [1, 2]), w) + b
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(RATE * gradient)
        return loss

    return step


def jax(jax, *weights):
    @jax.jit
    def update(weights, x, labels):
        value, found = jax.value_and_grad(loss)(weights, x, labels)
        return value, jax.tree.map(lambda w, g: w - RATE * g, weights, found)

    def step(x, labels):
        nonlocal weights
        value, weights = jax.block_until_ready(update(weights, x, labels))
        return value

    loss = _jax_loss(jax)
    return step


def _jax_loss(jax):
    def layer(x, filters):
        order = "NHWC", "HWIO", "NHWC"
        found = jax.lax.conv_general_dilated(
            x, filters, (1, 1), "VALID", dimension_numbers=order
        )
        return jax.nn.relu(found)

    def loss(weights, x, labels):
        first, second, w, b = weights
        logits = layer(layer(x, first), second).mean((1, 2)) @ w + b
        found = jax.nn.log_softmax(logits)
        return -jax.numpy.mean(found[jax.numpy.arange(len(labels)), labels])

    return loss


def torch(torch, *weights):
    weights = [torch.tensor(each, requires_grad=True) for each in weights]

    def layer(x, filters):
        return torch.relu(torch.conv2d(x, filters.permute(3, 2, 0, 1)))

    def step(x, labels):
        first, second, w, b = weights
        x = layer(layer(x.permute(0, 3, 1, 2), first), second)
        logits = x.mean((2, 3)) @ w + b
        loss = torch.nn.functional.cross_entropy(logits, labels.long())
        found = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, found):
                weight -= RATE * gradient
        return loss.detach()

    return step
