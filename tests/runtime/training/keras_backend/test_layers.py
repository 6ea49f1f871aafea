"""Keras's layers give the same eagerly, staged, and as NumPy computes them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import runtime as tf

# Not importorskip: that would import Keras with a backend of its own.
if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
keras: Any = tf.keras
layers = keras.layers

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(4, 6)).astype("float32")
SEQUENCES = RNG.normal(size=(4, 5, 6)).astype("float32")
IMAGES = RNG.normal(size=(2, 8, 8, 3)).astype("float32")


@pytest.mark.parametrize(
    ("make", "x"),
    [
        (lambda: layers.Dense(3, activation="gelu"), VECTORS),
        (lambda: layers.BatchNormalization(), VECTORS),
        (lambda: layers.LayerNormalization(), VECTORS),
        (lambda: layers.Embedding(10, 3), np.arange(6).reshape(2, 3)),
        (lambda: layers.Conv1D(4, 3, padding="causal"), SEQUENCES),
        (lambda: layers.LSTM(4, return_sequences=True), SEQUENCES),
        (lambda: layers.GRU(4, go_backwards=True), SEQUENCES),
        (lambda: layers.Bidirectional(layers.SimpleRNN(3)), SEQUENCES),
        (lambda: layers.Conv2D(4, 3, strides=2, padding="same"), IMAGES),
        (lambda: layers.DepthwiseConv2D(3, depth_multiplier=2), IMAGES),
        (lambda: layers.SeparableConv2D(4, 3), IMAGES),
        (lambda: layers.Conv2DTranspose(4, 3, strides=2, padding="same"), IMAGES),
        (lambda: layers.MaxPooling2D(2), IMAGES),
        (lambda: layers.AveragePooling2D(3, strides=2, padding="same"), IMAGES),
        (lambda: layers.Resizing(5, 4), IMAGES),
        (lambda: layers.UpSampling2D(2, interpolation="bilinear"), IMAGES),
    ],
)
def test_staged_and_eager_and_symbolic_agree(make: Any, x: Any) -> None:
    layer = make()
    inputs = layers.Input(x.shape[1:], dtype=x.dtype)
    symbol = layer(inputs)
    eager = layer(x)
    staged = tf.function(lambda value: layer(value))(tf.constant(x))

    assert symbol.shape == (None, *eager.shape[1:])
    np.testing.assert_allclose(eager, staged, rtol=1e-5, atol=1e-6)


def test_dense_is_a_product_and_a_sum() -> None:
    layer = layers.Dense(3)
    found = layer(VECTORS)
    kernel, bias = layer.get_weights()

    np.testing.assert_allclose(found, VECTORS @ kernel + bias, rtol=1e-5, atol=1e-6)


def test_masked_steps_keep_the_state_of_a_recurrent_layer() -> None:
    layer = layers.LSTM(3)
    mask = np.array([[True, True, False, False, False]] * 4)
    whole = layer(SEQUENCES, mask=tf.constant(mask))
    short = layer(SEQUENCES[:, :2])

    np.testing.assert_allclose(whole, short, rtol=1e-5, atol=1e-6)


def test_a_loop_is_staged_for_a_recurrent_layer() -> None:
    layer = layers.SimpleRNN(3)
    layer(SEQUENCES)
    concrete = tf.function(layer).get_concrete_function(
        tf.TensorSpec([None, 5, 6], tf.float32)
    )

    assert "While" in {node.op for node in concrete.graph.get_operations()}


def test_plain_variables_are_weights_and_stay_what_they_are() -> None:
    class Linear(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.W = tf.Variable(5.0, name="weight")
            self.B = tf.Variable(10.0, name="bias")
            self.rest = [tf.Variable([1.0], trainable=False)]

        def call(self, inputs: Any) -> Any:
            return inputs * self.W + self.B

    model = Linear()

    assert isinstance(model.W, tf.Variable)
    assert [w.name for w in model.trainable_weights] == ["W", "B"]
    assert [w.name for w in model.non_trainable_weights] == ["rest_0"]
    model.set_weights([np.float32(2), np.float32(3), np.ones(1)])
    assert float(model.W) == 2.0
    assert float(model(tf.constant(4.0))) == 11.0


def test_a_variable_of_keras_stands_for_a_tensor() -> None:
    variable = keras.Variable([1.0, 2.0])

    assert isinstance(variable.value, tf.Variable)
    np.testing.assert_allclose(tf.reduce_sum(variable) + variable, [4.0, 5.0])
    np.testing.assert_allclose(tf.constant([1.0, 1.0]) * variable, [1.0, 2.0])
    assert np.asarray(variable).tolist() == [1.0, 2.0]


def test_staged_branches_of_a_users_layer_are_converted() -> None:
    class Doubling(keras.layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            while tf.reduce_sum(x) < 10.0:
                x = x * 2.0
            return x

    layer = Doubling()
    staged = tf.function(layer)

    assert staged(tf.constant([1.0])).numpy().tolist() == [16.0]
    assert staged(tf.constant([11.0])).numpy().tolist() == [11.0]


def test_seeds_repeat_and_generators_go_on() -> None:
    first = keras.random.normal((3,), seed=1)
    generator = keras.random.SeedGenerator(1)
    draws = [keras.random.normal((3,), seed=generator).numpy() for _ in range(2)]

    np.testing.assert_array_equal(first, keras.random.normal((3,), seed=1))
    assert not np.array_equal(*draws)


def test_the_seed_of_keras_is_that_of_all_random_numbers() -> None:
    def drawn(seed: int) -> list[Any]:
        tf.random.set_seed(seed)  # what went before
        keras.utils.set_random_seed(5)
        shuffled = tf.data.Dataset.range(20).shuffle(20, seed=1)
        numbers = [tf.random.normal([3]), keras.random.normal((3,)), np.random.rand(3)]
        return [*map(np.asarray, numbers), list(shuffled.as_numpy_iterator())]

    for one, other in zip(drawn(1), drawn(2), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_staged_dropout_draws_anew_each_time() -> None:
    layer = layers.Dropout(0.5, seed=3)
    staged = tf.function(lambda x: layer(x, training=True))
    x = tf.ones([100])

    assert not np.array_equal(staged(x), staged(x))
    assert set(np.unique(staged(x))) == {0.0, 2.0}


def test_shapes_of_a_users_layer_that_branches_are_inferred() -> None:
    class Branching(layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(3)

        def call(self, x: Any, training: bool = False) -> Any:
            if training:
                x = x + 1.0
            if tf.reduce_mean(x) > 0.0:
                return self.dense(x)
            return -self.dense(x)

    inputs = layers.Input((4,))
    model = keras.Model(inputs, Branching()(inputs))
    x = np.ones([2, 4], "float32")

    assert model.output_shape == (None, 3)
    np.testing.assert_allclose(tf.function(model)(tf.constant(x)), model(x), rtol=1e-6)
    np.testing.assert_allclose(model.predict(-x, verbose=0), model(-x), rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: layers.Dense(3), (4,)),
        (lambda: layers.Conv2D(3, 3, padding="same"), (8, 8, 2)),
        (lambda: layers.Conv2DTranspose(2, 3, strides=2), (6, 6, 2)),
        (lambda: layers.Flatten(), (3, 4)),
        (lambda: layers.LSTM(3, return_sequences=True), (5, 4)),
        (lambda: layers.TimeDistributed(layers.Dense(2)), (5, 4)),
        (lambda: layers.GroupNormalization(2), (4, 4, 4)),
        (lambda: layers.Resizing(5, 6), (8, 8, 2)),
    ],
)
def test_a_graph_takes_batches_of_any_size(make: Any, shape: Any) -> None:
    layer = make()
    layer.build((None, *shape))
    spec = tf.TensorSpec([None, *shape], tf.float32)
    staged = tf.function(lambda x: layer(x), input_signature=[spec])

    for size in (1, 3):
        x = RNG.normal(size=(size, *shape)).astype("float32")
        np.testing.assert_allclose(staged(x), layer(x), rtol=1e-5, atol=1e-5)
    assert staged.experimental_get_tracing_count() == 1


def test_gradients_of_ones_own() -> None:
    @keras.ops.custom_gradient
    def doubled(x: Any) -> Any:
        def grad(*args: Any, upstream: Any = None) -> Any:
            return (args[0] if upstream is None else upstream) * 5.0

        return x * 2.0, grad

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = doubled(x)

    assert (float(y), float(tape.gradient(y, x))) == (4.0, 5.0)


def test_a_users_layer_may_check_its_inputs() -> None:
    class Checked(layers.Layer):
        def call(self, x: Any) -> Any:
            tf.debugging.assert_less(x, 10.0)
            return tf.ensure_shape(x, [None, 3])

    model = keras.Sequential([Checked(), layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.ones((4, 3), "f"), np.ones((4, 1), "f")

    model.fit(x, y, verbose=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x < y"):
        model.fit(x * 20, y, verbose=0)


def test_connectionist_temporal_classification() -> None:
    labels, outputs = np.array([[1, 2], [1, 1]]), SEQUENCES[:2]
    found = keras.ops.ctc_loss(labels, outputs, [2, 2], [5, 4])
    expected = tf.nn.ctc_loss(labels, outputs, [2, 2], [5, 4], False)
    np.testing.assert_array_equal(found, expected)

    model = keras.Sequential([layers.Dense(3)])
    model.compile(keras.optimizers.Adam(0.1), keras.losses.CTC())
    losses = model.fit(SEQUENCES[:2], labels, epochs=3, verbose=0).history["loss"]
    assert losses[2] < losses[0]


def test_a_tensor_gives_its_mask() -> None:
    embedded = keras.layers.Embedding(5, 2, mask_zero=True)(np.array([[1, 0]]))

    assert embedded._keras_mask.numpy().tolist() == [[True, False]]
    assert not hasattr(tf.constant(1.0), "_keras_mask")


def test_images_of_a_size_that_only_the_graph_knows_are_resized() -> None:
    images = tf.constant(np.arange(48.0, dtype="f").reshape(4, 4, 3))
    resize = keras.layers.Resizing(2, 3)
    staged = tf.function(resize, input_signature=[tf.TensorSpec([None, None, 3])])

    np.testing.assert_allclose(staged(images), resize(images), rtol=1e-5)
    padded = keras.layers.Resizing(2, 3, pad_to_aspect_ratio=True)
    with pytest.raises(ValueError, match="keep no aspect ratio"):
        tf.function(padded, input_signature=[tf.TensorSpec([None, None, 3])])(images)


def test_a_cell_in_a_loop_takes_the_list_that_the_loop_carries() -> None:
    cell = layers.LSTMCell(4)
    xs = tf.constant(np.random.default_rng(0).normal(size=(5, 2, 3)), tf.float32)
    cell.build((2, 3))

    def run(xs: Any) -> Any:
        state = [tf.zeros([2, 4]), tf.zeros([2, 4])]
        output = state[0]
        for t in tf.range(tf.shape(xs)[0]):
            output, state = cell(xs[t], state)
        return output

    np.testing.assert_allclose(tf.function(run)(xs), run(xs), rtol=1e-5)
