"""`type_spec_from_value`: what a value looks like as a tensor."""

from __future__ import annotations

from typing import Any

from runtime.errors import ConversionError
from runtime.ops.convert import convert_to_tensor
from runtime.specs import TensorSpec

__all__ = ["type_spec_from_value"]


def type_spec_from_value(value: Any) -> TensorSpec:
    """The spec of a tensor, or of what can become one. Raises TypeError.

    >>> type_spec_from_value([1.5, 2.5])
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """
    if isinstance(value, TensorSpec):
        return value
    try:
        tensor = convert_to_tensor(value)
    except ConversionError:
        raise TypeError(
            f"{value!r} of type {type(value).__name__} has no spec: it cannot become a "
            "tensor; tf.nest.map_structure takes structures apart"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)
