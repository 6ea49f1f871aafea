"""The devices there are, and the scopes that ask for one: ``tf.device``.

NumPy has one device, the CPU of this process. Others are those of JAX, whose functions
run there. JAX is asked only where it may have some: a plugin for them is installed, or
the environment divides the CPU. A scope is recorded on the nodes of graphs; a scope for
a device that is missing means the CPU, or is an error where soft placement is off.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
import warnings
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from runtime.core.errors import InvalidArgumentError, UnimplementedError

#: The device that holds all values, by its full name.
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"

_PART = re.compile(
    r"job:(?P<job>[A-Za-z]\w*)"
    r"|replica:(?P<replica>\d+)"
    r"|task:(?P<task>\d+)"
    r"|(device:(?P<device>[A-Za-z]\w*)|(?P<short>cpu|gpu|tpu))(:(?P<index>\d+|\*))?",
    re.IGNORECASE,
)
_FORMS = (
    "'/cpu:0', 'CPU:0', '/device:CPU:0', "
    "'/job:localhost/replica:0/task:0/device:CPU:0' or a part of that"
)


@dataclass(frozen=True)
class DeviceSpec:
    """The name of a device, or a part of one, taken to pieces.

    >>> DeviceSpec.from_string("/job:localhost/cpu:0")
    DeviceSpec(job='localhost', replica=None, task=None, device_type='CPU',
    device_index=0)
    >>> DeviceSpec(device_type="GPU", device_index=1).to_string()
    '/device:GPU:1'
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """The name in pieces. Raises ValueError if it is none.

        >>> DeviceSpec.from_string("/cpu0")
        Traceback (most recent call last):
            ...
        ValueError: '/cpu0' is not the name of a device: write '/cpu:0', ...
        """
        found: dict[str, Any] = {}
        for part in spec.removeprefix("/").split("/") if spec else ():
            match = _PART.fullmatch(part)
            pieces = {} if match is None else _pieces(match)
            if not pieces or pieces.keys() & found:
                raise ValueError(
                    f"{spec!r} is not the name of a device: write {_FORMS}"
                )
            found.update(pieces)
        return cls(**found)

    def to_string(self) -> str:
        """The name, in full where all pieces are there."""
        text = "" if self.job is None else f"/job:{self.job}"
        if self.replica is not None:
            text += f"/replica:{self.replica}"
        if self.task is not None:
            text += f"/task:{self.task}"
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            text += f"/device:{self.device_type}:{index}"
        return text

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """The name with the pieces that `dev` has in place of its own."""
        given = {k: v for k, v in dataclasses.asdict(dev).items() if v is not None}
        if dev.device_type is not None:
            given["device_index"] = dev.device_index
        return dataclasses.replace(self, **given)

    def replace(self, **pieces: Any) -> DeviceSpec:
        """The name with other pieces."""
        return dataclasses.replace(self, **pieces)


def _pieces(match: re.Match[str]) -> dict[str, Any]:
    """The pieces that one part of a name gives."""
    found: dict[str, Any] = {
        name: int(text) if name != "job" else text
        for name in ("job", "replica", "task")
        if (text := match[name]) is not None
    }
    kind = match["device"] or match["short"]
    if kind is not None:
        index = match["index"]
        found["device_type"] = kind.upper()
        found["device_index"] = None if index in (None, "*") else int(index)
    return found


# --- the devices of JAX ---------------------------------------------------------------

_DIVIDES_CPU = "xla_force_host_platform_device_count"


@cache
def _has_plugin() -> bool:
    """Whether JAX is installed with what it needs for other devices than the CPU."""
    plugins = ("jax_plugins", "libtpu")
    return find_spec("jax") is not None and any(map(find_spec, plugins))


def _may_have(kind: str) -> bool:
    if kind != "CPU":
        return _has_plugin()
    divided = _DIVIDES_CPU in os.environ.get("XLA_FLAGS", "")
    return divided and find_spec("jax") is not None


def divide_cpu(count: int) -> None:
    """Have JAX, which has no devices yet, make several of the CPU."""
    if find_spec("jax") is None:
        raise UnimplementedError(
            "JAX divides the CPU, and is not installed: "
            "pip install 'autograph-compiler[xla]'"
        )
    if "jax" in sys.modules:  # Keras imports it where Orbax is installed.
        try:
            sys.modules["jax"].config.update("jax_num_cpu_devices", count)
        except (AttributeError, RuntimeError) as error:
            raise RuntimeError(
                f"JAX has devices, and virtual ones cannot be modified from then on: "
                f"divide the CPU at the beginning of the program ({error})"
            ) from None
        return
    flags = os.environ.get("XLA_FLAGS", "").split()
    kept = [flag for flag in flags if _DIVIDES_CPU not in flag]
    os.environ["XLA_FLAGS"] = " ".join([*kept, f"--{_DIVIDES_CPU}={count}"])


def devices_of_jax(kind: str) -> list[Any]:
    """The devices of JAX of a kind, as ``"GPU"``, in this process; imports JAX."""
    try:
        found: list[Any]
        found = importlib.import_module("jax").local_devices(backend=kind.lower())
        return found
    except (ImportError, RuntimeError):  # there is no such backend
        return []


