"""Models with losses, whose gradients all executors find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import runtime as tf
from tests.runtime.autodiff.checks import sample

__all__ = ["MODELS", "check", "gradients", "losses"]

Tensor = Any
BATCH, LABELS = sample(4, 6), tf.constant([2, 0, 1, 1])
IMAGES = sample(2, 6, 6, 2)


def weights(*shape: int, seed: int = 1) -> Tensor:
    return sample(*shape, low=-0.7, high=0.8, seed=seed)


def softmax_cross_entropy(w: Tensor, b: Tensor) -> Tensor:
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, BATCH @ w + b)
    return tf.reduce_mean(losses)


def perceptron(w: Tensor, b: Tensor, v: Tensor) -> Tensor:
    hidden = tf.nn.dropout(tf.nn.relu(BATCH @ w + b), 0.0)
    targets = tf.one_hot(LABELS, 3, dtype=tf.float64)
    losses = tf.nn.softmax_cross_entropy_with_logits(targets, tf.nn.elu(hidden @ v))
    return tf.reduce_mean(losses) + 0.01 * tf.nn.l2_loss(w)


def convolutions(w: Tensor, b: Tensor, v: Tensor) -> Tensor:
    x = tf.nn.relu(tf.nn.conv2d(IMAGES, w, 1, "SAME") + b)
    x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    x = tf.nn.depthwise_conv2d(x, v, [1, 1, 1, 1], "SAME")
    return tf.reduce_mean(tf.square(tf.nn.avg_pool2d(x, 2, 1, "VALID")))


def transposed_convolution(w: Tensor) -> Tensor:
    x = tf.nn.conv2d_transpose(IMAGES, w, [2, 12, 12, 1], 2, "SAME")
    return tf.reduce_sum(tf.tanh(tf.nn.conv2d(x, w, 3, "VALID")))


def volume(w: Tensor) -> Tensor:
    x = tf.reshape(IMAGES, [2, 3, 4, 6, 1])
    x = tf.nn.conv3d(x, w, [1, 1, 1, 2, 1], "SAME")
    return tf.reduce_sum(tf.nn.max_pool3d(x, 2, 2, "VALID") ** 2)


def lstm(kernel: Tensor, recurrent: Tensor) -> Tensor:
    h = c = tf.zeros([2, 3], tf.float64)
    for step in tf.range(6):
        gates = IMAGES[:, step, 0, :] @ kernel + h @ recurrent
        i, f, g, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
    return tf.reduce_mean(h * h)


def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    x = tf.reshape(IMAGES, [2, 12, 6])
    q, k, v = (tf.einsum("btd,dhe->bhte", x, w) for w in (query, key, value))
    scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(tf.constant(2.0, tf.float64))
    mask = tf.linalg.band_part(tf.ones([12, 12], tf.float64), -1, 0)
    attended = tf.nn.softmax(tf.where(mask > 0, scores, -1e9)) @ v
    return tf.reduce_mean(tf.square(attended))


def layer_norm(scale: Tensor, offset: Tensor) -> Tensor:
    mean, variance = tf.nn.moments(BATCH, -1, keepdims=True)
    x = (BATCH - mean) * tf.math.rsqrt(variance + 1e-3) * scale + offset
    return tf.reduce_logsumexp(tf.nn.gelu(x))


def batch_norm(scale: Tensor, offset: Tensor) -> Tensor:
    mean, variance = tf.nn.moments(IMAGES, [0, 1, 2])
    x = tf.nn.batch_normalization(IMAGES, mean, variance, offset, scale, 1e-3)
    return tf.reduce_mean(tf.nn.softplus(x) * x)


def embedding(table: Tensor, w: Tensor) -> Tensor:
    rows = tf.nn.embedding_lookup(table, [[1, 1, 0], [4, 2, 1]])
    return tf.reduce_sum(tf.math.log_sigmoid(tf.reduce_max(rows @ w, 1)))


def running(x: Tensor) -> Tensor:
    sums = tf.cumsum(x, 1, exclusive=True) + tf.math.cumulative_logsumexp(x, 0)
    return tf.reduce_sum(tf.sin(sums) * tf.math.cumprod(x, 1, reverse=True))


def gaussian(a: Tensor, y: Tensor) -> Tensor:
    covariance = a @ tf.transpose(a) + tf.eye(3, dtype=tf.float64)
    factor = tf.linalg.cholesky(covariance)
    white = tf.linalg.triangular_solve(factor, y)
    return tf.reduce_sum(white**2) + tf.linalg.logdet(covariance)


def least_squares(w: Tensor, y: Tensor) -> Tensor:
    solved = tf.linalg.solve(tf.transpose(w) @ w, tf.transpose(w) @ y)
    singular = tf.linalg.svd(w, compute_uv=False)
    values = tf.linalg.eigvalsh(tf.transpose(w) @ w)
    return tf.reduce_sum(solved**2) + tf.reduce_prod(singular) + tf.reduce_max(values)


def odd_losses(x: Tensor) -> Tensor:
    errors = tf.where(tf.abs(x) < 0.7, 0.5 * x * x, 0.7 * (tf.abs(x) - 0.35))
    ordered = tf.sort(x, -1, "DESCENDING")[:, :2] * tf.math.top_k(x, 2).values
    hinge = tf.maximum(0.0, 1.0 - x[::-1, 1:]) ** 2
    return (
        tf.reduce_mean(errors)
        + tf.reduce_sum(ordered)
        + tf.reduce_min(hinge + x[:, :5])
    )


MODELS: list[tuple[Callable[..., Tensor], list[Tensor]]] = [
    (softmax_cross_entropy, [weights(6, 3), weights(3)]),
    (perceptron, [weights(6, 5), weights(5), weights(5, 3)]),
    (convolutions, [weights(3, 3, 2, 3), weights(3), weights(2, 2, 3, 2)]),
    (transposed_convolution, [weights(2, 2, 1, 2)]),
    (volume, [weights(2, 2, 2, 1, 2)]),
    (lstm, [weights(2, 12), weights(3, 12)]),
    (attention, [weights(6, 2, 3, seed=seed) for seed in range(3)]),
    (layer_norm, [weights(6), weights(6, seed=2)]),
    (batch_norm, [weights(2), weights(2, seed=2)]),
    (embedding, [weights(5, 3), weights(3, 4)]),
    (running, [weights(3, 4)]),
    (gaussian, [weights(3, 3), weights(3, 2)]),
    (least_squares, [weights(4, 3), weights(4, 1)]),
    (odd_losses, [sample(4, 6)]),
]


def gradients(cases: Any, parameters: Any) -> Any:
    """Those of each loss, as tensors."""
    with tf.GradientTape() as tape:
        tape.watch(parameters)
        loss = losses(cases, parameters)
    found = tape.gradient(loss, parameters)
    return [[tf.convert_to_tensor(g) for g in each] for each in found]


def losses(cases: Any, parameters: Any) -> Any:
    return tf.add_n([model(*p) for (model, _), p in zip(cases, parameters)])


def check(cases: Any, found: Any, expected: Any) -> None:
    for (model, _), ours, others in zip(cases, found, expected, strict=True):
        for one, other in zip(ours, others, strict=True):
            np.testing.assert_allclose(one, other, 1e-9, 1e-10, err_msg=str(model))
