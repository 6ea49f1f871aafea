"""Where along an axis the extremes are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Export
from runtime.core.tensor import EagerTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import int_argument
from runtime.ops.convert import as_tensor
from runtime.ops.derivatives import without_gradient
from runtime.ops.eager import attempt
from runtime.ops.operands import define, run
from runtime.ops.reduce.reductions import reduced
from runtime.ops.shapes import dims_of, known_int, normal_axis, show, spec

Array = np.ndarray[Any, Any]


def _place(name: str, function: Callable[..., Any]) -> None:
    def kernel(x: Array, *, axis: int, output_type: DType) -> Any:
        if not x.shape[normal_axis(axis, x.ndim)]:
            raise ValueError
        return function(x, axis).astype(output_type.np_dtype, copy=False)

    define(
        name,
        kernel,
        _infer_place,
        takes="fiub",
        family="reduction",
        export=Export(inputs=((-1, "axis", "dimension"),)),
    )


def _infer_place(x: TensorSpec, *, axis: Any, output_type: DType) -> TensorSpec:
    dims, place = dims_of(x), known_int(axis)
    if dims is not None and place is not None:
        reduced(dims, place, False)
        if dims[place] == 0:
            raise InvalidArgumentError(
                f"axis {place} of the shape {show(dims)} is empty: it has no extreme"
            )
    return spec(reduced(dims, axis, False), output_type)


_PLACES = {"ArgMax": np.ndarray.argmax, "ArgMin": np.ndarray.argmin}

_place("ArgMax", np.argmax)
_place("ArgMin", np.argmin)


def argmax(
    input: Any,
    axis: Any = None,
    output_type: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """The index of the largest element along `axis` (the first axis if None).

    >>> print(argmax([1, 5, 2]))
    tf.Tensor(1, shape=(), dtype=int64)
    """
    return _run_place("ArgMax", input, axis, output_type, name)


def argmin(
    input: Any,
    axis: Any = None,
    output_type: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """The index of the smallest element along `axis` (the first axis if None)."""
    return _run_place("ArgMin", input, axis, output_type, name)


without_gradient("ArgMax", "ArgMin")


def _run_place(
    op: str, input: Any, axis: Any, output_type: Any, name: str | None
) -> Any:
    place = 0 if axis is None else int_argument(axis, "axis")
    found = as_dtype(output_type)
    if type(input) is EagerTensor and current_graph() is None and type(place) is int:
        array = input._array
        if array.dtype.kind in "fiub" and array.ndim:
            index = attempt(_PLACES[op], array, place)
            if index is not None and index._array.dtype is found.np_dtype:
                return index
    return run(op, as_tensor(input), axis=place, output_type=found, name=name)
