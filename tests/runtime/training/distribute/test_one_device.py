"""Strategies of the CPU alone: functions run as they are."""

from __future__ import annotations

import pytest

import runtime as tf

pytest.importorskip("jax")
distribute = tf.distribute


@pytest.mark.parametrize(
    "strategy",
    [
        distribute.OneDeviceStrategy("/cpu:0"),
        distribute.MirroredStrategy(["CPU:0"]),
        distribute.experimental.CentralStorageStrategy(["CPU:0"]),
    ],
)
def test_plain_values(strategy: distribute.Strategy) -> None:
    with strategy.scope():
        v = tf.Variable(1.0)
        assert distribute.get_strategy() is strategy
        drawn = strategy.run(lambda: v.assign_add(tf.random.uniform([]) * 0.0 + 2.0))
    values = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant([context.replica_id_in_sync_group])
    )

    assert isinstance(strategy, distribute.OneDeviceStrategy)
    assert float(strategy.reduce("SUM", drawn, axis=None)) == float(v) == 3.0
    assert strategy.gather(values, axis=0).numpy().tolist() == [0]


@pytest.mark.parametrize("is_default", [False, True])
def test_contexts(is_default: bool) -> None:
    strategy = (
        distribute.get_strategy()
        if is_default
        else distribute.MirroredStrategy(["CPU:0"])
    )

    def seen() -> tuple[bool, bool, bool]:
        context = distribute.get_replica_context()
        assert context is None or context.strategy is distribute.get_strategy()
        is_cross = distribute.in_cross_replica_context()
        return distribute.has_strategy(), is_cross, context is None

    with strategy.scope():
        found = [seen(), strategy.run(seen), tf.function(strategy.run)(seen)]
    found += [strategy.run(seen), seen()]

    is_on, off = (not is_default, False, False), (False, False, False)
    assert found == [(not is_default,) * 3, is_on, is_on, is_on, off]


@pytest.mark.parametrize(
    "base", [distribute.MirroredStrategy, distribute.MultiWorkerMirroredStrategy]
)
def test_subclasses_keep_their_methods(base: type) -> None:
    class Named(base):  # type: ignore[misc]
        def called(self) -> str:
            return "named"

    assert Named().called() == "named"


def test_keras_trains_in_a_scope() -> None:
    keras, contexts = tf.keras, []

    class Model(keras.Model):  # type: ignore[misc]
        def train_step(self, data: object) -> object:
            contexts.append(distribute.get_replica_context())
            return super().train_step(data)

    with distribute.MirroredStrategy(["CPU:0"]).scope():
        x = keras.Input([2])
        model = Model(x, keras.layers.Dense(1)(x))
        model.compile("sgd", "mse")
        model.fit(tf.ones([4, 2]), tf.ones([4, 1]), verbose=0)
    assert contexts
    assert None not in contexts


def test_data_in_a_function() -> None:
    strategy = distribute.MirroredStrategy(["CPU:0"])
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2))

    @tf.function
    def total(data: tf.data.Dataset) -> tf.Tensor:
        found = tf.constant(0, tf.int64)
        for batch in data:
            found += strategy.run(tf.reduce_sum, (batch,))
        return found

    assert int(total(data)) == 6


def test_several_devices_keep_no_central_variables() -> None:
    with pytest.raises(NotImplementedError, match="MirroredStrategy"):
        distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"])


def test_options_choose_nothing() -> None:
    options = distribute.experimental.CommunicationOptions(bytes_per_pack=3)
    assert repr(options) == "CommunicationOptions(bytes_per_pack=3)"
