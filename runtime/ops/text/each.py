"""What the operations on strings share: kernels that treat one string at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.shapes import dims_of, spec

Array = np.ndarray[Any, Any]


def each(
    function: Callable[..., Any], *arrays: Array, numpy_type: Any = object
) -> Array:
    """An array of what `function` gives for the elements, which broadcast."""
    inputs = np.broadcast_arrays(*arrays) if len(arrays) > 1 else arrays
    result = np.empty(inputs[0].shape, numpy_type)
    result.reshape(-1)[:] = [
        function(*items) for items in zip(*(array.ravel().tolist() for array in inputs))
    ]
    return result


def infer_same(x: TensorSpec, **attrs: Any) -> TensorSpec:
    """The spec of strings that stand where the elements of `x` do."""
    return spec(dims_of(x), dtypes.string)


def text_array(value: bytes) -> Array:
    """A string as an array of rank 0."""
    array: Array = np.empty((), object)
    array[()] = value
    return array


def text_vector(values: list[bytes]) -> Array:
    """Strings as a vector."""
    array: Array = np.empty(len(values), object)
    array[:] = values
    return array
