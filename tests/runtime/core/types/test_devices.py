"""The names of devices, and the scopes that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import runtime as tf
from runtime.core.types import devices
from runtime.core.types.devices import CPU, DeviceSpec, current_device


@pytest.fixture
def hard_placement() -> Iterator[None]:
    tf.config.set_soft_device_placement(False)
    yield
    tf.config.set_soft_device_placement(True)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("CPU:0", "/device:CPU:0"),
        ("/device:CPU:0", "/device:CPU:0"),
        ("device:cpu:0", "/device:CPU:0"),
        ("/cpu", "/device:CPU:*"),
        ("/cpu:*", "/device:CPU:*"),
        (CPU, CPU),
        (DeviceSpec(device_type="CPU"), "/device:CPU:*"),
        ("", ""),
        (None, ""),
    ],
)
def test_names(name: Any, asked: str) -> None:
    with tf.device(name):
        assert current_device() == asked
        assert tf.constant(1).device == CPU
    assert current_device() == ""


def test_scopes_complete_and_forget_those_around() -> None:
    with tf.device("/job:localhost"), tf.device("/cpu:0"):
        assert current_device() == "/job:localhost/device:CPU:0"
        with tf.device("/task:0/cpu"):
            assert current_device() == "/job:localhost/task:0/device:CPU:*"
        with tf.device(None):
            assert current_device() == ""
        assert current_device() == "/job:localhost/device:CPU:0"


@pytest.mark.parametrize(
    "name", ["cpu0", "/foo:0", "/cpu:x", "/cpu:0/cpu:0", "/", "//"]
)
def test_what_is_not_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a device: write '/cpu:0'"):
        tf.device(name).__enter__()


def test_what_is_no_text_at_all() -> None:
    with pytest.raises(TypeError, match="takes the name of a device"):
        tf.device(3).__enter__()  # type: ignore[arg-type]


@pytest.mark.usefixtures("hard_placement")
@pytest.mark.parametrize("name", ["/gpu:0", "GPU", "/cpu:1", "/job:worker", "/task:1"])
def test_a_missing_device(name: str) -> None:
    message = rf"no device '{name}': the devices are '{CPU}'.*set_soft_device_placement"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message), tf.device(name):
        pass
    assert current_device() == ""


@pytest.mark.parametrize("name", ["/job:worker", "/task:1", "/job:worker/gpu:0"])
def test_another_machine_is_never_this_one(name: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="there is no device"):
        tf.device(name).__enter__()


@pytest.mark.usefixtures("hard_placement")
def test_a_missing_device_in_a_function_names_the_line() -> None:
    @tf.function
    def on_gpu(x: Any) -> Any:
        with tf.device("/gpu:0"):
            return x + 1

    with pytest.raises(tf.errors.InvalidArgumentError, match=r'with tf.device\("/gpu'):
        on_gpu(tf.constant(1))


def test_a_missing_device_is_warned_of_once_and_means_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def double(x: Any) -> Any:
        with tf.device("/gpu:0"):
            return x * 2

    monkeypatch.setattr(devices, "_warned", set())
    x = tf.constant(3)
    with pytest.warns(
        UserWarning, match="no device '/gpu:0'.*The CPU computes"
    ) as told:
        concrete = tf.function(double).get_concrete_function(x)

    assert told[0].filename == __file__
    assert tf.config.get_soft_device_placement()
    assert double(x).device == CPU
    assert (double(x).numpy(), concrete(x).numpy()) == (6, 6)
    assert concrete.graph.nodes[-2].device == "/device:GPU:0"


def test_nodes_record_what_was_asked_for() -> None:
    @tf.function
    def step(x: Any) -> Any:
        seen.append(x.device)
        with tf.device("/cpu:0"):
            y = x + 1
            if y > 2:
                y = y * 2
        seen.append(y.device)
        return y - 1

    seen: list[str] = []
    # The scope around the call is no part of the trace, which other calls share.
    with tf.device("/job:localhost"):
        graph = step.get_concrete_function(tf.constant(1)).graph
    devices = {node.op: node.device for node in graph.nodes}
    (choice,) = (node for node in graph.nodes if node.op == "If")

    assert seen == ["", "/device:CPU:0"]
    assert devices["AddV2"] == devices["If"] == "/device:CPU:0"
    assert {n.device for n in choice.attrs["then_graph"].nodes} == {"/device:CPU:0"}
    assert devices["Sub"] == devices["Identity"] == ""


def test_specs() -> None:
    spec = DeviceSpec.from_string("/job:localhost/gpu:1")

    assert spec.to_string() == "/job:localhost/device:GPU:1"
    assert spec.replace(device_index=2).to_string() == "/job:localhost/device:GPU:2"
    assert spec.make_merged_spec(DeviceSpec(task=3)).task == 3
    assert DeviceSpec.from_string(spec.to_string()) == spec
