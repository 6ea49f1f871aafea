"""Files, records and saved programs, in the manner of notebooks."""

# %% Files
import os

import numpy as np
import tensorflow as tf

tf.io.gfile.makedirs("flowers/roses")
tf.io.gfile.makedirs("flowers/tulips")
for kind in ("roses", "tulips"):
    for number in range(2):
        tf.io.write_file(f"flowers/{kind}/{number}.txt", f"{kind} {number}")
sorted(tf.io.gfile.glob("flowers/*/*.txt"))

# %%
files = tf.data.Dataset.list_files("flowers/*/*", shuffle=False)


def process_path(path):
    label = tf.strings.split(path, os.sep)[-2]
    return tf.io.read_file(path), label


for text, label in files.map(process_path):
    print(text.numpy(), label.numpy())

# %%
with open("poem.txt", "w") as file:
    file.write("one\ntwo\nthree\n")
with tf.io.gfile.GFile("other.txt", "w") as file:
    file.write("eins\nzwei\ndrei\n")
lines = tf.data.Dataset.from_tensor_slices(["poem.txt", "other.txt"]).interleave(
    tf.data.TextLineDataset, cycle_length=2
)
list(lines.as_numpy_iterator())

# %% Tables
with open("ships.csv", "w") as file:
    file.write("name,mass,year\nEsk,2.5,1901\nDee,4.25,1899\nTay,,1911\n")
table = tf.data.experimental.CsvDataset(
    "ships.csv", [tf.string, tf.constant([-1.0]), tf.int32], header=True
)
for row in table:
    print([item.numpy() for item in row])

# %%
batches = tf.data.experimental.make_csv_dataset(
    "ships.csv", batch_size=3, label_name="year", num_epochs=1, shuffle=False
)
features, label = next(iter(batches))
{name: column.numpy().tolist() for name, column in features.items()}, label.numpy()

# %%
tf.io.decode_csv(["1,a", "2,b"], record_defaults=[tf.constant([0]), tf.constant([""])])


# %% Records
def _bytes(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _floats(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _ints(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def serialized(name, pair, label):
    feature = {"name": _bytes(name), "pair": _floats(pair), "label": _ints(label)}
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return example.SerializeToString()


tf.train.Example.FromString(serialized(b"goat", [0.5, 1.5], 4)).features.feature["pair"]

# %%
with tf.io.TFRecordWriter("data.tfrecord") as writer:
    for number in range(4):
        writer.write(serialized(b"n%d" % number, [number, number / 2], number % 2))
os.path.getsize("data.tfrecord") > 100

# %%
description = {
    "name": tf.io.FixedLenFeature([], tf.string, default_value=""),
    "pair": tf.io.FixedLenFeature([2], tf.float32),
    "label": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "extra": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
}
records = tf.data.TFRecordDataset(["data.tfrecord"])
parsed = records.map(lambda record: tf.io.parse_single_example(record, description))
sorted(parsed.element_spec.items())

# %%
for example in parsed.filter(lambda example: example["label"] == 1):
    print({name: value.numpy() for name, value in sorted(example.items())})

# %%
batch = next(iter(records.batch(3)))
tf.io.parse_example(batch, description)["pair"]

# %%
tensor = tf.reshape(tf.range(6.0), [2, 3])
tf.io.parse_tensor(tf.io.serialize_tensor(tensor), out_type=tf.float32)

# %%
tf.io.decode_raw(tf.constant(["abcd", "efgh"]), tf.uint8, little_endian=False)

# %% A data set and its position
counted = tf.data.Dataset.range(20)
counted.save("numbers")
iterator = iter(tf.data.Dataset.load("numbers").batch(3))
checkpoint = tf.train.Checkpoint(step=tf.Variable(0), iterator=iterator)
manager = tf.train.CheckpointManager(checkpoint, "positions", max_to_keep=2)
print(next(iterator).numpy())
manager.save()
print(next(iterator).numpy(), next(iterator).numpy())
checkpoint.restore(manager.latest_checkpoint)
print(next(iterator).numpy())


# %% A program
class Counter(tf.Module):
    def __init__(self):
        self.weight = tf.Variable(2.0)
        self.calls = tf.Variable(0)

    @tf.function
    def __call__(self, x):
        self.calls.assign_add(1)
        return {"product": x * self.weight}

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def mutate(self, value):
        self.weight.assign(value)

    @tf.function
    def count(self):
        return self.calls.value()


counter = Counter()
counter(tf.constant(1.0))
options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
tf.saved_model.save(counter, "counter", options=options)
loaded = tf.saved_model.load("counter")
loaded.mutate(tf.constant(3.0))
print(loaded(tf.constant(2.0))["product"].numpy())
loaded.count().numpy()

# %%
call = counter.__call__.get_concrete_function(tf.TensorSpec([None], tf.float32))
tf.saved_model.save(counter, "signed", signatures={"double": call})
double = tf.saved_model.load("signed").signatures["double"]
print(double.structured_input_signature)
double(x=tf.constant([1.0, 2.0]))

# %%
restored = Counter()
tf.train.Checkpoint(model=counter).write(
    "plain", options=tf.train.CheckpointOptions(experimental_io_device="/job:localhost")
)
tf.train.Checkpoint(model=restored).read("plain").assert_consumed()
reader = tf.train.load_checkpoint("plain")
print(reader.get_tensor("model/weight/.ATTRIBUTES/VARIABLE_VALUE"))
np.isclose(restored.weight.numpy(), 2.0), restored.calls.numpy()
