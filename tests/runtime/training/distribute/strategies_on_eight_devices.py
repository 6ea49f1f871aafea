"""Strategies on eight devices of one process: `test_devices` has it run there."""

from __future__ import annotations

import contextlib
import importlib.util
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.training.distribute import digits, networks

X = np.arange(32.0).reshape(16, 2)


@pytest.fixture(scope="module")
def strategy() -> Any:
    return tf.distribute.MirroredStrategy()


@pytest.fixture
def keras() -> Any:
    if not importlib.util.find_spec("keras"):
        pytest.skip("Keras is not installed")
    return tf.keras


def batches(strategy: Any, array: Any = X) -> Any:
    data = tf.data.Dataset.from_tensor_slices(array).batch(16)
    return iter(strategy.experimental_distribute_dataset(data))


def replica_id() -> Any:
    context = tf.distribute.get_replica_context()
    return tf.cast(context.replica_id_in_sync_group, tf.float32)


def test_the_losses_are_those_of_one_device(strategy: Any) -> None:
    plain = digits.train(tf.distribute.get_strategy(), steps=8)

    np.testing.assert_allclose(digits.train(strategy, steps=8), plain, rtol=1e-12)


def test_each_replica_sees_its_rows(strategy: Any) -> None:
    (x,) = batches(strategy)
    two = tf.constant(2.0, tf.float64)
    doubled = strategy.run(lambda x, by: (x * by, None), (x,), {"by": two})

    assert doubled[1] is None
    rows = strategy.experimental_local_results(doubled[0])
    np.testing.assert_array_equal(np.stack(rows), 2 * X.reshape(8, 2, 2))
    assert strategy.experimental_local_results(3) == (3,)


def test_values_are_reduced(strategy: Any) -> None:
    (x,) = batches(strategy)
    rows = X.reshape(8, 2, 2)
    for how, along in (("SUM", np.sum), ("mean", np.mean)):
        for axis, axes in ((None, 0), (0, (0, 1)), (-1, (0, 2))):
            found = strategy.reduce(how, {"x": x}, axis)["x"]
            np.testing.assert_allclose(found.numpy(), along(rows, axis=axes))
    assert strategy.reduce(tf.distribute.ReduceOp.MEAN, 2.0) == 2.0
    with pytest.raises(ValueError, match="no value of replicas"):
        strategy.reduce("SUM", 2.0)


def test_all_reduce_and_its_gradient(strategy: Any) -> None:
    def step() -> Any:
        x = replica_id()
        with tf.GradientTape() as tape:
            tape.watch(x)
            context = tf.distribute.get_replica_context()
            total, mean = context.all_reduce("SUM", x), context.all_reduce("MEAN", x)
            y = total * x
        return total, mean, tape.gradient(y, x)

    total, mean, gradient = strategy.run(step)
    assert [float(value) for value in total.values] == [28.0] * 8
    assert [float(value) for value in mean.values] == [3.5] * 8
    # Of y = x * sum(x): the sum over replicas of x, and the sum itself.
    assert [float(value) for value in gradient.values] == [56.0] * 8


def test_contexts(strategy: Any) -> None:
    seen = []

    def note() -> None:
        context = tf.distribute.get_replica_context()
        seen.append((context.strategy, tf.distribute.in_cross_replica_context()))

    assert tf.distribute.get_replica_context().num_replicas_in_sync == 1
    assert not tf.distribute.has_strategy()
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.in_cross_replica_context()
        assert tf.distribute.get_replica_context() is None
        strategy.run(note)
    assert seen == [(strategy, False)]


def test_aggregated_variables(strategy: Any) -> None:
    with strategy.scope():
        total, mean, plain = (
            tf.Variable(0.0, aggregation=getattr(tf.VariableAggregation, how))
            for how in ("SUM", "MEAN", "NONE")
        )

    def assign() -> None:
        total.assign_add(1.0)
        mean.assign(replica_id())
        plain.assign_add(2.0)

    @tf.function
    def repeat(n: Any) -> Any:
        while n > 0:
            strategy.run(assign)
            n -= 1
        return plain * 2.0

    strategy.run(assign)
    assert float(repeat(tf.constant(2))) == 12.0
    assert [v.numpy() for v in (total, mean, plain)] == [24.0, 3.5, 6.0]