def known_devices(kind: str | None = None) -> list[tuple[str, int]]:
    """The kinds and numbers of the devices there are, all or those of one kind."""
    found = []
    for each in ("CPU", "GPU", "TPU"):
        if kind in (None, each):
            count = len(devices_of_jax(each)) if _may_have(each) else each == "CPU"
            found += [(each, number) for number in range(count)]
    return found


@cache
def device_of_jax(name: str) -> Any:
    """The device of JAX that a name means; None if it names none that there is."""
    spec = DeviceSpec.from_string(name)
    found = devices_of_jax(spec.device_type) if spec.device_type else []
    index = spec.device_index or 0
    return found[index] if index < len(found) else None


def place_of(array: Any) -> str:
    """The full name of the device of an array of JAX; several with commas between."""
    names = []
    for device in sorted(array.devices(), key=lambda device: device.id):
        kind = device.platform.upper()
        own = devices_of_jax(kind)
        index = own.index(device) if device in own else device.id
        names.append(CPU.replace("CPU:0", f"{kind}:{index}"))
    return ",".join(names)


def _is_there(spec: DeviceSpec) -> bool:
    """Whether a device goes by this name."""
    for kind, index in known_devices(spec.device_type):
        ours = DeviceSpec("localhost", 0, 0, kind, index)
        pairs = zip(dataclasses.astuple(spec), dataclasses.astuple(ours))
        if all(asked in (None, known) for asked, known in pairs):
            return True
    return False


# --- scopes ---------------------------------------------------------------------------

requested_device: ContextVar[str] = ContextVar("device", default="")
#: What was requested around each scope that is open here: scopes are shared by threads.
_outer: ContextVar[tuple[str, ...]] = ContextVar("outer devices", default=())
_soft_placement = True
#: The missing devices that were warned of.
_warned: set[str] = set()

#: The device that the scopes in force ask for, '' where none does. (The bare C function
#: of the variable: every node asks.)
current_device = requested_device.get


class device:  # noqa: N801
    """Within the block functions on XLA run on the device of that name.

    Their arguments and variables are taken there, and the results stay. All else runs
    on the CPU; nodes of graphs record what was asked for. Names can be partial, and are
    completed by those of the scopes around; None forgets these.

    Raises:
        ValueError: it is not the name of a device.
        InvalidArgumentError: there is no such device, and soft placement is off
            (``tf.config.set_soft_device_placement(False)``). While it is on, as at
            first, the CPU computes, and a missing device is warned of once.

    >>> with device("/cpu:0"):
    ...     current_device()
    '/device:CPU:0'
    """

    def __init__(self, device_name: str | DeviceSpec | None) -> None:
        self._name = device_name

    def __enter__(self) -> None:
        name = _full_name(self._name)
        _outer.set((*_outer.get(), requested_device.get()))
        requested_device.set(name)

    def __exit__(self, *raised: object) -> None:
        *outer, name = _outer.get()
        _outer.set(tuple(outer))
        requested_device.set(name)


def _full_name(name: Any) -> str:
    """What a scope asks for, within those around it."""
    if name is None:
        return ""
    if not isinstance(name, (str, DeviceSpec)):
        raise TypeError(
            f"tf.device takes the name of a device ({_FORMS}) or None, not {name!r}"
        )
    spec = DeviceSpec.from_string(name) if isinstance(name, str) else name
    if not _is_there(spec):
        asked = name if isinstance(name, str) else spec.to_string()
        # Another machine is never this one.
        place = dataclasses.replace(spec, device_type=None, device_index=None)
        _note_missing(asked, _soft_placement and _is_there(place))
    outer = DeviceSpec.from_string(requested_device.get())
    return outer.make_merged_spec(spec).to_string()


def _note_missing(asked: str, is_soft: bool) -> None:
    """Warn of a device that there is not, once; raise if the CPU may not compute."""
    known = [repr(CPU.replace("CPU:0", f"{k}:{i}")) for k, i in known_devices()]
    text = f"there is no device {asked!r}: the devices are {', '.join(known)}. "
    if not is_soft:
        raise InvalidArgumentError(
            f"{text}Ask tf.config.list_physical_devices first, or let such scopes mean "
            "the CPU with tf.config.set_soft_device_placement(True)"
        )
    if asked not in _warned:
        _warned.add(asked)
        warnings.warn(
            f"{text}The CPU computes in its place; with "
            "tf.config.set_soft_device_placement(False) it is an error",
            stacklevel=4,
        )


def set_soft_device_placement(enabled: bool) -> None:
    """Whether a scope for a device that is missing means the CPU, as it does at first.

    >>> set_soft_device_placement(False)
    >>> with device("/gpu:0"):
    ...     pass
    Traceback (most recent call last):
    runtime.core.errors.InvalidArgumentError: there is no device '/gpu:0': ...
    >>> set_soft_device_placement(True)
    """
    global _soft_placement
    _soft_placement = bool(enabled)


def get_soft_device_placement() -> bool:
    """Whether a scope for a device that is missing means the CPU."""
    return _soft_placement
