"""What layers for texts give, and how that was recorded with TensorFlow 2.21.

Run with a Python that has TensorFlow, this module writes ``text_layers.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("text_layers.json")
TEXTS = ["the cat sat", "A cat. a dog!", "", "dog  dog DOG cat"]


def results(tf: Any) -> dict[str, Any]:
    """Vocabularies and results by what is computed."""
    layers, found = tf.keras.layers, {}

    def note(name: str, layer: Any, *inputs: Any, adapts: Any = None) -> None:
        if adapts is not None:
            layer.adapt(adapts)
        words = getattr(layer, "get_vocabulary", list)()
        given = [layer(value).numpy().tolist() for value in inputs]
        found[name] = [[getattr(w, "item", lambda w=w: w)() for w in words], given]

    asked = tf.constant(["cat dog unknown", "", "dog dog"])
    for mode in ("int", "multi_hot", "count", "tf_idf"):
        layer = layers.TextVectorization(output_mode=mode)
        batches = tf.data.Dataset.from_tensor_slices(TEXTS).batch(2)
        note(f"texts, {mode}", layer, asked, adapts=batches)
    short = layers.TextVectorization(max_tokens=5, output_sequence_length=2)
    note("texts of a length", short, TEXTS, "dog cat a", adapts=TEXTS)
    by_character = layers.TextVectorization(standardize=None, split="character")
    note("characters", by_character, TEXTS, adapts=TEXTS)
    note("whole texts", layers.TextVectorization(split=None), TEXTS, adapts=TEXTS)
    known = layers.TextVectorization(vocabulary=["cat", "dog"])
    note("a vocabulary", known, [["dog cat"], ["x"]])
    batches = tf.data.Dataset.from_tensor_slices(TEXTS).batch(2).map(known)
    found["a data set"] = [batch.tolist() for batch in batches.as_numpy_iterator()]
    names = layers.StringLookup(num_oov_indices=2)
    note("names", names, tf.constant(["zz", "a", TEXTS[0]]), adapts=TEXTS)
    one_hot = layers.StringLookup(vocabulary=["a", "b"], output_mode="one_hot")
    note("one hot", one_hot, tf.constant(["b", "q"]))
    numbers = layers.IntegerLookup(output_mode="multi_hot")
    note("numbers", numbers, tf.constant([[5, 3], [9, 9]]), adapts=[3, 5, 5])
    buckets = layers.Hashing(num_bins=7)
    note("buckets", buckets, tf.constant(["a", "b", "c"]), tf.constant([1, 2, 3]))
    salted = layers.Hashing(num_bins=7, salt=[133, 137], mask_value="")
    note("salted buckets", salted, tf.constant([["a", ""], ["b", "c"]]))
    for mode in ("int", "multi_hot", "tf_idf"):
        layer = layers.TextVectorization(output_mode=mode, ngrams=2)
        note(f"pairs, {mode}", layer, asked, tf.constant(["", ""]), adapts=TEXTS)
    layer = layers.TextVectorization(ngrams=(1, 3), output_sequence_length=4)
    note("one and three words", layer, TEXTS, adapts=TEXTS)
    columns = tf.constant([["a"], ["b"], [""]]), tf.constant([[1], [-2], [0]])
    note("crossing", layers.HashedCrossing(num_bins=5), columns)
    note("crossed", layers.HashedCrossing(num_bins=5, output_mode="one_hot"), columns)
    found |= features(tf)
    return found


def features(tf: Any) -> dict[str, Any]:
    """What a space of features makes of rows, of one of them, and of a data set."""
    make = tf.keras.utils.FeatureSpace
    kinds = {
        "size": make.float_normalized(),
        "age": make.float_discretized(num_bins=2),
        "name": "string_categorical",
        "code": make.integer_hashed(num_bins=3),
    }
    space = make(kinds, crosses=[("name", "code")], crossing_dim=4)
    rows = {
        "size": [0.0, 1.0, 5.0],
        "age": [20.0, 30.0, 70.0],
        "name": ["a", "b", "a"],
        "code": [7, 8, 9],
    }
    data = tf.data.Dataset.from_tensor_slices(rows)
    space.adapt(data)
    results = [space(rows), space({key: value[1] for key, value in rows.items()})]
    results += [*data.batch(2).map(space), *data.take(1).map(space)]
    return {"features": [result.numpy().round(4).tolist() for result in results]}


if __name__ == "__main__":
    import tensorflow

    RESULTS.write_text(json.dumps(results(tensorflow), indent=1) + "\n")
