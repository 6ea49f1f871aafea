"""Python's integers in a graph: 64 bits wide, and checked.

A weak integer stands for an int of Python, which grows where int64 would wrap around.
So an operation on weak integers whose result may lie outside of 64 bits raises
IntegerRangeError (AG216) there, and so does a weak integer that takes a dtype which
cannot hold it. `kernel_of` gives the kernel that a node runs by.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from runtime.core.errors import IntegerRangeError, InvalidArgumentError
from runtime.core.graph import Node
from runtime.core.graph.record import RESULT, Export, Op, get, register
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import cast
from runtime.ops.derivatives import Applied, linear

Array = np.ndarray[Any, Any]


def _checking(dtype: DType) -> Callable[[int], int]:
    lowest, highest = dtype.limits

    def check(number: int) -> int:
        if lowest <= number <= highest:
            return number
        raise IntegerRangeError.of(number, dtype.name)

    return check


as_int8 = _checking(dtypes.int8)
as_int16 = _checking(dtypes.int16)
as_int32 = _checking(dtypes.int32)
as_int64 = _checking(dtypes.int64)
as_uint8 = _checking(dtypes.uint8)
as_uint16 = _checking(dtypes.uint16)
as_uint32 = _checking(dtypes.uint32)
as_uint64 = _checking(dtypes.uint64)

#: By the names of integer dtypes, what gives an int back that the dtype holds, and
#: raises for others.
CHECKS = {
    "int8": as_int8,
    "int16": as_int16,
    "int32": as_int32,
    "int64": as_int64,
    "uint8": as_uint8,
    "uint16": as_uint16,
    "uint32": as_uint32,
    "uint64": as_uint64,
}


# --- operations whose results may not fit


def is_exact(node: Node) -> bool:
    """Whether the node computes a Python int that may need more than 64 bits."""
    if get(node.op).exact is None or len(node.outputs) != 1:
        return False
    spec = node.outputs[0].spec
    return spec.weak and spec.dtype.is_integer


def kernel_of(node: Node) -> Callable[..., Any]:
    """The kernel of a node: of Python ints the one that checks its results."""
    return exact_kernel(node.op) if is_exact(node) else get(node.op).kernel


@cache
def exact_kernel(name: str) -> Callable[..., Any]:
    """The kernel of an op for weak integers."""
    definition = get(name)
    exact = definition.exact
    assert exact is not None

    def of_arrays(*arrays: Any) -> Any:
        # Arrays of objects compute with Python's own ints.
        result = definition.kernel(*(np.asarray(a).astype(object) for a in arrays))
        return _cast_exactly(np.asarray(result, object), dtypes.int64)

    def kernel(*arrays: Any) -> Any:
        if all(np.ndim(array) == 0 for array in arrays):
            number = exact(*map(int, arrays))
            if -(2**63) <= number < 2**63:
                return np.int64(number)
            raise IntegerRangeError.of(number, "int64")
        numbers = np.broadcast_arrays(*arrays)
        columns = (part.ravel().tolist() for part in numbers)
        results = np.array([exact(*values) for values in zip(*columns)], object)
        return _cast_exactly(results.reshape(numbers[0].shape), dtypes.int64)

    return kernel if definition.family == "elementwise" else of_arrays


# --- dtypes that may not hold a number


def _cast_exactly(array: Array, dtype: DType) -> Array:
    values = np.asarray(array)
    if dtype.is_integer:
        for value in (values.min(), values.max()) if values.size else ():
            CHECKS[dtype.name](int(value))
        return values.astype(dtype.np_dtype)
    kind: Any = dtype.np_dtype.type
    limit = 2 ** (np.finfo(dtype.np_dtype).nmant + 1)
    for value in values[(values > limit) | (values < -limit)].ravel().tolist():
        if kind(value).item() != value:
            raise InvalidArgumentError(
                f"AG206: a variable that is {of_array(values).name} on one path and "
                f"{dtype.name} on another is {value}, which {dtype.name} would round; "
                "tf.cast it to a wider dtype"
            )
    return values.astype(dtype.np_dtype)


register(
    Op(
        "CastExactly",
        _cast_exactly,
        lambda spec, dtype: TensorSpec(spec.shape, dtype),
        strong=True,
        family="elementwise",
        export=Export(
            "Cast", types=(("DstT", RESULT), ("SrcT", 0)), unwritten=("dtype",)
        ),
    )
)


@linear("CastExactly")
def _cast_exactly_gradient(node: Applied, g: Any) -> Any:
    return [cast(g, node.inputs[0].dtype)]
