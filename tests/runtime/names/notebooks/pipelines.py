"""Pipelines of tf.data, in the manner of a notebook."""

# %% Sources
import numpy as np
import tensorflow as tf

numbers = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
numbers.element_spec

# %%
for element in numbers:
    print(element.numpy())

# %%
it = iter(numbers)
print(next(it).numpy())
numbers.reduce(0, lambda state, value: state + value).numpy()

# %% Structure
pairs = tf.data.Dataset.from_tensor_slices(
    {"a": np.arange(4.0, dtype=np.float32), "b": np.array([["x", "y"]] * 4)}
)
pairs.element_spec

# %%
zipped = tf.data.Dataset.zip((numbers, pairs))
for n, row in zipped.take(2):
    print(n.numpy(), row["a"].numpy(), row["b"].numpy())


# %% Generators
def series():
    for i in range(3):
        yield i, np.full([i + 1], i, np.float32)


generated = tf.data.Dataset.from_generator(
    series,
    output_signature=(
        tf.TensorSpec([], tf.int32),
        tf.TensorSpec([None], tf.float32),
    ),
)
for i, values in generated.padded_batch(2, padded_shapes=([], [None])):
    print(i.numpy(), values.numpy())

# %% Batches
inc = tf.data.Dataset.range(10)
dec = tf.data.Dataset.range(0, -10, -1)
for batch in tf.data.Dataset.zip((inc, dec)).batch(4, drop_remainder=True):
    print([part.numpy() for part in batch])

# %%
windows = inc.window(4, shift=2, drop_remainder=True)
for window in windows.flat_map(lambda part: part.batch(4, drop_remainder=True)):
    print(window.numpy())

# %% Order
print(list(inc.shuffle(10, seed=3).as_numpy_iterator()) != list(range(10)))
print(sorted(inc.shuffle(4).as_numpy_iterator()))
print(
    list(
        inc.interleave(
            lambda n: tf.data.Dataset.from_tensors(n).repeat(2),
            cycle_length=3,
            block_length=1,
        ).as_numpy_iterator()
    )
)


# %% Python in a map
def twice(x):
    return int(x) * 2


print(
    [
        int(n)
        for n in inc.map(lambda x: tf.py_function(twice, [x], [tf.int32])[0]).take(3)
    ]
)
squares = (
    inc.map(lambda x: x**2, num_parallel_calls=tf.data.AUTOTUNE).cache().prefetch(1)
)
squares.element_spec

# %% State
it = iter(inc)
checkpoint = tf.train.Checkpoint(step=tf.Variable(0), iterator=it)
next(it), next(it)
path = checkpoint.save("here/ckpt")
next(it)
checkpoint.restore(path)
next(it).numpy()
