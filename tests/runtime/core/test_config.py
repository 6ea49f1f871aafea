"""Settings: what is kept, what is passed over, and what is refused."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

import pytest

import autograph
import runtime as tf
from runtime.core import config

CPU = config.PhysicalDevice("/physical_device:CPU:0", "CPU")
GPU = config.PhysicalDevice("/physical_device:GPU:0", "GPU")


def test_there_is_the_cpu() -> None:
    assert config.list_physical_devices() == [CPU]
    assert config.list_physical_devices("GPU") == []
    assert config.list_logical_devices("GPU") == []
    (logical,) = config.list_logical_devices("CPU")
    with tf.device(logical.name):
        assert tf.constant(1).device.endswith(logical.name)
    assert config.experimental.list_physical_devices("GPU") == []


def test_visible_devices() -> None:
    config.set_visible_devices([], "GPU")
    config.set_visible_devices([CPU])
    config.set_visible_devices(CPU, "CPU")
    with pytest.warns(UserWarning, match="the CPU stays visible"):
        config.set_visible_devices([], "CPU")
    with pytest.warns(UserWarning, match="the CPU stays visible"):
        config.set_visible_devices([])
    for devices, kind in ((GPU, None), ([GPU], "GPU"), ([CPU], "GPU")):
        with pytest.raises(ValueError, match="there is no device"):
            config.set_visible_devices(devices, kind)
    assert config.get_visible_devices() == [CPU]


def test_the_cpu_can_be_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    part = config.LogicalDeviceConfiguration()
    divide = config.set_logical_device_configuration

    assert config.get_logical_device_configuration(CPU) is None
    divide(CPU, [])
    with pytest.raises(ValueError, match="without limits of memory"):
        divide(CPU, [config.LogicalDeviceConfiguration(memory_limit=100)])
    with pytest.raises(ValueError, match="there is no device"):
        divide(GPU, [part])
    monkeypatch.setitem(sys.modules, "jax", sys)
    with pytest.raises(RuntimeError, match="cannot be modified from then on"):
        divide(CPU, [part, part])
    monkeypatch.delitem(sys.modules, "jax")
    monkeypatch.setattr("runtime.core.types.devices.find_spec", lambda name: None)
    with pytest.raises(tf.errors.UnimplementedError, match=r"pip install '.*xla"):
        divide(CPU, [part, part])
    assert config.get_logical_device_configuration(CPU) is None


DIVIDED = """
import jax  # as Keras does, where Orbax is installed
import runtime as tf

cpus = tf.config.list_physical_devices("CPU")
parts = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpus[0], parts * 2)
tf.config.set_logical_device_configuration(cpus[0], parts)
assert tf.config.get_logical_device_configuration(cpus[0]) == parts
names = ["/device:CPU:0", "/device:CPU:1"]
assert [device.name for device in tf.config.list_logical_devices()] == names
assert tf.config.list_physical_devices("CPU") == cpus
with tf.device("CPU:1"):
    x = tf.function(lambda x: x + 1, executor="xla")(tf.constant(1.0))
assert x.device.endswith("CPU:1"), x.device
tf.config.set_logical_device_configuration(cpus[0], parts)
try:
    tf.config.set_logical_device_configuration(cpus[0], parts * 2)
except RuntimeError:
    print("done")
"""


def test_a_program_divides_the_cpu() -> None:
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    done = subprocess.run(
        [sys.executable, "-c", DIVIDED], capture_output=True, text=True, check=False
    )

    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("which", ["intra", "inter"])
def test_threads(which: str) -> None:
    get = getattr(config.threading, f"get_{which}_op_parallelism_threads")
    put = getattr(config.threading, f"set_{which}_op_parallelism_threads")

    assert get() == 0
    put(3)
    assert get() == 3
    put(0)
    for wrong in (-1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="an int from 0 on"):
            put(wrong)


def test_the_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config.optimizer, "_options", {})
    assert config.optimizer.get_jit() == ""
    with pytest.warns(UserWarning, match="run as NumPy code"):
        config.optimizer.set_jit(True)
    assert config.optimizer.get_jit() == "autoclustering"
    config.optimizer.set_jit(False)
    with pytest.raises(ValueError, match="'yes'"):
        config.optimizer.set_jit("yes")
    config.optimizer.set_experimental_options({"remapping": True})
    config.optimizer.set_experimental_options({"constant_folding": False})
    assert config.optimizer.get_experimental_options() == {
        "remapping": True,
        "constant_folding": False,
    }
    with pytest.raises(ValueError, match="no option 'fold'; its options are 'arith"):
        config.optimizer.set_experimental_options({"fold": True})


@pytest.mark.parametrize(
    "setting",
    [
        lambda e: e.set_memory_growth(CPU, True),
        lambda e: e.get_memory_growth(CPU),
    ],
)
def test_what_only_gpus_have(setting: Any) -> None:
    with pytest.raises(ValueError, match="only GPUs have"):
        setting(config.experimental)


def test_what_asks_for_nothing() -> None:
    config.experimental.enable_op_determinism()
    config.experimental.set_synchronous_execution(True)

    assert config.experimental.get_synchronous_execution()
    assert config.experimental.get_device_details(CPU) == {}


def test_the_version_is_that_of_the_project() -> None:
    assert tf.__version__ == tf.version.VERSION == autograph.__version__
