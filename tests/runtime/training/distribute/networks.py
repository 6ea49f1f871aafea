"""A small transformer and a small ResNet, trained by Keras under any strategy."""

from __future__ import annotations

from typing import Any

import numpy as np

import runtime as tf

#: How many rows the data have: the last batch of an epoch has eight or four.
SIZES = {"transformer": 16, "resnet": 20}


def transformer() -> Any:
    layers = tf.keras.layers
    tokens = tf.keras.Input([6], dtype="int32")
    x = layers.Embedding(30, 8)(tokens) + layers.Embedding(6, 8)(tf.range(6))
    attended = layers.MultiHeadAttention(2, 4, dropout=0.1)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(x + attended)
    wide = layers.Dropout(0.1)(layers.Dense(16, activation="gelu")(x))
    x = layers.LayerNormalization()(x + layers.Dense(8)(wide))
    return tf.keras.Model(tokens, layers.Dense(30)(x))


def resnet() -> Any:
    layers = tf.keras.layers
    pictures = tf.keras.Input([6, 6, 3])
    x = layers.Conv2D(4, 3, padding="same", use_bias=False)(pictures)
    x = layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x))
    y = layers.Conv2D(4, 3, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization(momentum=0.9)(y)
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(layers.Add()([x, y])))
    return tf.keras.Model(pictures, layers.Dense(3)(x))


def data(name: str) -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    size = SIZES[name]
    if name == "transformer":
        tokens = draw.integers(0, 30, (size, 7), np.int32)
        return tokens[:, :-1], tokens[:, 1:]
    return draw.normal(size=(size, 6, 6, 3)).astype("float32"), np.arange(size) % 3


def made(name: str) -> tuple[Any, Any]:
    """A model and its loss."""
    tf.keras.utils.set_random_seed(3)
    model = {"transformer": transformer, "resnet": resnet}[name]()
    return model, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def fitted(strategy: Any, name: str, other_seed: int | None = None) -> list[float]:
    """The losses of two epochs; for the ResNet also what it gives after them."""
    with strategy.scope():
        model, loss = made(name)
        model.compile("rmsprop", loss, metrics=["accuracy"])
    if other_seed is not None:
        np.random.seed(other_seed)
    x, y = data(name)
    history = model.fit(x, y, batch_size=8, epochs=2, verbose=0).history
    if name == "transformer":
        return [*history["loss"], *history["accuracy"]]
    evaluated = model.evaluate(x[:8], y[:8], verbose=0)
    total = float(np.sum(np.square(model.predict(x[:8], verbose=0))))
    return [*history["loss"], *history["accuracy"], *evaluated, total]
