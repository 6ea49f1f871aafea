"""A recurrent network over sequences: batches × steps × features."""

from __future__ import annotations

import numpy as np

SIZES = {"full": (32, 100, 64), "tiny": (2, 3, 4)}


def inputs(random, batch, steps, width):
    def draw(*shape):
        return random.standard_normal(shape, np.float32) / np.float32(width**0.5)

    x = draw(batch, steps, width)
    return x, draw(width, width), draw(width, width), draw(width)


def numpy(np):
    def run(x, w, u, b):
        state = np.zeros((x.shape[0], u.shape[0]), np.float32)
        outputs = np.empty_like(x)
        for i in range(x.shape[1]):
            state = np.tanh(x[:, i] @ w + state @ u + b)
            outputs[:, i] = state
        return outputs

    return run


def tensorflow(tf):
    def run(x, w, u, b):
        x = tf.transpose(x, [1, 0, 2])
        steps = tf.shape(x)[0]
        outputs = tf.TensorArray(tf.float32, steps)
        state = tf.zeros([tf.shape(x)[1], u.shape[0]])
        for i in tf.range(steps):
            state = tf.tanh(tf.matmul(x[i], w) + tf.matmul(state, u) + b)
            outputs = outputs.write(i, state)
        return tf.transpose(outputs.stack(), [1, 0, 2])

    return run


def jax(jax):
    def run(x, w, u, b):
        def step(state, each):
            state = jax.numpy.tanh(each @ w + state @ u + b)
            return state, state

        start = jax.numpy.zeros((x.shape[0], u.shape[0]))
        return jax.lax.scan(step, start, x.swapaxes(0, 1))[1].swapaxes(0, 1)

    return run


def torch(torch):
    def run(x, w, u, b):
        state = torch.zeros(x.shape[0], u.shape[0])
        outputs = []
        for each in x.unbind(1):
            state = torch.tanh(each @ w + state @ u + b)
            outputs.append(state)
        return torch.stack(outputs, 1)

    return run


def work(batch, steps, width):
    """The arithmetic of the products, and the bytes that are read and written."""
    return 4 * batch * steps * width * width, 8 * batch * steps * width


def c(c):
    run = c.function("rnn", "rnn")

    def rnn(x, w, u, b):
        out, state = np.empty_like(x), np.empty_like(b)
        run(x, w, u, b, out, state, *x.shape)
        return out

    return rnn
