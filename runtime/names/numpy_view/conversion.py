"""Operands of NumPy's view as tensors, with the dtypes of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import runtime as tf
from runtime.core.types.dtypes import DType
from runtime.staging.builtins import numpy_functions

Function = Callable[..., Any]

_NUMBERS = (bool, int, float, complex)


def table(name: str) -> Function:
    """What computes a function of NumPy in graphs, which takes eager tensors, too."""
    return numpy_functions.FUNCTIONS[f"numpy.{name}"]


def as_dtype(dtype: Any) -> DType:
    """A dtype: Python's ``float`` has 64 bits, as in NumPy."""
    return dtype if isinstance(dtype, DType) else tf.as_dtype(np.dtype(dtype))


def asarray(a: Any, dtype: Any = None) -> Any:
    """A tensor of the value: numbers of Python have 64 bits."""
    array = numpy_functions.as_array(a)
    return array if dtype is None else tf.cast(array, as_dtype(dtype))


def inexact(x: Any) -> Any:
    """A tensor of floats or complex numbers: those of integers are float64."""
    array = asarray(x)
    return array if array.dtype.kind in "fc" else tf.cast(array, tf.float64)


def _example(value: Any) -> Any:
    """What has an operand's dtype for NumPy: lists of numbers adapt as numbers."""
    array = asarray(value)
    if isinstance(value, _NUMBERS) or (
        isinstance(value, (list, tuple))
        and all(isinstance(item, _NUMBERS) for item in tf.nest.flatten(value))
    ):
        return {"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1j}[array.dtype.kind]
    return numpy_functions.example(array)


def common_dtype(*values: Any) -> DType:
    """The dtype in which operands meet."""
    return tf.as_dtype(np.result_type(*map(_example, values)))


def promoted(*values: Any) -> list[Any]:
    """Operands as tensors of the dtype in which they meet."""
    dtype = common_dtype(*values)
    return [
        # A number that the dtype cannot hold is an error.
        tf.constant(value, dtype)
        if isinstance(value, _NUMBERS)
        else asarray(value, dtype)
        for value in values
    ]


def parts(arrays: Any) -> list[Any]:
    """The tensors to be joined, of one dtype; the rows of a tensor are such, too."""
    return promoted(*(tf.unstack(arrays) if tf.is_tensor(arrays) else arrays))


def axis_of(array: Any, axis: int) -> int:
    """The number of an axis from the front. Raises ValueError if there is none."""
    rank = len(array.shape)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for {rank} dimensions")
    return axis % rank


def along(array: Any, axis: int, start: Any = None, stop: Any = None) -> Any:
    """``array[start:stop]`` of an axis."""
    return array[(slice(None),) * axis_of(array, axis) + (slice(start, stop),)]
