"""Texts, tables and look-ups to small models, in the manner of a notebook."""

# %% Texts in folders
import pathlib
import re
import string

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

TEXTS = {
    "bad": ["Dull, dull plot!", "I slept <br /> early", "what a waste"],
    "good": ["Great fun!", "a great plot <br /> indeed", "I laughed early"],
}
for kind, texts in TEXTS.items():
    pathlib.Path("films", kind).mkdir(parents=True)
    for number, text in enumerate(texts):
        pathlib.Path("films", kind, f"{number}.txt").write_text(text)
films = tf.keras.utils.text_dataset_from_directory(
    "films", batch_size=2, shuffle=False, verbose=False
)
for text, label in films:
    print(text.numpy(), label.numpy())


# %% Numbers for words
def standard(texts):
    plain = tf.strings.regex_replace(tf.strings.lower(texts), "<br />", " ")
    return tf.strings.regex_replace(plain, f"[{re.escape(string.punctuation)}]", "")


numbers = layers.TextVectorization(
    standardize=standard, max_tokens=50, output_mode="int", output_sequence_length=5
)
numbers.adapt(films.map(lambda text, label: text))
print(numbers.get_vocabulary()[:6], numbers.vocabulary_size())
numbers(tf.constant(["Great, great plot!", "unseen"]))

# %%
for batch in films.map(lambda text, label: text).map(numbers).take(1):
    print(batch.shape, batch.numpy()[1])
encoded = films.map(lambda text, label: (numbers(text), label))
encoded.element_spec

# %% A model that takes texts
ones = tf.keras.initializers.Constant(0.1)
reader = tf.keras.Sequential(
    [
        numbers,
        layers.Embedding(50, 4, embeddings_initializer=ones),
        layers.GlobalAveragePooling1D(),
        layers.Dense(1, kernel_initializer=ones, activation="sigmoid"),
    ]
)
reader.compile(loss="binary_crossentropy", optimizer="sgd", metrics=["accuracy"])
history = reader.fit(films, epochs=2, verbose=0)
print(sorted(history.history), np.round(history.history["loss"], 4))
print(reader.predict(tf.constant(["great fun", "a waste"]), verbose=0))
reader.layers[0].output.shape

# %% Lengths that differ
open_numbers = layers.TextVectorization(standardize=standard)
open_numbers.adapt(films.map(lambda text, label: text))
long = films.map(lambda text, label: (open_numbers(text), label))
print([tuple(text.shape) for text, _ in long])
masked = layers.Embedding(50, 4, mask_zero=True, embeddings_initializer=ones)
model = tf.keras.Sequential([masked, layers.LSTM(3, kernel_initializer=ones)])
model.compile(loss="mse", optimizer="sgd")
model.fit(long.map(lambda x, y: (x, tf.ones([2, 3]))), verbose=0)
print(model.input_shape, model.output_shape)

# %% Masks
embedded = masked(tf.constant([[3, 4, 0]]))
print(embedded._keras_mask.numpy())
del embedded._keras_mask
hasattr(embedded, "_keras_mask")

# %% Characters
chars = tf.strings.unicode_split("naïve text", "UTF-8")
to_id = layers.StringLookup(vocabulary=list("aeintvxï "), mask_token=None)
to_char = layers.StringLookup(
    vocabulary=to_id.get_vocabulary(), invert=True, mask_token=None
)
ids = to_id(chars)
print(ids.numpy())
tf.strings.reduce_join(to_char(ids), axis=-1).numpy().decode()

# %% A vocabulary of one's own
lines = tf.data.Dataset.from_tensor_slices(["a b a", "c a", "b d e"])
table = tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(
        ["a", "b", "c"], range(2, 5), key_dtype=tf.string, value_dtype=tf.int64
    ),
    1,
)
looked = lines.map(lambda line: table.lookup(tf.strings.split(line)))
for row in looked.padded_batch(2):
    print(row.numpy())


# %% A function of one text, in a graph
@tf.function(input_signature=[tf.TensorSpec([], tf.string)])
def count_words(text):
    if len(text.shape) == 0:
        text = text[tf.newaxis]
    return tf.size(tf.strings.split(text[0]))


count_words(tf.constant("one two three"))

# %% Lists of structures
rows = tf.data.experimental.from_list([("p", ["x", "y"]), ("q", ["z", "w"])])
print(rows.element_spec)
for path, captions in rows:
    print(path.numpy(), captions.numpy())

# %% Kept elements
rows.enumerate().save("kept", shard_func=lambda number, row: number % 2)


def in_turn(parts):
    return parts.shuffle(10).interleave(lambda part: part, cycle_length=2)


kept = tf.data.Dataset.load("kept", reader_func=in_turn)
sorted(int(number) for number, row in kept)

# %% Tables
pathlib.Path("parts").mkdir()
for part in range(2):
    lines = ["kind,size,price", *(f"{'ab'[i % 2]},{i},{i / 2}" for i in range(3))]
    pathlib.Path("parts", f"{part}.csv").write_text("\n".join(lines))
kinds = ["", 0, 0.0]
files = tf.data.Dataset.list_files("parts/*.csv", shuffle=False)
csv = files.interleave(
    lambda path: tf.data.experimental.CsvDataset(path, kinds, header=True),
    cycle_length=2,
)
for row in csv.take(3):
    print([value.numpy() for value in row])

# %%
batches = tf.data.experimental.make_csv_dataset(
    "parts/0.csv", batch_size=3, label_name="price", num_epochs=1, shuffle=False
)
for features, label in batches:
    print({name: value.numpy() for name, value in features.items()}, label.numpy())

# %% Columns to numbers
inputs = {
    "kind": tf.keras.Input(shape=(1,), name="kind", dtype=tf.string),
    "size": tf.keras.Input(shape=(1,), name="size"),
}
lookup = layers.StringLookup(vocabulary=["a", "b"])
kind = layers.CategoryEncoding(lookup.vocabulary_size())(lookup(inputs["kind"]))
scale = layers.Normalization(axis=None)
scale.adapt(np.arange(3.0))
columns = layers.Concatenate()([kind, scale(inputs["size"])])
columns = tf.keras.Model(inputs, columns)
given = {"kind": tf.constant([["a"], ["z"]]), "size": tf.constant([[1.0], [4.0]])}
columns(given)

# %%
columns.save("columns.keras")
again = tf.keras.models.load_model("columns.keras")
np.allclose(again(given), columns(given))
