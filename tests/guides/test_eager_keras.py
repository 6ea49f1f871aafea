"""Programs like those of the guide to eager execution that use Keras."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

Printed = Callable[[], list[str]]


def digits() -> tuple[Any, Any]:
    """Pictures of bars, whose place is their label."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 320)
    images = rng.integers(0, 30, (320, 14, 14)).astype("uint8")
    for image, label in zip(images, labels):
        image[:, label : label + 3] += 200
    return images, labels


def test_a_model_is_trained_by_a_loop_of_ones_own() -> None:
    images, labels = digits()
    dataset = tf.data.Dataset.from_tensor_slices(
        (
            tf.cast(images[..., tf.newaxis] / 255, tf.float32),
            tf.cast(labels, tf.int64),
        )
    )
    dataset = dataset.shuffle(1000).batch(32)
    tf.keras.utils.set_random_seed(1)
    with pytest.warns(UserWarning, match="input_shape"):
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Conv2D(
                    16, [3, 3], activation="relu", input_shape=(None, None, 1)
                ),
                tf.keras.layers.Conv2D(16, [3, 3], activation="relu"),
                tf.keras.layers.GlobalAveragePooling2D(),
                tf.keras.layers.Dense(10),
            ]
        )
    for batch, _ in dataset.take(1):
        assert model(batch[0:1]).numpy().shape == (1, 10)
    optimizer = tf.keras.optimizers.Adam()
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    loss_history = []

    def train_step(images: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            tf.debugging.assert_equal(logits.shape, (32, 10))
            loss_value = loss_object(labels, logits)
        loss_history.append(loss_value.numpy().mean())
        grads = tape.gradient(loss_value, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    for _ in range(3):
        for batch, wanted in dataset:
            train_step(batch, wanted)

    assert len(loss_history) == 30
    assert np.mean(loss_history[-5:]) < np.mean(loss_history[:5])


class Linear(tf.keras.Model):  # type: ignore[misc,name-defined]
    def __init__(self) -> None:
        super(Linear, self).__init__()  # noqa: UP008
        self.W = tf.Variable(5.0, name="weight")
        self.B = tf.Variable(10.0, name="bias")

    def call(self, inputs: Any) -> Any:
        return inputs * self.W + self.B


def test_a_line_is_fitted_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs = tf.random.stateless_normal([2000], [1, 2])
    outputs = inputs * 3 + 2 + tf.random.stateless_normal([2000], [3, 4])

    def loss(model: Any, inputs: Any, targets: Any) -> Any:
        error = model(inputs) - targets
        return tf.reduce_mean(tf.square(error))

    def grad(model: Any, inputs: Any, targets: Any) -> Any:
        with tf.GradientTape() as tape:
            loss_value = loss(model, inputs, targets)
        return tape.gradient(loss_value, [model.W, model.B])

    model = Linear()
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.01)
    for i in range(300):
        grads = grad(model, inputs, outputs)
        optimizer.apply_gradients(zip(grads, [model.W, model.B]))
        if i % 100 == 0:
            print(f"Loss at step {i:03d}: {loss(model, inputs, outputs):.0f}")
    print(f"W = {model.W.numpy():.0f}, B = {model.B.numpy():.0f}")

    assert printed() == [
        "Loss at step 000: 67",
        "Loss at step 100: 2",
        "Loss at step 200: 1",
        "W = 3, B = 2",
    ]

    found = model.W.numpy()
    model.save_weights("weights")
    model.W.assign(0.0)
    status = model.load_weights("weights")

    status.assert_consumed()
    assert model.W.numpy() == found


def test_a_model_and_its_optimizer_are_in_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, [3, 3], activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(10),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)
    checkpoint_dir = "path/to/model_dir"
    os.makedirs(checkpoint_dir)
    checkpoint_prefix = os.path.join(checkpoint_dir, "ckpt")
    root = tf.train.Checkpoint(optimizer=optimizer, model=model)
    root.save(checkpoint_prefix)
    optimizer.learning_rate = 0.5
    root.restore(tf.train.latest_checkpoint(checkpoint_dir)).assert_consumed()

    assert float(optimizer.learning_rate) == np.float32(0.001)


def test_metrics_are_objects() -> None:
    m = tf.keras.metrics.Mean("loss")
    m(0)
    m(5)
    assert float(m.result()) == 2.5
    m([8, 9])
    assert float(m.result()) == 5.5
