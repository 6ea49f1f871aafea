"""Four devices, into which the environment divides the CPU: see test_devices.py."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf
from runtime.core.errors import InvalidArgumentError
from runtime.core.tensor.device import DeviceTensor

FULL = "/job:localhost/replica:0/task:0/device:CPU:"


def double(x: Any) -> Any:
    return x * 2.0


def test_what_there_is() -> None:
    names = [f"/device:CPU:{number}" for number in range(4)]
    assert [device.name for device in tf.config.list_logical_devices()] == names
    assert tf.config.list_physical_devices("GPU") == []
    with pytest.warns(UserWarning, match=r"CPU:3'\. The CPU"), tf.device("CPU:4"):
        pass
    with pytest.raises(RuntimeError, match="there are CPU:0, CPU:1, CPU:2, CPU:3"):
        tf.constant(1.0).gpu()
    with pytest.raises(ValueError, match="is not known"):
        tf.config.experimental.get_memory_info("CPU:1")
    with pytest.raises(ValueError, match="there is no device 'GPU:0'"):
        tf.config.experimental.get_memory_info("GPU:0")


def test_a_function_runs_where_the_scope_says() -> None:
    f = tf.function(double, executor="xla")
    x = tf.constant([1.0, 2.0])
    with tf.device("/CPU:2"):
        there = f(x)
        again = f(there)
    follows = f(again)
    assert type(there) is DeviceTensor
    assert {t.device for t in (there, again, follows)} == {FULL + "2"}
    assert f(x).device == FULL + "0"
    assert follows.numpy().tolist() == [8.0, 16.0]
    assert (there.cpu() + 1.0).device == FULL + "0"


def test_arguments_are_copied_where_they_have_to_be() -> None:
    f = tf.function(double, executor="xla")
    with tf.device("CPU:1"):
        x = f(tf.constant([1.0]))
        held = f.get_concrete_function(x).executable.inputs([x])[0]
        assert f(x).device == FULL + "1"
    assert x.held is held


def test_variables_go_along() -> None:
    total = tf.Variable([1.0])
    assert total.device == FULL + "0"

    @tf.function(executor="xla")
    def add(x: Any) -> Any:
        total.assign_add(x)
        return total * 1.0

    for number in (1, 3):
        with tf.device(f"CPU:{number}"):
            assert add(tf.constant([1.0])).device == FULL + str(number)
        assert total.device == FULL + str(number)
    with tf.device("CPU:1"):
        x = tf.function(double, executor="xla")(tf.constant([1.0]))
    with pytest.raises(InvalidArgumentError, match=r"within tf\.device\(name\)"):
        add(x)
    assert total.numpy().tolist() == [3.0]


def test_soft_placement() -> None:
    with pytest.warns(UserWarning, match="no device '/GPU:0'"), tf.device("/GPU:0"):
        found = tf.function(double, executor="xla")(tf.constant([1.0]))
    assert found.device == FULL + "0"
