"""A network for the digits of scikit-learn, trained under any strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import runtime as tf

BATCH = 80


def weights() -> list[Any]:
    draw = np.random.RandomState(0)
    shapes = ([64, 32], [32], [32, 10], [10])
    return [tf.Variable(0.1 * draw.randn(*shape)) for shape in shapes]


def data() -> Any:
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = digits.images.reshape(-1, 64) / 16
    data = tf.data.Dataset.from_tensor_slices((images[:1440], digits.target[:1440]))
    return data.shuffle(1440, seed=1).batch(BATCH, drop_remainder=True)


def train(
    strategy: Any,
    steps: int,
    first: int = 0,
    prepared: Callable[[Any], Any] = lambda trained: None,
    after: Callable[[int], Any] = lambda step: None,
) -> list[float]:
    """The losses of `steps` steps of the first epoch, from step `first` on."""
    tf.random.set_seed(1)  # of the shuffle
    with strategy.scope():
        trained = weights()
    prepared(trained)

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, trained[0]) + trained[1])
            logits = tf.matmul(hidden, trained[2]) + trained[3]
            scores = logits - tf.reduce_logsumexp(logits, axis=1, keepdims=True)
            chosen = tf.one_hot(y, 10, dtype=tf.float64) * scores
            loss = -tf.reduce_sum(chosen) / BATCH
        gradients = tape.gradient(loss, trained)
        context = tf.distribute.get_replica_context()
        for weight, gradient in zip(trained, context.all_reduce("SUM", gradients)):
            weight.assign_sub(0.5 * gradient)
        return loss

    @tf.function
    def global_step(x: Any, y: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, (x, y)))

    losses = []
    elements = strategy.experimental_distribute_dataset(data())
    for number, element in enumerate(elements):
        if first <= number < steps:
            losses.append(float(global_step(*element)))
            after(number + 1)
    return losses
