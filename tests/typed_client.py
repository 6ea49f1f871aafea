"""A program with types, as a user writes it: `mypy --strict` and pyright accept it.

`tests/architecture/test_typing.py` checks it; nothing runs it.
"""

from __future__ import annotations

import autograph
import runtime as tf


@autograph.convert
def clip(x: int, limit: int = 10) -> int:
    if x > limit:
        x = limit
    return x


@tf.function
def scaled(x: tf.Tensor, factor: float = 2.0) -> tf.Tensor:
    if tf.reduce_sum(x) > 0:
        x = x * factor
    return x


class Model(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable([[1.0, 2.0]])

    def loss(self, x: tf.Tensor) -> tf.Tensor:
        loss: tf.Tensor = tf.reduce_mean(tf.square(self.weight * x))
        return loss


def train(model: Model, steps: int) -> float:
    loss = tf.constant(0.0)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = model.loss(tf.constant([[1.0, 1.0]]))
        (gradient,) = tape.gradient(loss, [model.weight])
        model.weight.assign_sub(0.1 * gradient)
    return float(loss)


number: int = clip(12)
code: str = autograph.to_code(clip)
result: tf.Tensor = scaled(tf.constant([1.0, -0.5]))
report = autograph.verify(clip, 12)
agrees: bool = report.agrees
with autograph.install_import_hook(["shop"]) as hook:
    packages: tuple[str, ...] = hook.packages
data = tf.data.Dataset.range(3).map(lambda n: n * 2).batch(2)
for batch in data:
    print(batch.shape, train(Model(), 2))
