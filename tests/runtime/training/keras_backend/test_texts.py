"""Layers for texts compute with our tables what TensorFlow's give."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.training.keras_backend.text_layers import RESULTS, results


def test_results() -> None:
    recorded = json.loads(RESULTS.read_text())
    found = json.loads(json.dumps(results(tf)))

    assert list(found) == list(recorded)
    for name, expected in recorded.items():
        if "tf_idf" in name:
            assert found[name][0] == expected[0]
            assert all(map(np.allclose, found[name][1], expected[1]))
        elif name == "features":
            assert all(map(np.allclose, found[name], expected))
        else:
            assert found[name] == expected, name


def test_a_model_of_texts_learns_and_is_saved(tmp_path: Any) -> None:
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(0)
    texts = np.array(["good fine good", "bad awful", "fine", "awful bad bad"] * 8)
    labels = np.array([1, 0, 1, 0] * 8)
    vectorize = layers.TextVectorization(output_sequence_length=4)
    vectorize.adapt(texts)
    model = tf.keras.Sequential(
        [
            tf.keras.Input((), dtype="string"),
            vectorize,
            layers.Embedding(vectorize.vocabulary_size(), 4),
            layers.GlobalAveragePooling1D(),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        tf.keras.optimizers.Adam(0.1), "binary_crossentropy", metrics=["accuracy"]
    )
    data = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(8)

    history = model.fit(data, epochs=5, verbose=0, shuffle=False).history
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")

    asked = tf.constant(texts)
    assert history["accuracy"][-1] == 1.0
    assert np.allclose(model(asked), loaded(asked))
    predicted = model.predict(data, verbose=0)
    assert np.allclose(model(asked), predicted)
    assert np.allclose(model.predict(texts, batch_size=5, verbose=0), predicted)
    assert np.allclose(model.predict(asked, verbose=0), predicted)
    assert model.evaluate(texts, labels, verbose=0)[1] == 1.0
    model.fit(texts, labels, sample_weight=np.ones(32), verbose=0)
    history = model.fit(asked, labels, validation_split=0.25, verbose=0).history
    with pytest.raises(ValueError, match="leaves none to train"):
        model.fit(asked, labels, validation_split=0.999, verbose=0)
    assert history["val_accuracy"] == [1.0]


def test_texts_beside_numbers() -> None:
    words, sizes = tf.keras.Input((), dtype="string"), tf.keras.Input((2,))
    lookup = tf.keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="one_hot")
    both = tf.keras.layers.concatenate([lookup(words), sizes])
    model = tf.keras.Model([words, sizes], tf.keras.layers.Dense(1)(both))
    model.compile("sgd", "mse")
    inputs = [np.array(["a", "b", "c"], object), np.ones((3, 2), "f")]

    model.fit(inputs, np.ones(3), verbose=0)

    assert model.predict(inputs, verbose=0).shape == (3, 1)


def test_layers_for_texts_are_exported_and_are_in_checkpoints(tmp_path: Any) -> None:
    layers, asked = tf.keras.layers, tf.constant([["b a"], ["c zz a b"]])
    vectorize = layers.TextVectorization(output_sequence_length=3)
    vectorize.adapt(["a b", "b c"])
    lookup = layers.StringLookup(output_mode="count")
    lookup.adapt([["b a", "c"]])
    inputs = tf.keras.Input((1,), dtype="string")
    model = tf.keras.Model(inputs, [vectorize(inputs), lookup(inputs)])
    expected = [result.numpy().tolist() for result in model(asked)]

    model.export(tmp_path / "exported", verbose=False)
    tf.saved_model.save(model, tmp_path / "saved")
    model.save(tmp_path / "model.keras")
    path = tf.train.Checkpoint(model).save(str(tmp_path / "ckpt"))
    tf.train.Checkpoint(model).restore(path).assert_consumed()

    for found in (
        tf.saved_model.load(tmp_path / "exported").serve(asked),
        tf.saved_model.load(tmp_path / "saved").signatures["serving_default"](asked),
        tf.keras.models.load_model(tmp_path / "model.keras")(asked),
    ):
        results = found.values() if isinstance(found, dict) else found
        assert [result.numpy().tolist() for result in results] == expected
    assert sum("token_counts" in name for name, _ in tf.train.list_variables(path)) == 4
