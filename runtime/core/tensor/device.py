"""Tensors whose value lies where a compiler left it: perhaps in another memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from runtime.core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnavailableError,
)
from runtime.core.tensor.eager import EagerTensor
from runtime.core.types.devices import device_of_jax, known_devices, place_of
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec

Array = np.ndarray[Any, Any]

#: Where an eager tensor keeps its array, and this one what stands for it.
_slot: Any = EagerTensor.__dict__["_array"]
_keep = _slot.__set__
#: The array of JAX of a tensor, without a step of Python's between.
held_by = _slot.__get__


@contextmanager
def explained_errors() -> Iterator[None]:
    """Within the block errors of JAX about devices and processes say what to do."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        text = str(error)
        if text.startswith("RESOURCE_EXHAUSTED: "):
            _, _, reason = text.partition(": ")
            raise ResourceExhaustedError(
                f"a device has not the memory for this: {reason.rstrip('. ')}. Smaller "
                "batches need less, and so does tf.recompute_grad around what is "
                "differentiated; tf.config.experimental.get_memory_info says what is "
                "used"
            ) from None
        if "incompatible devices" in text:
            raise InvalidArgumentError(
                "arguments and variables lie on several devices: call the function "
                "within tf.device(name), which takes them to one, or copy tensors by "
                ".gpu() and .cpu()"
            ) from None
        if "non-addressable" in text:
            raise FailedPreconditionError(
                "parts of the value are on devices of other processes: "
                "tf.experimental.dtensor.relayout to a replicated layout brings it "
                "here, unpack gives the parts of this process"
            ) from None
        if any(sign in text for sign in _SIGNS_OF_LOSS):
            raise UnavailableError(
                "another process of the program is gone, or cannot be reached; start "
                f"all of them again from the last checkpoint ({text})"
            ) from error
        raise


#: What the libraries for collectives say when the other end is gone.
_SIGNS_OF_LOSS = ("Gloo", "NCCL", "Connection closed", "Socket closed", "heartbeat")


class DeviceTensor(EagerTensor):
    """An eager tensor that comes to NumPy's memory when somebody asks for its value.

    It holds an array of JAX. The quick ways of operations take the class `EagerTensor`
    alone; the general ones ask for ``_array``, which JAX copies once and keeps.
    """

    __slots__ = ()

    def __init__(self, held: Any) -> None:
        _keep(self, held)

    @property
    def held(self) -> Any:
        """The array of JAX."""
        return held_by(self)

    @property
    def _array(self) -> Array:  # type: ignore[override]
        with explained_errors():
            return np.asarray(held_by(self))

    @property
    def device(self) -> str:
        """The device that holds the value; several with commas between."""
        return place_of(self.held)

    def cpu(self) -> EagerTensor:
        """The tensor in the memory of the CPU: itself, if it is there."""
        is_there = all(device.platform == "cpu" for device in self.held.devices())
        return self if is_there else EagerTensor(self._array)

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """The tensor on a GPU: itself, if it is there. Raises RuntimeError without."""
        return on_gpu(self.held, gpu_index)

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape.of_dims(self.held.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return as_dtype(self.held.dtype)

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype as one record."""
        return TensorSpec(self.shape, self.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        ndim: int = self.held.ndim
        return ndim


def on_gpu(array: Any, index: int) -> DeviceTensor:
    """An array on a GPU. Raises RuntimeError where there is none of that number."""
    found = device_of_jax(f"/GPU:{index}")
    if found is None:
        there = [f"{kind}:{number}" for kind, number in known_devices()]
        raise RuntimeError(f"no device GPU:{index}: there are {', '.join(there)}")
    return DeviceTensor(sys.modules["jax"].device_put(array, found))
