"""An epoch of Keras's `fit`: a network of two layers for the digits of scikit-learn.

There are as many images as of those, and of their size, but they are drawn at random.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workloads import mlp_step

SIZES = {"full": (1797, 64, 64, 10), "tiny": (10, 6, 5, 3)}
COMPILED = ("tensorflow",)
BATCH = 32


def inputs(random, images, pixels, hidden, classes):
    return mlp_step.inputs(random, images, pixels, hidden, classes)


def weights(random, *sizes):
    return mlp_step.weights(random, *sizes)


def numpy(np, *weights):
    step = mlp_step.numpy(np, *weights)

    def fit(images, labels):
        total = 0.0
        for start in range(0, len(images), BATCH):
            part = slice(start, start + BATCH)
            total += step(images[part], labels[part]) * len(labels[part])
        return np.float32(total / len(images))

    return fit


def tensorflow(tf, *weights):
    keras = tf.keras
    hidden, outputs = (len(bias) for bias in weights[1::2])
    layers = [
        keras.layers.Dense(hidden, activation="relu"),
        keras.layers.Dense(outputs),
    ]
    model = keras.Sequential([keras.Input([len(weights[0])]), *layers])
    model.set_weights(weights)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    adam = keras.optimizers.Adam(mlp_step.RATE, epsilon=mlp_step.EPSILON)
    model.compile(adam, loss)

    def fit(images, labels):
        found = model.fit(
            images, labels, batch_size=BATCH, shuffle=False, verbose=0, epochs=1
        )
        return np.float32(found.history["loss"][0])

    return fit
