"""The dtypes of results, by Keras's rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from keras.src.backend import config, standardize_dtype
from keras.src.backend.common.dtypes import result_type

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor

_SUMS = {"bool": "int32", "int8": "int32", "int16": "int32"} | {
    "uint8": "uint32",
    "uint16": "uint32",
}


def dtype_of(x: Any) -> str:
    """The dtype of a tensor by its name."""
    name: str = standardize_dtype(x.dtype)
    return name


def is_exact(x: Any) -> bool:
    """Whether the elements are integers or bools."""
    return "int" in dtype_of(x) or dtype_of(x) == "bool"


def common_dtype(*values: Any) -> str:
    """The dtype in which tensors, Python numbers and types meet."""
    name: str = result_type(*[getattr(value, "dtype", value) for value in values])
    return name


def together(*values: Any, at_least: Any = None) -> list[Any]:
    """Operands as tensors of one dtype; Python numbers give way to tensors."""
    found = [
        value if isinstance(value, (int, float)) else convert_to_tensor(value)
        for value in values
    ]
    kinds = [
        type(value) if isinstance(value, (int, float)) else value.dtype
        for value in found
    ]
    if at_least is not None:
        kinds.append(at_least)
    dtype = result_type(*kinds)
    return [convert_to_tensor(value, dtype) for value in found]


def as_float(x: Any) -> Any:
    """A tensor of floating point (or complex) numbers."""
    x = convert_to_tensor(x)
    if dtype_of(x) == "int64":
        return tf.cast(x, config.floatx())
    return convert_to_tensor(x, result_type(x.dtype, float))


def as_number(x: Any) -> Any:
    """A tensor, with integers in the place of bools."""
    x = convert_to_tensor(x)
    return tf.cast(x, "int32") if dtype_of(x) == "bool" else x


def widened(x: Any) -> Any:
    """A tensor of the dtype in which its elements are added up."""
    x = convert_to_tensor(x)
    return convert_to_tensor(x, _SUMS.get(dtype_of(x)))


def in_float(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose first operand is a tensor in floating point."""

    @functools.wraps(function)
    def compute(x: Any, *args: Any, **kwargs: Any) -> Any:
        return function(as_float(x), *args, **kwargs)

    return compute


def in_common(function: Callable[..., Any], at_least: Any = None) -> Callable[..., Any]:
    """A function of two operands, computed in the dtype of both."""
    return lambda x1, x2: function(*together(x1, x2, at_least=at_least))
