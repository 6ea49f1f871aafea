"""tf.experimental.numpy, devices and strategies, in the manner of notebooks."""

# %% Devices
import numpy as np
import tensorflow as tf

print(len(tf.config.list_physical_devices("GPU")))
tf.get_logger().setLevel("ERROR")
tf.config.set_soft_device_placement(True)
with tf.device("CPU:0"):
    a = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    c = tf.matmul(a, b)
print(c.device.endswith("CPU:0"))
c

# %%
gpus = tf.config.list_logical_devices("GPU")
for gpu in gpus:
    with tf.device(gpu.name):
        tf.add_n([c, c])
strategy = tf.distribute.MirroredStrategy(
    cross_device_ops=tf.distribute.HierarchicalCopyAllReduce()
)
strategy.num_replicas_in_sync

# %% A loop of training with a strategy
dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(12).batch(4)
distributed = strategy.experimental_distribute_dataset(dataset)
with strategy.scope():
    weight = tf.Variable([[0.5]])


def step(inputs):
    features, labels = inputs
    with tf.GradientTape() as tape:
        errors = tf.square(features @ weight - labels)
        loss = tf.nn.compute_average_loss(tf.squeeze(errors, 1))
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    return loss


@tf.function
def train_step(inputs):
    losses = strategy.run(step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for inputs in distributed:
    print(train_step(inputs).numpy())


# %%
@tf.function
def train_epoch(data):
    total, count = 0.0, 0
    for inputs in data:
        total += train_step(inputs)
        count += 1
    return total / tf.cast(count, tf.float32)


train_epoch(distributed)


# %%
@tf.function
def train_steps(iterator):
    for _ in tf.range(2):
        strategy.run(step, args=(next(iterator),))


iterator = iter(distributed)
train_steps(iterator)
print(iterator.get_next_as_optional().has_value().numpy())
weight.numpy()


# %%
def dataset_fn(context):
    size = context.get_per_replica_batch_size(6)
    data = tf.data.Dataset.range(12)
    return data.shard(context.num_input_pipelines, context.input_pipeline_id).batch(
        size
    )


values = next(iter(strategy.distribute_datasets_from_function(dataset_fn)))
print(strategy.experimental_local_results(values)[0].numpy())
one = strategy.experimental_distribute_values_from_function(
    lambda context: tf.constant([context.replica_id_in_sync_group + 5])
)
strategy.gather(strategy.run(lambda x: x + 1, args=(one,)), axis=0)

# %%
central = tf.distribute.experimental.CentralStorageStrategy()
single = tf.distribute.OneDeviceStrategy(device="/cpu:0")
options = tf.distribute.experimental.CommunicationOptions(
    implementation=tf.distribute.experimental.CommunicationImplementation.AUTO
)
with single.scope():
    print(tf.Variable(1.0).numpy(), tf.distribute.get_strategy() is single)
options.implementation.name, central.num_replicas_in_sync

# %% Arrays
import tensorflow.experimental.numpy as tnp

ones = tnp.ones([5, 3], dtype=tnp.float32)
print(ones.shape, isinstance(ones, tnp.ndarray))
values = [tnp.asarray(1, dtype=d) for d in (tnp.int32, tnp.int64, tnp.float32)]
print([tnp.add(x, y).dtype.name for x in values for y in values])
tnp.asarray(1).dtype, tnp.asarray(1.0).dtype

# %%
x = tnp.arange(24)
x = tnp.reshape(x, (2, 3, 4))
print(x[1, tnp.newaxis, 1:3, ...])
(
    tnp.sum(x, axis=(0, 1)),
    tnp.mean(x),
    tnp.einsum("ijk->k", x),
    tnp.moveaxis(x, 0, 2).shape,
)

# %%
print(np.stack([tnp.ones(2), np.zeros(2)]), tnp.matmul([[1.0, 2.0]], [[3.0], [4.0]]))
print(tf.reduce_sum(tnp.ones([2, 3], tnp.float32)).numpy())
tnp.where([True, False], 1.0, 2), tnp.linspace(0, 1, 3), tnp.clip([-1, 5], 0, 2)


# %%
def loss(w):
    return tnp.sum(tnp.square(tnp.maximum(tnp.matmul(inputs, w), 0)))


inputs = tnp.array([[1.0, -2.0], [3.0, 0.5]], dtype=tnp.float32)
w = tnp.ones([2, 2], dtype=tnp.float32)
with tf.GradientTape() as tape:
    tape.watch(w)
    total = loss(w)
tape.gradient(total, w)

# %%
examples = tf.vectorized_map(lambda row: tnp.sum(row) * row, inputs)
print(examples.numpy())
tf.map_fn(lambda row: tnp.max(row), inputs, fn_output_signature=tf.float32)

# %% Python's profiler, and the classes of functions
with tf.profiler.experimental.Profile("profile"):
    with tf.profiler.experimental.Trace("train", step_num=1, _r=1):
        train_epoch(distributed)
print(tf.io.gfile.exists("profile"))
isinstance(train_epoch, tf.types.experimental.PolymorphicFunction)
