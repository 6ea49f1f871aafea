"""Settings of the runtime: ``tf.config``.

Devices beside the CPU are those of JAX: see `core.types.devices`. What TensorFlow
sets is taken where it asks for nothing that is missing, and refused, or warned of,
elsewhere.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from runtime.core.graph.context import functions_run_eagerly, run_functions_eagerly
from runtime.core.missing import Space
from runtime.core.types.devices import (
    device_of_jax,
    divide_cpu,
    get_soft_device_placement,
    known_devices,
    set_soft_device_placement,
)

__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "check_executor",
    "experimental", "experimental_functions_run_eagerly",
    "experimental_run_functions_eagerly", "functions_run_eagerly", "get_executor",
    "get_logical_device_configuration", "get_soft_device_placement",
    "get_visible_devices", "list_logical_devices", "list_physical_devices", "optimizer",
    "run_functions_eagerly", "set_executor", "set_logical_device_configuration",
    "set_soft_device_placement", "set_visible_devices", "threading",
]  # fmt: skip

experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly

# --- devices --------------------------------------------------------------------------


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that operations can be asked to run on: see `tf.device`."""

    name: str
    device_type: str


#: What `set_visible_devices` took away.
_hidden: set[PhysicalDevice] = set()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that operations can run on, all or those of one type.

    JAX is asked, and imported, where it is installed together with a plugin for other
    devices than the CPU.

    >>> list_physical_devices("CPU"), list_physical_devices("GPU")
    ([PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')], [])
    """
    return [
        PhysicalDevice(f"/physical_device:{kind}:{number}", kind)
        for kind, number in known_devices(device_type)
        if not (_parts and kind == "CPU" and number)
    ]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The visible ones of `list_physical_devices`, by the names that `tf.device` takes.

    >>> list_logical_devices()
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    found = [
        LogicalDevice(name.replace("physical_", ""), kind)
        for name, kind in get_visible_devices(device_type)
    ]
    parts = len(_parts) if device_type in (None, "CPU") else 0
    more = [LogicalDevice(f"/device:CPU:{number}", "CPU") for number in range(1, parts)]
    return found[:1] + more + found[1:]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that operations can run on, but for those that were hidden."""
    found = list_physical_devices(device_type)
    return [device for device in found if device not in _hidden]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Hide the other GPUs: functions on XLA run on the first that is left, or the CPU.

    Hiding the CPU changes nothing and is warned of. Raises ValueError for a device that
    is not there, or not of the type.

    >>> set_visible_devices([], "GPU")
    """
    chosen = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    there = list_physical_devices(device_type)
    for item in chosen:
        if item not in there:
            kind = "" if device_type is None else f" of the type {device_type!r}"
            raise ValueError(f"there is no device {item!r}{kind}; there are: {there}")
    processors = [device for device in there if device.device_type == "CPU"]
    if processors and not set(processors) & set(chosen):
        warnings.warn(
            "the CPU stays visible: all that is not compiled for another device runs "
            "on it",
            stacklevel=2,
        )
    others = [device for device in there if device.device_type != "CPU"]
    if others:
        _hidden.difference_update(others)
        _hidden.update(set(others) - set(chosen))
        left = [device for device in others if device in chosen] or processors
        name = (left or [PhysicalDevice("/physical_device:CPU:0", "CPU")])[0].name
        found = device_of_jax(name.replace("physical_", ""))
        importlib.import_module("jax").config.update("jax_default_device", found)


class LogicalDeviceConfiguration(NamedTuple):
    """One of the devices that a device is divided into."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


#: What `set_logical_device_configuration` made of the CPU.
_parts: list[LogicalDeviceConfiguration] = []


def get_logical_device_configuration(
    device: Any,
) -> list[LogicalDeviceConfiguration] | None:
    """What a device is divided into; None if it is not. ValueError if there is none."""
    _check_there(device)
    return list(_parts) if _parts and device.device_type == "CPU" else None


def set_logical_device_configuration(device: Any, logical_devices: Any) -> None:
    """Divide the CPU into several devices, as XLA does, to try what is for several.

    `list_logical_devices` has them from then on. Raises ValueError for another device,
    or a limit of memory, RuntimeError once JAX, which makes them, has made devices, and
    UnimplementedError where it is not installed.
    """
    _check_there(device)
    parts = list(logical_devices)
    if device.device_type != "CPU" or any(part.memory_limit for part in parts):
        raise ValueError("only the CPU is divided, and without limits of memory")
    if parts == _parts:
        return
    divide_cpu(len(parts))
    _parts[:] = parts


def _check_there(device: Any) -> None:
    # JAX is imported to know the others.
    if device != PhysicalDevice("/physical_device:CPU:0", "CPU"):
        there = list_physical_devices()
        if device not in there:
            raise ValueError(f"there is no device {device!r}; there are: {there}")


# --- threads --------------------------------------------------------------------------


class threading:  # noqa: N801
    """How many threads operations may use."""

    _intra = 0
    _inter = 0

    @classmethod
    def get_intra_op_parallelism_threads(cls) -> int:
        """The threads that one operation may use; 0 stands for all processors."""
        return cls._intra

    @classmethod
    def set_intra_op_parallelism_threads(cls, num_threads: int) -> None:
        """Set how many threads one operation may use; 0 means all processors.

        Operations on large arrays in a graph are shared between threads; the results
        do not depend on their number. NumPy's linear algebra uses as many, where its
        library is OpenBLAS, as in NumPy's own packages. That holds for the process.
        """
        cls._intra = _count(num_threads)
        for follow in _followers:
            follow(cls._intra)

    @classmethod
    def get_inter_op_parallelism_threads(cls) -> int:
        """The operations that may run at the same time; 0 leaves it to the executor."""
        return cls._inter

    @classmethod
    def set_inter_op_parallelism_threads(cls, num_threads: int) -> None:
        """Set how many operations of a graph may run at the same time.

        It is kept, and changes nothing: a graph runs its operations in order.
        """
        cls._inter = _count(num_threads)


_followers: list[Callable[[int], object]] = []


def on_thread_count(follow: Callable[[int], object]) -> None:
    """Call a function with the threads that one operation may use, now and later."""
    _followers.append(follow)
    follow(threading._intra)


def _count(threads: Any) -> int:
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 0:
        raise ValueError(f"a number of threads is an int from 0 on, not {threads!r}")
    return threads


# --- the optimizer of graphs ----------------------------------------------------------

#: The options of TensorFlow's optimizer, and one more: ``fast_math``.
_OPTIONS = frozenset(
    {
        "fast_math",
        "arithmetic_optimization",
        "auto_mixed_precision",
        "auto_mixed_precision_onednn_bfloat16",
        "auto_parallel",
        "constant_folding",
        "debug_stripper",
        "dependency_optimization",
        "disable_meta_optimizer",
        "disable_model_pruning",
        "function_optimization",
        "implementation_selector",
        "layout_optimizer",
        "loop_optimization",
        "min_graph_nodes",
        "pin_to_host_optimization",
        "remapping",
        "scoped_allocator_optimization",
        "shape_optimization",
        "use_plugin_optimizers",
    }
)


class optimizer:  # noqa: N801
    """What is done to graphs before they run."""

    _jit = False
    _options: dict[str, Any] = {}  # noqa: RUF012

    @classmethod
    def get_jit(cls) -> str:
        """``'autoclustering'`` if `set_jit` asked for native code, else ``''``."""
        return "autoclustering" if cls._jit else ""

    @classmethod
    def set_jit(cls, enabled: bool | str) -> None:
        """Ask for native code. It is kept, and warned of: graphs run as NumPy code.

        Raises ValueError for anything but a bool and ``'autoclustering'``.
        """
        if not isinstance(enabled, bool) and enabled != "autoclustering":
            raise ValueError(
                f"set_jit takes True, False or 'autoclustering', not {enabled!r}"
            )
        cls._jit = bool(enabled)
        if enabled:
            warnings.warn(
                "graphs are not compiled to native code as a matter of course: they "
                "run as NumPy code, with the same results",
                stacklevel=2,
            )

    @classmethod
    def get_experimental_options(cls) -> dict[str, Any]:
        """The options that were set."""
        return dict(cls._options)

    @classmethod
    def set_experimental_options(cls, options: dict[str, Any]) -> None:
        """Set options of the optimizer, beside those that were set before.

        They act on functions that run for the first time from then on. Passes are
        switched off by False for ``constant_folding``, ``arithmetic_optimization``,
        ``dependency_optimization``, ``function_optimization``, ``layout_optimizer``,
        ``loop_optimization`` and ``remapping``, and all of them by True for
        ``disable_meta_optimizer``; the other options are kept. Results are the same
        whatever they say, but for ``fast_math``: True allows rewrites of float
        arithmetic that change the last bits. Raises ValueError for an option that there
        is not.

        >>> optimizer.set_experimental_options({"constant_folding": True})
        """
        unknown = sorted(set(options) - _OPTIONS)
        if unknown:
            raise ValueError(
                f"the optimizer has no option {_listed(unknown)}; its options are "
                f"{_listed(sorted(_OPTIONS))}"
            )
        cls._options = {**cls._options, **options}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


# --- executors ------------------------------------------------------------------------

EXECUTORS = ("numpy", "xla", "native")
_executor = "numpy"


def check_executor(name: Any) -> str:
    """The name of an executor. Raises ValueError if it is none."""
    if name not in EXECUTORS:
        raise ValueError(
            f"there is no executor {name!r}; there are {_listed(EXECUTORS)}"
        )
    return str(name)


def set_executor(name: str) -> None:
    """Say what runs graphs that ask for none: ``"numpy"``, ``"xla"`` or ``"native"``.

    It acts on functions that run for the first time from then on. Raises ValueError for
    another name. The others than NumPy need the extra of their name, which the first
    function asks for.

    >>> set_executor("numpy")
    """
    global _executor
    _executor = check_executor(name)


def get_executor() -> str:
    """The executor that runs graphs which ask for none.

    >>> get_executor()
    'numpy'
    """
    return _executor


# --- experimental ---------------------------------------------------------------------


class experimental(metaclass=Space):  # noqa: N801
    """The same under TensorFlow's first names, and what is for GPUs alone."""

    _space = "tf.config.experimental"

    list_physical_devices = staticmethod(list_physical_devices)
    list_logical_devices = staticmethod(list_logical_devices)
    get_visible_devices = staticmethod(get_visible_devices)
    set_visible_devices = staticmethod(set_visible_devices)
    VirtualDeviceConfiguration = LogicalDeviceConfiguration
    get_virtual_device_configuration = staticmethod(get_logical_device_configuration)
    set_virtual_device_configuration = staticmethod(set_logical_device_configuration)

    @staticmethod
    def set_memory_growth(device: Any, enable: bool) -> None:
        """Warn unless it is so: the environment says it, before GPUs are first asked.

        ``XLA_PYTHON_CLIENT_PREALLOCATE=false`` has XLA take the memory of GPUs as it
        needs it. Raises ValueError for what is no GPU.
        """
        if bool(enable) is not experimental.get_memory_growth(device):
            wanted = "false" if enable else "true"
            warnings.warn(
                "XLA decides this when it first asks for GPUs: set the environment "
                f"variable XLA_PYTHON_CLIENT_PREALLOCATE={wanted} for the program",
                stacklevel=2,
            )

    @staticmethod
    def get_memory_growth(device: Any) -> bool:
        """Whether XLA takes the memory of a GPU as it needs it, and not most at once.

        Raises ValueError for what is no GPU.
        """
        if not _is_gpu(device):
            raise ValueError(
                f"{device!r} has no setting for the growth of its memory: only GPUs "
                "have. Loop over tf.config.list_physical_devices('GPU')"
            )
        said = os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "true")
        return said.lower() in ("false", "0")

    @staticmethod
    def get_memory_info(device: str) -> dict[str, int]:
        """The bytes that are used on a device now, ``current``, and at most, ``peak``.

        Takes a name, as ``"GPU:0"``. Raises ValueError where XLA does not know, as of
        the CPU, or there is no such device.
        """
        found = device_of_jax(device)
        if found is None:
            there = list_logical_devices()
            raise ValueError(f"there is no device {device!r}; there are: {there}")
        known = found.memory_stats()
        if not known:
            raise ValueError(f"what is used of the memory of {device!r} is not known")
        current = known["bytes_in_use"]
        return {"current": current, "peak": known.get("peak_bytes_in_use", current)}

    @staticmethod
    def get_device_details(device: Any) -> dict[str, Any]:
        """What is known of a device beyond its name: the ``device_name`` of a GPU."""
        if not _is_gpu(device):
            return {}
        found = device_of_jax(device.name.replace("physical_", ""))
        details = {"device_name": found.device_kind}
        capability = getattr(found, "compute_capability", None)
        if capability is not None:
            details["compute_capability"] = tuple(map(int, str(capability).split(".")))
        return details

    @staticmethod
    def enable_op_determinism() -> None:
        """Accepted: operations give the same results each time as it is."""

    @staticmethod
    def get_synchronous_execution() -> bool:
        """True: an operation is done when Python goes on."""
        return True

    @staticmethod
    def set_synchronous_execution(enable: bool) -> None:
        """Accepted: an operation is done when Python goes on."""


def _is_gpu(device: Any) -> bool:
    return getattr(device, "device_type", None) == "GPU"
