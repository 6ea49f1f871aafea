"""Keras as programs use it: layers, steps, metrics, files; as a notebook has them."""

# %% Layers of one's own
import os

import numpy as np
import tensorflow as tf

even = tf.keras.initializers.Constant(0.1)
inputs = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
targets = (inputs.sum(1, keepdims=True) > 0).astype(np.float32)


class Block(tf.keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(
            name="kernel", shape=[int(shape[-1]), self.units], initializer=even
        )
        self.calls = tf.Variable(0, trainable=False)

    def call(self, x):
        self.calls.assign_add(1)
        self.add_loss(0.01 * tf.reduce_sum(self.kernel**2))
        return tf.nn.relu(tf.matmul(x, self.kernel))

    def get_config(self):
        return {**super().get_config(), "units": self.units}


block = Block(4)
print(block(inputs[:2]))
print([tuple(w.shape) for w in block.trainable_weights], block.calls.numpy())
[float(loss) for loss in block.losses]


# %% A model, and a loop of one's own
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.block = Block(4)
        self.out = tf.keras.layers.Dense(1, kernel_initializer=even)

    def call(self, x, training=False):
        return self.out(self.block(x))


net = Net()
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.03)
mean = tf.keras.metrics.Mean()
accuracy = tf.keras.metrics.BinaryAccuracy(threshold=0.0)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        loss = bce(y, logits) + tf.add_n(net.losses)
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    mean(loss)
    accuracy.update_state(y, logits)


batches = tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(4)
for epoch in range(2):
    mean.reset_state()
    accuracy.reset_state()
    for x, y in batches:
        step(x, y)
    print(f"{epoch}: {mean.result():.4f}, {accuracy.result():.2%}")


# %% A model that is first called in a loop
class Plain(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.out = tf.keras.layers.Dense(1, kernel_initializer=even)

    def call(self, x):
        return self.out(x)


fresh = Plain()


@tf.function
def unrolled(x):
    states = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for t in tf.range(4):
        x = tf.tile(fresh(x), [1, 3])
        states = states.write(t, x[0, 0])
        if x[0, 0] < 0.001:
            break
    return states.stack()


print(unrolled(tf.ones([1, 3])), fresh.built)


# %% Steps of one's own in fit
class Tracked(tf.keras.Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.tracker = tf.keras.metrics.Mean(name="loss")
        self.error = tf.keras.metrics.MeanAbsoluteError(name="mae")

    @property
    def metrics(self):
        return [self.tracker, self.error]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            found = self(x, training=True)
            loss = tf.reduce_mean(tf.square(y - found))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        self.tracker.update_state(loss)
        self.error.update_state(y, found)
        return {metric.name: metric.result() for metric in self.metrics}


entry = tf.keras.Input(shape=(3,))
dense = tf.keras.layers.Dense(1, kernel_initializer=even)
tracked = Tracked(entry, dense(entry))
tracked.compile(optimizer=tf.keras.optimizers.SGD(0.1))
history = tracked.fit(inputs, targets, batch_size=4, shuffle=False, verbose=0)
{name: np.round(values, 4) for name, values in sorted(history.history.items())}


# %% Callbacks and schedules
class Rates(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, sorted(logs), f"{self.model.optimizer.learning_rate.numpy():.4f}")


def made():
    model = tf.keras.Sequential(
        [
            tf.keras.Input([3]),
            tf.keras.layers.Dense(
                2,
                activation="elu",
                kernel_initializer=even,
                kernel_regularizer=tf.keras.regularizers.l2(0.01),
            ),
            tf.keras.layers.Dense(1, kernel_initializer=even),
        ]
    )
    model.compile(
        loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.SGD(0.1),
        metrics=[tf.keras.metrics.AUC(name="auc", from_logits=True), "accuracy"],
    )
    return model


model = made()
model.fit(
    batches,
    epochs=3,
    validation_data=batches,
    class_weight={0: 1.0, 1: 2.0},
    callbacks=[
        Rates(),
        tf.keras.callbacks.LearningRateScheduler(lambda n, rate: rate * 0.5),
        tf.keras.callbacks.EarlyStopping(patience=1, restore_best_weights=True),
    ],
    verbose=0,
)
results = model.evaluate(batches, return_dict=True, verbose=0)
{name: round(value, 3) for name, value in sorted(results.items())}

# %% Files
model.save("model.keras")
model.save("model.h5")
os.makedirs("weights")
model.save_weights("weights/last.weights.h5")
other = made()
other.load_weights("weights/last.weights.h5")
for name in ("model.keras", "model.h5"):
    loaded = tf.keras.models.load_model(name)
    print(name, np.allclose(loaded.predict(inputs, verbose=0), model(inputs)))
np.allclose(other(inputs), model(inputs))

# %%
checkpoint = tf.train.Checkpoint(net=net, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=2)
path = manager.save()
before = net(inputs).numpy()
for x, y in batches:
    step(x, y)
print(np.allclose(net(inputs), before))
checkpoint.restore(manager.latest_checkpoint)
np.allclose(net(inputs), before)

# %%
model.export("served", verbose=False)
served = tf.saved_model.load("served")
np.allclose(served.serve(inputs), model(inputs))

# %% Outputs with names
several = tf.keras.Model(
    entry,
    {
        "step": tf.keras.layers.Dense(1, kernel_initializer=even, name="step")(entry),
        "kind": tf.keras.layers.Dense(3, kernel_initializer=even, name="kind")(entry),
    },
)
several.compile(
    loss={
        "step": lambda y, found: tf.reduce_mean((y - found) ** 2),
        "kind": tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    },
    loss_weights={"step": 1.0, "kind": 0.05},
    optimizer="sgd",
)
named = batches.map(lambda x, y: (x, {"step": y, "kind": tf.cast(y, tf.int64)}))
found = several.evaluate(named, return_dict=True, verbose=0)
print({name: round(value, 4) for name, value in sorted(found.items())})
{name: value.shape for name, value in several.predict(inputs, verbose=0).items()}


# %% NumPy in the program
@tf.numpy_function(Tout=[tf.float32, tf.int32])
def world(action):
    return np.float32(action * 2), np.int32(action > 1)


@tf.function
def play(action):
    reward, done = world(action)
    reward.set_shape([])
    return reward + tf.cast(done, tf.float32)


play(tf.constant(3))

# %% Parts of a data set
left, right = tf.keras.utils.split_dataset(tf.data.Dataset.range(10), left_size=0.7)
print(left.cardinality().numpy(), [int(number) for number in right])
series = tf.keras.utils.timeseries_dataset_from_array(
    np.arange(6), np.arange(6) * 10, sequence_length=3, batch_size=4
)
for x, y in series:
    print(x.numpy(), y.numpy())