def test_what_replicas_may_not_do(strategy: Any) -> None:
    outside = tf.Variable(1.0)
    with strategy.scope():
        inside = tf.Variable(1.0)

    def in_branch() -> Any:
        x = replica_id()
        if x > 1.0:
            x = tf.distribute.get_replica_context().all_reduce("SUM", x)
        return x

    for function, text in [
        (lambda: inside.assign(replica_id()), "replicas may assign different values"),
        (lambda: outside.assign_add(1.0), "within `with strategy.scope"),
        (lambda: tf.random.uniform([]), "replicas draw no random numbers"),
        (in_branch, "cannot be in a branch or a loop"),
    ]:
        with pytest.raises(ValueError, match=text):
            strategy.run(function)
    with pytest.raises(RuntimeError, match=r"cannot call strategy\.run"):
        strategy.run(lambda: strategy.run(replica_id))
    assert inside.numpy() == 1.0


def test_a_check_that_fails_changes_nothing(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(1.0)

    def check(limit: Any) -> None:
        v.assign_add(1.0)
        assert replica_id() < limit, "too many"

    strategy.run(check, (tf.constant(8.0),))
    with pytest.raises(tf.errors.FailedPreconditionError, match="a check in the func"):
        strategy.run(check, (tf.constant(7.0),))
    assert v.numpy() == 2.0


def test_another_executor_is_refused(strategy: Any) -> None:
    function = tf.function(lambda: strategy.run(replica_id), executor="numpy")
    with pytest.raises(tf.errors.FailedPreconditionError, match="runs on XLA"):
        function()


def test_data_that_cannot_be_divided(strategy: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="drop_remainder=True"):
        next(batches(strategy, X[:9]))
    with pytest.raises(NotImplementedError, match="in a loop over the data"):
        tf.function(lambda: list(batches(strategy)))()


def test_data_of_a_function(strategy: Any) -> None:
    def data(context: Any) -> Any:
        size = context.get_per_replica_batch_size(16)
        return tf.data.Dataset.from_tensor_slices(X).batch(size).repeat(2).take(12)

    elements = list(strategy.distribute_datasets_from_function(data))
    assert len(elements) == 1  # and four batches that are too few
    np.testing.assert_array_equal(np.stack(elements[0].values), X.reshape(8, 2, 2))


def test_values_of_a_function(strategy: Any) -> None:
    values = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant([context.replica_id_in_sync_group])
    )
    doubled = strategy.run(lambda x: x * 2, (values,))
    assert strategy.gather(doubled, axis=0).numpy().tolist() == [*range(0, 16, 2)]


def test_generators_may_be_made_in_a_scope(strategy: Any) -> None:
    with strategy.scope():
        generator = tf.random.Generator.from_seed(1)
    assert generator.normal([2]).shape == [2]


def test_devices_by_name() -> None:
    two = tf.distribute.MirroredStrategy(["/cpu:1", "/device:CPU:2"])
    assert two.num_replicas_in_sync == 2
    assert [float(v) for v in two.run(replica_id).values] == [0.0, 1.0]
    with pytest.raises(ValueError, match="no device 'gpu:0'"):
        tf.distribute.MirroredStrategy(["GPU:0"])


