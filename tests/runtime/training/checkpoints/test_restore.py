"""Variables that are made after restoring get their values when they are made."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from pathlib import Path

import pytest

import runtime as tf

pytest.importorskip("safetensors")


class Dense(tf.Module):
    """A layer that makes its variables at its first call."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.w = None

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        if self.w is None:
            self.w = tf.Variable(tf.ones([x.shape[-1], self.units]))
            self.b = tf.Variable(tf.zeros([self.units]))
        return x @ self.w + self.b


class Net(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [Dense(3), Dense(2)]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.fixture
def path(tmp_path: Path) -> str:
    net = Net()
    net(tf.ones([1, 2]))
    for number, variable in enumerate(net.variables):
        variable.assign(tf.fill(variable.shape, float(number + 2)))
    return tf.train.Checkpoint(net=net).save(tmp_path / "ckpt")


def values(net: Net) -> list[float]:
    return [float(v.numpy().mean()) for v in net.variables]


def test_variables_made_later_are_restored(path: str) -> None:
    net = Net()
    status = tf.train.Checkpoint(net=net).restore(path)
    with pytest.raises(AssertionError, match="4 values"):
        status.assert_consumed()

    net(tf.ones([1, 2]))

    assert values(net) == [2.0, 3.0, 4.0, 5.0]
    assert status.assert_consumed() is status


def test_in_a_function(path: str) -> None:
    net = Net()
    status = tf.train.Checkpoint(net=net).restore(path)

    result = tf.function(net)(tf.ones([1, 2]))

    assert values(net) == [2.0, 3.0, 4.0, 5.0]
    assert result.numpy().tolist() == net(tf.ones([1, 2])).numpy().tolist()
    assert status.assert_consumed() is status


def test_objects_take_their_class_back(path: str) -> None:
    net = Net()
    tf.train.Checkpoint(net=net).restore(path)
    layer = net.layers[0]
    assert type(layer) is not Dense
    assert isinstance(layer, Dense)
    assert repr(type(layer)) == repr(Dense)

    net(tf.ones([1, 2]))

    assert type(layer) is Dense
    assert "_awaited_from_checkpoints" not in vars(layer)


def test_submodules_made_later(path: str) -> None:
    class Lazy(tf.Module):
        pass

    lazy = Lazy()
    status = tf.train.Checkpoint(net=lazy).restore(path)
    net = Net()
    net(tf.ones([1, 2]))

    lazy.layers = net.layers

    assert values(net) == [2.0, 3.0, 4.0, 5.0]
    assert status.assert_consumed()


def test_attributes_of_the_checkpoint_itself(path: str) -> None:
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    net = Net()
    checkpoint.net = net

    net(tf.ones([1, 2]))

    assert values(net) == [2.0, 3.0, 4.0, 5.0]
    assert status.assert_consumed()


def test_attributes_of_the_root(tmp_path: Path) -> None:
    layer = Dense(2)
    layer(tf.ones([1, 2]))
    layer.b.assign([5.0, 6.0])
    path = tf.train.Checkpoint(layer).write(tmp_path / "c")
    again = Dense(2)
    status = tf.train.Checkpoint(again).read(path)

    again(tf.ones([1, 2]))

    assert again.b.numpy().tolist() == [5.0, 6.0]
    assert status.assert_consumed()


def test_a_second_value_is_left_alone(path: str) -> None:
    """What replaces a restored variable is a new one."""
    layer = Dense(3)
    tf.train.Checkpoint(net=Net()).restore(path).expect_partial()
    net = Net()
    net.layers = [layer, Dense(2)]
    tf.train.Checkpoint(net=net).restore(path).expect_partial()
    layer.w = tf.Variable(tf.ones([2, 3]))
    assert layer.w.numpy().mean() != 1.0

    layer.w = tf.Variable(tf.zeros([9]))

    assert layer.w.numpy().tolist() == [0.0] * 9


def test_the_last_checkpoint_wins(path: str, tmp_path: Path) -> None:
    other = Net()
    other(tf.ones([1, 2]))
    later = tf.train.Checkpoint(net=other).save(tmp_path / "later")
    net = Net()
    checkpoint = tf.train.Checkpoint(net=net)
    checkpoint.restore(path).expect_partial()
    checkpoint.restore(later)

    net(tf.ones([1, 2]))

    assert values(net) == values(other)


def test_shape_that_does_not_fit_later(path: str) -> None:
    net = Net()
    tf.train.Checkpoint(net=net).restore(path).expect_partial()

    with pytest.raises(ValueError, match=r"shape \(2, 3\) in 'net/layers/0/w/"):
        net(tf.ones([1, 7]))


def test_items_added_later_are_reported(path: str) -> None:
    net = Net()
    net.layers = []
    status = tf.train.Checkpoint(net=net).restore(path).expect_partial()
    net.layers += [Dense(3), Dense(2)]
    net(tf.ones([1, 2]))

    with pytest.raises(AssertionError, match="list or dict after restoring"):
        status.assert_consumed()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_do_not_wait(path: str, copied: object) -> None:
    net = Net()
    tf.train.Checkpoint(net=net).restore(path).expect_partial()

    layer = copied(net.layers[0])
    layer(tf.ones([1, 2]))
    net(tf.ones([1, 2]))

    assert type(layer) is Dense
    if copied is copy.deepcopy:
        assert layer.w.numpy().mean() == 1.0
    assert values(net) == [2.0, 3.0, 4.0, 5.0]


def test_waiting_objects_are_pickled_by_their_class(path: str) -> None:
    net = Net()
    tf.train.Checkpoint(net=net).restore(path).expect_partial()

    layer = pickle.loads(pickle.dumps(net.layers[0]))

    assert type(layer) is Dense
    assert layer.units == 3


def test_waiting_objects_are_freed(path: str) -> None:
    net = Net()
    tf.train.Checkpoint(net=net).restore(path).expect_partial()
    reference = weakref.ref(net)

    del net
    gc.collect()

    assert reference() is None


def test_deleted_files_are_still_read(path: str) -> None:
    net = Net()
    tf.train.Checkpoint(net=net).restore(path)
    Path(path + ".safetensors").unlink()

    net(tf.ones([1, 2]))

    assert values(net) == [2.0, 3.0, 4.0, 5.0]
