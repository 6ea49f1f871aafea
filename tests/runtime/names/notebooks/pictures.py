"""Pictures and sounds from files to a small network, in the manner of a notebook."""

# %% Files
import os
import pathlib

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
folder = pathlib.Path("photos")
for kind in ("oak", "fir"):
    (folder / kind).mkdir(parents=True)
    for number in range(4):
        pixels = rng.integers(0, 256, (12, 10, 3), np.uint8)
        tf.io.write_file(str(folder / kind / f"{number}.png"), tf.io.encode_png(pixels))
len(list(folder.glob("*/*.png")))

# %%
photos = tf.keras.utils.image_dataset_from_directory(
    folder, shuffle=False, image_size=(8, 8), batch_size=4, verbose=False
)
print(photos.class_names)
for images, labels in photos:
    print(images.shape, images.dtype, labels.numpy(), images[0, 0, 0].numpy())

# %% By hand
names = np.array(sorted(path.name for path in folder.glob("*")))


def label_of(path):
    parts = tf.strings.split(path, os.path.sep)
    return tf.argmax(parts[-2] == names)


def load(path):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    image = tf.image.convert_image_dtype(image, tf.float32)
    return tf.image.resize(image, [8, 8]), label_of(path)


paths = tf.data.Dataset.list_files(str(folder / "*/*"), shuffle=False)
loaded = paths.map(load, num_parallel_calls=tf.data.AUTOTUNE)
for image, label in loaded.skip(3).take(2):
    print(image.shape, names[label], image.numpy().mean())

# %% Augmentation
counter = tf.data.experimental.Counter()


def augment(picture, seed):
    image, label = picture
    image = tf.image.resize_with_crop_or_pad(image, 10, 10)
    new_seed = tf.random.split(seed, num=1)[0, :]
    image = tf.image.stateless_random_crop(image, size=[8, 8, 3], seed=seed)
    image = tf.image.stateless_random_brightness(image, max_delta=0.5, seed=new_seed)
    return tf.clip_by_value(image, 0, 1), label


changed = tf.data.Dataset.zip((loaded, (counter, counter))).map(augment)
for image, label in changed.batch(8):
    print(image.shape, label.numpy(), bool(tf.reduce_max(image) <= 1))

# %%
image = next(iter(loaded))[0]
print(np.allclose(tf.image.flip_left_right(image)[:, ::-1], image))
print(tf.image.rgb_to_grayscale(image).shape, tf.image.rot90(image).shape)
tf.image.central_crop(image, central_fraction=0.5).shape


# %% A layer that augments in pairs
class Mirror(layers.Layer):
    def __init__(self, seed=42):
        super().__init__()
        self.inputs = layers.RandomFlip(mode="horizontal", seed=seed)
        self.labels = layers.RandomFlip(mode="horizontal", seed=seed)

    def call(self, inputs, labels):
        return self.inputs(inputs), self.labels(labels)


masks = photos.map(lambda images, labels: (images, images[..., :1])).map(Mirror())
for images, parts in masks:
    print(images.shape, parts.shape)

# %% A network
normal = layers.Rescaling(1.0 / 255)
small = photos.map(lambda images, labels: (normal(images), labels)).cache()
small = small.prefetch(buffer_size=tf.data.AUTOTUNE)
constant = tf.keras.initializers.Constant(0.05)
network = tf.keras.Sequential(
    [
        layers.Conv2D(4, 3, activation="relu", kernel_initializer=constant),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(2, kernel_initializer=constant),
    ]
)
network.compile(
    optimizer="sgd",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = network.fit(small, validation_data=small, epochs=2, verbose=0)
for name, values in sorted(history.history.items()):
    print(name, np.round(values, 4))
network.input_shape, network.output_shape

# %%
guesses = tf.concat(network.predict(small, verbose=0), axis=0)
truth = tf.concat(list(small.map(lambda images, labels: labels)), axis=0)
print(guesses.shape)
tf.math.confusion_matrix(truth, tf.argmax(guesses, axis=1))

# %% Batches as arrays
arrays = small.as_numpy_iterator()
images, labels = arrays.next()
print(type(images).__name__, images.shape, labels)

# %% A picture that changes
seen = tf.Variable(images[:1])


@tf.function
def dream(picture, steps):
    for _ in tf.range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(network(picture) ** 2)
            loss += 0.1 * tf.reduce_mean(tf.image.total_variation(picture))
        gradient = tape.gradient(loss, picture)
        gradient /= tf.math.reduce_std(gradient) + 1e-8
        picture.assign(tf.clip_by_value(picture - 0.01 * gradient, 0, 1))
    return loss


dream(seen, tf.constant(3))

# %% Sounds
time = np.arange(400) / 8000
wave = np.stack([np.sin(880 * np.pi * time), np.cos(660 * np.pi * time)], -1)
tf.io.write_file("tone.wav", tf.audio.encode_wav(wave.astype("float32"), 8000))
sound, rate = tf.audio.decode_wav(
    tf.io.read_file("tone.wav"), desired_channels=1, desired_samples=512
)
print(sound.shape, rate.numpy(), np.abs(sound[:400, 0] - wave[:, 0]).max() < 1e-4)
tf.abs(tf.signal.stft(tf.squeeze(sound, axis=-1), 128, 64))[2, 5:9]


# %%
class Export(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def loudness(self, path):
        sound, rate = tf.audio.decode_wav(tf.io.read_file(path))
        return {"loudness": tf.reduce_max(sound, 0), "rate": rate}


tf.saved_model.save(Export(), "loud")
loud = tf.saved_model.load("loud").loudness(tf.constant("tone.wav"))
loud["loudness"], loud["rate"]
