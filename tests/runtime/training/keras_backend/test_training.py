"""`fit`, `evaluate` and `predict`; hand-written loops; optimizers; saving."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import runtime as tf
from runtime.engines import door as executors

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
keras: Any = tf.keras
layers = keras.layers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)).astype("float32")
Y = (X @ np.array([[1.0], [-2.0], [0.5], [3.0]]) + 1).astype("float32")


def model(**options: Any) -> Any:
    keras.utils.set_random_seed(1)
    made = keras.Sequential(
        [layers.Input((4,)), layers.Dense(8, "tanh"), layers.Dense(1)]
    )
    made.compile(optimizer=keras.optimizers.Adam(0.05), loss="mse", **options)
    return made


def test_fit_learns_and_gives_the_same_staged_and_eagerly() -> None:
    staged = model().fit(X, Y, epochs=3, verbose=0).history["loss"]
    eager = model(run_eagerly=True).fit(X, Y, epochs=3, verbose=0).history["loss"]

    np.testing.assert_allclose(staged, eager, rtol=1e-4)
    assert staged[-1] < staged[0] * 0.7


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
def test_steps_on_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.engines.xla.executable import Executable

    compiled, plain = model(jit_compile=True), model()
    monkeypatch.setattr(executors, "_compiler", lambda: "xla")
    with mock.patch.object(Executable, "tensor", side_effect=Executable.tensor) as made:
        compiled.fit(X, Y, epochs=2, verbose=0, shuffle=False)
        assert made.called
    plain.fit(X, Y, epochs=2, verbose=0, shuffle=False)
    results = [one.predict(X, verbose=0) for one in (compiled, plain)]

    np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-5)


def test_a_step_is_traced_once_for_each_shape() -> None:
    class Counting(layers.Layer):  # type: ignore[misc]
        traces = 0

        def call(self, x: Any) -> Any:
            type(self).traces += 1
            return x

    made = keras.Sequential([Counting(), layers.Dense(1)])
    made.compile(optimizer="sgd", loss="mse")
    made.train_on_batch(X[:7], Y[:7])  # which builds the model, too
    Counting.traces = 0
    # 60 = 25 + 25 + 10: two shapes.
    made.fit(X, Y, batch_size=25, epochs=4, verbose=0)

    assert Counting.traces == 2


def test_metrics_and_validation_and_callbacks() -> None:
    made = model(metrics=["mae"])
    seen: list[Any] = []
    note = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(logs)
    )
    history = made.fit(
        X, Y, epochs=2, validation_split=0.25, callbacks=[note], verbose=0
    ).history

    assert set(history) == {"loss", "mae", "val_loss", "val_mae"}
    assert [logs["val_mae"] for logs in seen] == history["val_mae"]
    results = made.evaluate(X, Y, return_dict=True, verbose=0)
    predicted = made.predict(X, verbose=0)
    assert results["mae"] == pytest.approx(np.abs(predicted - Y).mean(), rel=1e-5)


def test_single_batches() -> None:
    made = model(metrics=["mae"])
    first = made.train_on_batch(X, Y, return_dict=True)
    for _ in range(20):
        last = made.train_on_batch(X, Y, return_dict=True)

    assert last["loss"] < first["loss"]
    assert made.test_on_batch(X, Y)[0] == pytest.approx(
        made.evaluate(X, Y, verbose=0)[0]
    )
    np.testing.assert_allclose(
        made.predict_on_batch(X), made.predict(X, verbose=0), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    "name",
    "SGD RMSprop Adam AdamW Adadelta Adagrad Adamax Nadam Ftrl Lion Adafactor".split(),
)
def test_optimizers_take_plain_and_keras_variables_staged(name: str) -> None:
    kind = getattr(keras.optimizers, name)
    plain, own = tf.Variable([1.0, -2.0]), keras.Variable([1.0, -2.0])
    first, second = kind(learning_rate=0.1), kind(learning_rate=0.1)

    @tf.function
    def staged() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(plain - 3.0))
        first.apply_gradients([(tape.gradient(loss, plain), plain)])

    def eager() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(own - 3.0))
        second.apply_gradients([(tape.gradient(loss, own), own)])

    for _ in range(3):
        staged()
        eager()

    assert int(first.iterations) == 3
    np.testing.assert_allclose(plain, own, rtol=1e-5)
    assert np.all(np.asarray(plain) > np.array([1.0, -2.0]))


#: Rows 0, 1 and 3 after three steps of Keras's TensorFlow backend.
ROWS = {
    "SGD": [1.0, 2.0, 2.82198, 4.21362, 6.9644, 8.10681],
    "Adagrad": [1.0, 2.0, 2.73136, 4.26894, 6.75036, 8.26695],
    "Adam": [1.0, 2.0, 2.70768, 4.29232, 6.70768, 8.29232],
    "RMSprop": [1.0, 2.0, 2.13899, 4.86101, 6.139, 8.86101],
}


@pytest.mark.parametrize("name", ROWS)
def test_gradients_of_rows_update_as_on_tensorflow(name: str) -> None:
    variable = keras.Variable(np.arange(1, 9, dtype="float32").reshape(4, 2))
    options = {"clipnorm": 1.0} if name == "SGD" else {}
    optimizer = getattr(keras.optimizers, name)(0.1, **options)
    for step in (1.0, 2.0, 3.0):
        values = step * tf.constant([[0.5, -1.5], [2.5, -3.0]])
        optimizer.apply([tf.IndexedSlices(values, [3, 1], [4, 2])], [variable])

    found = np.asarray(variable)[[0, 1, 3]].ravel()
    np.testing.assert_allclose(found, ROWS[name], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {}),
        ("SGD", {"momentum": 0.5, "clipvalue": 1.0}),
        ("Adagrad", {"global_clipnorm": 0.5}),
        ("Adam", {"gradient_accumulation_steps": 2}),
        ("RMSprop", {"loss_scale_factor": 4.0}),
    ],
)
def test_rows_that_repeat_count_with_their_sum(name: str, options: Any) -> None:
    def step(optimizer: Any, variable: Any, is_whole: bool) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.gather(variable, [1, 2, 1])))
        gradient = tape.gradient(loss, variable)
        assert isinstance(gradient, tf.IndexedSlices)
        if is_whole:
            gradient = tf.convert_to_tensor(gradient)
        optimizer.apply([gradient], [variable])

    found = []
    for is_whole in (False, True):
        for decorate in (tf.function, lambda function: function):
            variable = tf.Variable([[1.0, 2.0], [3.0, -4.0], [0.5, 0.1], [7.0, 8.0]])
            run = decorate(step)
            optimizer = getattr(keras.optimizers, name)(0.1, **options)
            for _ in range(2):
                run(optimizer, variable, is_whole)
            found.append(np.asarray(variable))

    for other in found[1:]:
        np.testing.assert_allclose(found[0], other, rtol=1e-6)


@pytest.mark.parametrize("name", ["SGD", "Adagrad", "Adam"])
@pytest.mark.parametrize("rows", [3, 50])
def test_xla_trains_embeddings(name: str, rows: int) -> None:
    """Of more rows than a batch looks up, and of fewer."""
    pytest.importorskip("jax")
    places = tf.constant([[1, 2, 1, 0], [2, 2, 0, 1]])

    def trained(executor: str | None) -> Any:
        table = keras.layers.Embedding(rows, 2, embeddings_initializer="ones")
        table.build()
        optimizer = getattr(keras.optimizers, name)(0.1)
        optimizer.build(table.trainable_weights)

        @tf.function(executor=executor)
        def step(places: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(table(places) - [0.5, 3.0]))
            gradients = tape.gradient(loss, table.trainable_weights)
            optimizer.apply_gradients(zip(gradients, table.trainable_weights))

        step(places)
        step(places)
        return np.asarray(table.embeddings)

    found = trained("xla")
    np.testing.assert_allclose(found, trained(None), rtol=1e-5)
    assert (found[:3] != 1).all()
    assert (found[3:] == 1).all()


def test_only_rows_with_gradients_are_updated() -> None:
    variable, optimizer = tf.Variable(tf.ones([100, 2])), keras.optimizers.SGD(0.1)

    @tf.function
    def step(rows: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(variable, rows))
        optimizer.apply([tape.gradient(loss, variable)], [variable])

    step(tf.constant([3, 3, 5]))
    (concrete,) = step.current_traces()
    kinds = [node.op for node in concrete.graph.as_graph_def().node]

    assert "ResourceScatterSub" in kinds
    assert "ScatterNd" not in kinds
    changed = np.asarray(variable)[:, 0] != 1
    assert changed.nonzero()[0].tolist() == [3, 5]


def test_a_loop_by_hand_over_a_model_a_module_and_a_variable() -> None:
    class Scale(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = tf.Variable(0.5)

        def __call__(self, x: Any) -> Any:
            return x * self.factor

    dense, scale, shift = layers.Dense(1), Scale(), tf.Variable(0.0)
    optimizer = keras.optimizers.SGD(0.1)
    dense.build((None, 4))
    weights = [*dense.trainable_variables, *scale.trainable_variables, shift]

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = keras.losses.MeanSquaredError()(y, scale(dense(x)) + shift)
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights))
        return loss

    losses = [float(step(tf.constant(X), tf.constant(Y))) for _ in range(50)]

    assert losses[-1] < losses[0] / 10
    assert float(shift) != 0.0


def test_rows_of_an_embedding_are_learned() -> None:
    made = keras.Sequential([layers.Embedding(5, 2), layers.Flatten(), layers.Dense(1)])
    made.compile(optimizer=keras.optimizers.Adam(0.1), loss="mse")
    x, y = np.array([[0, 1], [2, 3]]), np.array([[1.0], [-1.0]])
    made.build((None, 2))
    before = made.layers[0].get_weights()[0]
    losses = made.fit(x, y, epochs=30, verbose=0).history["loss"]
    after = made.layers[0].get_weights()[0]

    assert losses[-1] < losses[0] / 10
    np.testing.assert_array_equal(before[4], after[4])
    assert np.all(before[:4] != after[:4])


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_a_recurrent_model_learns(run_eagerly: bool) -> None:
    keras.utils.set_random_seed(0)
    made = keras.Sequential([layers.Input((6, 1)), layers.LSTM(8), layers.Dense(1)])
    made.compile(
        optimizer=keras.optimizers.Adam(0.05), loss="mse", run_eagerly=run_eagerly
    )
    x = RNG.normal(size=(64, 6, 1)).astype("float32")
    losses = made.fit(x, x.sum(1), epochs=15, verbose=0).history["loss"]

    assert losses[-1] < losses[0] / 3


def test_models_are_saved_and_loaded(tmp_path: Path) -> None:
    made = model()
    made.fit(X, Y, epochs=1, verbose=0)
    made.save(tmp_path / "model.keras")
    made.save_weights(tmp_path / "model.weights.h5")
    made.save(tmp_path / "model.h5")
    loaded, other = keras.models.load_model(tmp_path / "model.keras"), model()
    other.optimizer.build(other.trainable_variables)
    other.load_weights(tmp_path / "model.weights.h5")
    expected = made.predict(X, verbose=0)

    np.testing.assert_array_equal(loaded.predict(X, verbose=0), expected)
    np.testing.assert_array_equal(other.predict(X, verbose=0), expected)
    older = keras.models.load_model(tmp_path / "model.h5", compile=False)
    np.testing.assert_array_equal(older.predict(X, verbose=0), expected)
    assert int(loaded.optimizer.iterations) == int(made.optimizer.iterations) == 2


def test_mixed_precision_trains_in_float16() -> None:
    keras.utils.set_random_seed(1)
    made = keras.Sequential(
        [layers.Input((4,)), layers.Dense(1, dtype="mixed_float16")]
    )
    made.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    losses = made.fit(X, Y, epochs=5, verbose=0).history["loss"]

    assert made(X[:1]).dtype == tf.float16
    assert made.trainable_variables[0].dtype == "float32"
    assert losses[-1] < losses[0] / 2


def test_data_sets_are_trained_on() -> None:
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    made, other = model(metrics=["mae"]), model(metrics=["mae"])
    found = made.fit(
        data, epochs=2, validation_data=data, shuffle=False, verbose=0
    ).history
    expected = other.fit(
        X, Y, batch_size=16, epochs=2, validation_data=(X, Y), shuffle=False, verbose=0
    ).history

    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-3)
    np.testing.assert_allclose(
        made.predict(data, verbose=0), made.predict(X, verbose=0), rtol=1e-4, atol=1e-5
    )
    with pytest.raises(ValueError, match="targets"):
        made.fit(data, Y, shuffle=False)


def test_each_batch_is_drawn_once_in_an_epoch() -> None:
    """None is drawn just to build the model."""
    drawn = []

    def note(x: Any) -> Any:
        drawn.append(len(x))
        return x

    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(25)
    data = data.map(
        lambda x, y: (
            tf.ensure_shape(tf.py_function(note, [x], tf.float32), [None, 4]),
            y,
        )
    )
    made = keras.Sequential([layers.Dense(1)])
    made.compile(optimizer="adam", loss="mse", metrics=["mae"])
    made.evaluate(data, verbose=0)
    made.fit(data, epochs=2, shuffle=False, verbose=0)

    assert drawn == [25, 25, 10] * 3


def test_fit_takes_the_orders_of_a_shuffled_data_set_from_its_first() -> None:
    made, twin = model(), model()  # which set the seed
    data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(60, seed=3).batch(20)
    losses = made.fit(data, epochs=2, shuffle=False, verbose=0).history["loss"]
    data = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(60, seed=3).batch(20)
    expected = [
        np.mean([twin.train_on_batch(x, y) for x, y in data.as_numpy_iterator()])
        for _ in range(2)
    ]

    np.testing.assert_allclose(losses, expected, rtol=1e-5)


def test_classes_of_a_data_set_are_weighted() -> None:
    labels = (Y > 0).astype("int32")
    data = tf.data.Dataset.from_tensor_slices((X, labels)).batch(60)

    def loss(weights: Any) -> float:
        keras.utils.set_random_seed(0)
        made = keras.Sequential([layers.Input((4,)), layers.Dense(1, "sigmoid")])
        made.compile(optimizer=keras.optimizers.SGD(0.0), loss="binary_crossentropy")
        history = made.fit(data, class_weight=weights, shuffle=False, verbose=0).history
        return float(history["loss"][0])

    both = loss({0: 1.0, 1: 1.0})

    assert loss({0: 2.0, 1: 2.0}) == pytest.approx(2 * both, rel=1e-5)
    assert loss({0: 1.0, 1: 0.0}) + loss({0: 0.0, 1: 1.0}) == pytest.approx(
        both, rel=1e-5
    )


def test_weights_without_a_suffix_are_a_checkpoint(tmp_path: Path) -> None:
    made, other = model(), model()
    made.fit(X, Y, epochs=1, verbose=0)
    made.save_weights(tmp_path / "weights")
    other.fit(X, Y, epochs=2, verbose=0)
    status = other.load_weights(tmp_path / "weights")

    status.assert_consumed()
    np.testing.assert_array_equal(
        other.predict(X, verbose=0), made.predict(X, verbose=0)
    )
    assert int(other.optimizer.iterations) == 2


def test_a_model_that_is_not_built_is_restored_when_it_is(tmp_path: Path) -> None:
    def make() -> tuple[Any, Any, Any]:
        made = keras.Sequential([layers.Dense(3), layers.BatchNormalization()])
        optimizer = keras.optimizers.Adam(0.1)
        made.compile(optimizer=optimizer, loss="mse")
        return made, optimizer, tf.train.Checkpoint(model=made, optimizer=optimizer)

    first, optimizer, checkpoint = make()
    first.fit(X, Y, epochs=1, verbose=0)
    path = checkpoint.save(tmp_path / "ckpt")
    second, other, checkpoint = make()
    checkpoint.restore(path)
    found = second.predict(X, verbose=0)
    other.build(second.trainable_variables)

    np.testing.assert_array_equal(found, first.predict(X, verbose=0))
    assert int(other.iterations) == int(optimizer.iterations) == 2
    for one, two in zip(optimizer.variables, other.variables):
        np.testing.assert_array_equal(one, two)


def test_data_that_cannot_be_loaded_say_where_to_put_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError, match="Put the file at"):
        keras.utils.get_file(
            "nothing.npz", f"file://{tmp_path}/absent.npz", cache_dir=tmp_path
        )


def test_a_layer_with_a_loop_of_its_own_is_trained() -> None:
    class Growing(layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(4)

        def call(self, x: Any) -> Any:
            x = self.dense(x)
            while tf.reduce_sum(tf.abs(x)) < 50.0:
                x = x * 1.5
            return x

    keras.utils.set_random_seed(1)
    made = keras.Sequential([layers.Input((4,)), Growing(), layers.Dense(1)])
    made.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse")
    losses = made.fit(X, Y, epochs=15, verbose=0).history["loss"]

    assert losses[-1] < losses[0] / 2


def test_a_model_is_exported(tmp_path: Path) -> None:
    made = model()
    made.export(tmp_path / "served", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "served")

    assert set(loaded.signatures) == {"serve", "serving_default"}
    for size in (3, 7):
        np.testing.assert_allclose(loaded.serve(X[:size]), made(X[:size]), rtol=1e-6)


class Doubling(keras.Model):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(2)

    def call(self, x: Any) -> Any:
        if tf.reduce_sum(x) > 0.0:
            x = 2.0 * x
        return self.dense(x)


def served(made: Any, folder: Path) -> Any:
    tf.saved_model.save(made, folder)
    return tf.saved_model.load(folder).signatures["serving_default"]


def test_a_saved_model_of_keras_is_served(tmp_path: Path) -> None:
    called = Doubling()
    called(X)
    fitted = Doubling()
    fitted.compile("sgd", "mse")
    fitted.fit(X, Y, verbose=0)
    for place, made in enumerate([model(), called, fitted]):
        serve = served(made, tmp_path / str(place))
        for size in (3, 7):
            (found,) = serve(inputs=tf.constant(X[:size])).values()
            np.testing.assert_allclose(found, made(X[:size]), rtol=1e-6)


def test_a_saved_model_of_two_inputs(tmp_path: Path) -> None:
    one, two = layers.Input((4,), name="a"), layers.Input((4,), name="b")
    total = layers.Dense(2)(one - two)
    made = keras.Model({"a": one, "b": two}, {"r": total, "s": 2.0 * total})

    found = served(made, tmp_path)(inputs=X[:3], inputs_1=X[3:6])
    expected = made({"a": X[:3], "b": X[3:6]})
    assert sorted(found) == ["r", "s"]
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-6)


def test_a_model_that_is_not_built_has_no_call_to_save(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.UnsavableError, match=r"AG340.*model\.export"):
        tf.saved_model.save(Doubling(), tmp_path)
    tf.saved_model.save(Doubling(), tmp_path, signatures={})


class Generating(Doubling):
    @tf.function
    def generate(self, x: Any) -> Any:
        return x + 1


def test_a_model_that_is_not_built_is_saved_with_its_functions(tmp_path: Path) -> None:
    made = Generating()
    made.generate(tf.constant(1))
    tf.saved_model.save(made, tmp_path)

    assert tf.saved_model.load(tmp_path).generate(tf.constant(2)).numpy() == 3


def test_an_exported_model_is_a_layer(tmp_path: Path) -> None:
    made = keras.Sequential(
        [layers.Input((4,)), layers.Dense(2), layers.BatchNormalization()]
    )
    made.export(tmp_path / "served", verbose=False)
    layer = layers.TFSMLayer(tmp_path / "served")

    np.testing.assert_allclose(layer(X[:3]), made(X[:3]), rtol=1e-6)
    assert len(layer.trainable_weights) == len(made.trainable_weights) == 4
    assert len(layer.non_trainable_weights) == 2


def test_a_model_without_a_call_is_built_by_its_own_step() -> None:
    class Pair(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.left, self.right = keras.layers.Dense(3), keras.layers.Dense(1)
            self.tracker = keras.metrics.Mean(name="total")

        @property
        def metrics(self) -> list[Any]:
            return [self.tracker]

        def train_step(self, data: Any) -> dict[str, Any]:
            with tf.GradientTape() as tape:
                total = tf.reduce_sum(self.right(self.left(data)) ** 2)
            weights = self.left.trainable_weights + self.right.trainable_weights
            self.optimizer.apply(tape.gradient(total, weights), weights)
            self.tracker.update_state(total)
            return {"total": self.tracker.result()}

    model = Pair()
    model.compile("adam")
    data = tf.data.Dataset.from_tensor_slices(np.ones((8, 2), "f")).batch(4)

    totals = model.fit(data, epochs=3, verbose=0, shuffle=False).history["total"]

    assert totals[2] < totals[0]
    assert len(model.left.weights) == 2