def test_keras_adds_gradients_up(strategy: Any, keras: Any) -> None:
    y = X.sum(axis=1, keepdims=True)

    def trained(strategy: Any) -> Any:
        with strategy.scope():
            keras.utils.set_random_seed(1)
            model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
            optimizer = keras.optimizers.SGD(1e-3, momentum=0.5)

        def step(x: Any, y: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(model(x) - y)) / 16.0
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))

        arrays = X.astype("float32"), y.astype("float32")
        data = tf.data.Dataset.from_tensors(arrays).repeat(3)
        for element in strategy.experimental_distribute_dataset(data):
            strategy.run(step, element)
        with strategy.scope(), pytest.raises(RuntimeError, match=r"in strategy\.run"):
            optimizer.apply_gradients([(1.0, model.trainable_variables[1])])
        return [np.asarray(weight) for weight in model.get_weights()]

    def plain() -> Any:
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(1e-3, momentum=0.5), "mse")
        model.fit(X, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
        return model.get_weights()

    for found, expected in zip(trained(strategy), plain(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("name", sorted(networks.SIZES))
def test_keras_fits_as_on_one_device(strategy: Any, keras: Any, name: str) -> None:
    plain = networks.fitted(tf.distribute.get_strategy(), name)
    np.testing.assert_allclose(networks.fitted(strategy, name), plain, rtol=2e-4)


@pytest.mark.parametrize("name", sorted(networks.SIZES))
def test_replicas_train_what_keras_has(strategy: Any, keras: Any, name: str) -> None:
    with strategy.scope():
        model, loss_of = networks.made(name)
        optimizer = tf.keras.optimizers.Adam(0.01)
        mean = tf.keras.metrics.Mean()
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        matrix = tf.keras.metrics.MeanIoU(30, sparse_y_pred=False)
    x, y = (array[:16] for array in networks.data(name))

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            # Draws of dropout would be the same in each replica.
            logits = model(x, training=name == "resnet")
            loss = loss_of(y, logits)
            share = loss / 8.0
        gradients = tape.gradient(share, model.trainable_weights)
        optimizer.apply_gradients(zip(gradients, model.trainable_weights))
        mean.update_state(loss)
        accuracy.update_state(y, logits)
        matrix.update_state(y, logits)
        return loss, logits

    @tf.function
    def train(x: Any, y: Any) -> Any:
        return strategy.run(tf.function(step), (x, y))

    elements = tf.data.Dataset.from_tensors((x, y))
    (batch,) = strategy.experimental_distribute_dataset(elements)
    losses, scores = train(*batch)
    np.testing.assert_allclose(mean.result(), np.mean(losses.stacked), rtol=1e-6)
    right = np.concatenate(scores.values).argmax(-1) == y
    np.testing.assert_allclose(accuracy.result(), right.mean(), rtol=1e-6)
    assert float(np.sum(matrix.total_cm)) == y.size
    after, _ = train(*batch)
    assert np.mean(after.stacked) < np.mean(losses.stacked)


def test_moments_are_means_over_replicas(strategy: Any, keras: Any) -> None:
    with strategy.scope():
        layer = keras.layers.BatchNormalization(momentum=0.5)
        layer.build([None, 2])
    (x,) = batches(strategy, X.astype("float32"))
    strategy.run(lambda x: layer(x, training=True), (x,))

    rows = X.reshape(8, 2, 2)
    np.testing.assert_allclose(layer.moving_mean, 0.5 * X.mean(0), rtol=1e-6)
    variance = 0.5 + 0.5 * rows.var(axis=1).mean(0)
    np.testing.assert_allclose(layer.moving_variance, variance, rtol=1e-6)


def test_rows_of_a_batch_lie_on_the_devices(strategy: Any, keras: Any) -> None:
    with strategy.scope():
        model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    train = model.make_train_function()
    x, last = (tf.ones([size, 2]) for size in (16, 3))
    layouts = [
        tf.experimental.dtensor.fetch_layout(train._divide(value))
        for value in (x, last)
    ]
    assert [layout.num_shards(0) for layout in layouts] == [8, 1]


@pytest.mark.parametrize("inside", ["made", "compiled", "fitted"])
def test_models_of_other_devices_are_refused(
    strategy: Any, keras: Any, inside: str
) -> None:

    def scope(what: str) -> Any:
        return strategy.scope() if what == inside else contextlib.nullcontext()

    with scope("made"):
        model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
    with scope("compiled"):
        model.compile("sgd", "mse")
    with scope("fitted"):
        if inside == "made":
            model.fit(X, X[:, :1], verbose=0)
            assert model.distribute_strategy is strategy
            assert model.optimizer.iterations.value.layout is not None
            return
        with pytest.raises(RuntimeError, match=r"within `with strategy\.scope\(\)"):
            model.fit(X, X[:, :1], verbose=0)


def test_parts_that_are_added_when_they_are_read(strategy: Any) -> None:
    with strategy.scope():
        total = tf.Variable(
            1.0,
            trainable=False,
            aggregation=tf.VariableAggregation.SUM,
            synchronization=tf.VariableSynchronization.ON_READ,
        )

    def add(by: Any) -> None:
        total.assign(total + by)

    strategy.run(add, (tf.constant(2.0),))
    assert total.numpy() == 17.0
    strategy.run(tf.function(lambda: total.assign(total + replica_id())))
    assert total.numpy() == 45.0


def test_average_losses(strategy: Any) -> None:
    def losses() -> Any:
        values = tf.constant([1.0, 3.0])
        average = tf.nn.compute_average_loss
        return (
            average(values),
            average(values, tf.constant([0.0, 1.0]), global_batch_size=4),
            tf.nn.scale_regularization_loss(tf.constant(8.0)),
        )

    assert [float(x) for x in losses()] == [2.0, 0.75, 8.0]
    found = strategy.run(losses)
    assert [float(x.values[0]) for x in found] == [0.25, 0.75, 1.0]
    with strategy.scope(), pytest.raises(RuntimeError, match="for the function of"):
        losses()


def test_functions_know_what_replicas_use(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(1.0)
    concrete = tf.function(
        lambda: strategy.run(lambda: v.assign_add(1.0))
    ).get_concrete_function()

    assert [variable is v for variable in concrete.variables] == [True]
    assert "on Mesh({'replica': 8}, CPU)" in str(concrete.graph)
