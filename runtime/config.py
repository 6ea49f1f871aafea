"""Settings of the runtime: ``tf.config``."""

from __future__ import annotations

from typing import NamedTuple

from runtime.context import functions_run_eagerly, run_functions_eagerly

__all__ = [
    "PhysicalDevice",
    "experimental",
    "functions_run_eagerly",
    "list_physical_devices",
    "run_functions_eagerly",
]


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that operations can run on, all or those of one type.

    >>> list_physical_devices("CPU"), list_physical_devices("GPU")
    ([PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')], [])
    """
    devices = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    return [d for d in devices if device_type in (None, d.device_type)]


class experimental:  # noqa: N801
    """The same under the names that TensorFlow gave them first."""

    list_physical_devices = staticmethod(list_physical_devices)
