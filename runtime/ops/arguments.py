"""Arguments of the public functions that become attributes: shapes, axes, sizes.

Each helper takes what a program may write (a Python int, a list that mixes ints and
tensors, a tensor, a NumPy array, a `TensorShape`) and gives an attribute for
`operands.run`, or raises the error that says which argument is wrong and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.errors import ConversionError, InvalidArgumentError
from runtime.core.tensor import EagerTensor, SymbolicTensor, Tensor
from runtime.core.types.shapes import TensorShape
from runtime.ops.convert import convert_to_tensor, promote_all
from runtime.ops.static import plain

#: The type of what needs no closer look, for ``INTS.issuperset(map(type, values))``.
INTS = frozenset({int})


def int_argument(value: Any, what: str) -> Any:
    """An int, or a symbolic scalar. Raises if `value` is not an integer scalar."""
    if type(value) is int:
        return value
    if isinstance(value, (bool, np.bool_, str, float)) or value is None:
        raise ConversionError(f"{what} must be an integer, not {value!r}")
    if isinstance(value, (int, np.integer)):
        return int(value)
    tensor = _integers(value, what)
    if tensor.shape.rank not in (0, None):
        raise InvalidArgumentError(
            f"{what} must be a scalar, not a tensor of shape {tensor.shape}"
        )
    return tensor if isinstance(tensor, SymbolicTensor) else plain(_array(tensor))


def ints_argument(value: Any, what: str) -> Any:
    """A tuple of ints and symbolic scalars, or one symbolic vector."""
    if isinstance(value, (list, tuple)):
        if INTS.issuperset(map(type, value)):
            return tuple(value)
        return tuple([int_argument(item, what) for item in value])
    tensor = _integers(value, what)
    if tensor.shape.rank not in (1, None):
        raise InvalidArgumentError(
            f"{what} must be a vector, not a tensor of shape {tensor.shape}"
        )
    return tensor if isinstance(tensor, SymbolicTensor) else plain(_array(tensor))


def shape_argument(shape: Any, what: str = "shape") -> Any:
    """A shape: as `ints_argument`, and a lone int or scalar is one dimension."""
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ConversionError(
                f"the {what} {shape} is not fully known here; use tf.shape(x) for the "
                "shape that x has when the function runs"
            )
        return tuple(shape)
    if isinstance(shape, (list, tuple)):
        if INTS.issuperset(map(type, shape)):
            return tuple(shape)
        if any(item is None for item in shape):
            raise ConversionError(
                f"the {what} {tuple(shape)} has an unknown dimension; use "
                "tf.shape(x)[axis] for the length that x has when the function runs"
            )
        return ints_argument(shape, what)
    if type(shape) is int and 0 <= shape < 2**31:
        return (shape,)
    tensor = _integers(shape, what)
    if tensor.shape.rank == 0:
        return (int_argument(tensor, what),)
    return ints_argument(tensor, what)


def axes_argument(axis: Any) -> Any:
    """None, an int, a tuple of ints, or a symbolic tensor with one axis or several."""
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, (list, tuple)):
        return ints_argument(axis, "axis")
    tensor = _integers(axis, "axis")
    if tensor.shape.rank == 0:
        return int_argument(tensor, "axis")
    return ints_argument(tensor, "axis")


def together(
    values: Sequence[Any], op: str, name: str | None, keep_weak: bool = False
) -> list[Any]:
    """The operands of an op as tensors of one dtype: quick where they are that already.

    With `keep_weak`, what stands for Python numbers alone does so still. Raises
    DTypeMismatchError.
    """
    first = values[0]
    if type(first) is EagerTensor:
        kind = first._array.dtype
        for value in values:
            if type(value) is not EagerTensor or value._array.dtype is not kind:
                break
        else:
            return list(values)
    if isinstance(first, Tensor):
        dtype = first.dtype
        for value in values:
            if not isinstance(value, Tensor) or value.dtype is not dtype:
                break
            if value.spec.weak:
                break
        else:
            return list(values)
    return promote_all(values, op, None, name, keep_weak)


def _integers(value: Any, what: str) -> Tensor:
    tensor = convert_to_tensor(value)
    if not tensor.dtype.is_integer:
        raise ConversionError(f"{what} must be of integers, not {tensor.dtype.name}")
    return tensor


def _array(tensor: Any) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = tensor._array
    return array
