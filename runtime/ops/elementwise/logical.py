"""Logical and bitwise operations, and bits as numbers of another type."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.errors import DTypeMismatchError, InvalidArgumentError
from runtime.core.graph.record import Export
from runtime.core.tensor import OperatorMixin, Tensor, operators
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import as_tensor, convert_to_tensor
from runtime.ops.derivatives import without_gradient
from runtime.ops.elementwise.arithmetic import not_equal
from runtime.ops.elementwise.factories import (
    BOOL,
    INTEGERS,
    BinaryFunction,
    binary_function,
    binary_op,
    unary_function,
    unary_op,
)
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, show, spec

Array = np.ndarray[Any, Any]


def _shift_count(x: Array, y: Array) -> Array:
    """The count, with what is outside of the width moved to its ends."""
    return np.clip(y, 0, x.dtype.itemsize * 8 - 1).astype(y.dtype)


def _left_shift(x: Array, y: Array) -> Any:
    return np.left_shift(x, _shift_count(x, y))


def _right_shift(x: Array, y: Array) -> Any:
    return np.right_shift(x, _shift_count(x, y))


def _shifted(shift: Callable[[int, int], int]) -> Callable[[int, int], int]:
    """The shift of Python ints; what needs more than 64 bits must not take long."""

    def exact(x: int, y: int) -> int:
        if y < 0:
            raise InvalidArgumentError("negative shift count")
        return shift(x, min(y, 64))

    return exact


for _op in ("And", "Or", "Xor"):
    _kernel = getattr(np, f"bitwise_{_op.lower()}")
    binary_op(f"Bitwise{_op}", _kernel, INTEGERS, is_symmetric=True)
_EXPORT = Export(output="z", types=())
binary_op("LogicalAnd", np.logical_and, BOOL, is_symmetric=True, export=_EXPORT)
binary_op("LogicalOr", np.logical_or, BOOL, is_symmetric=True, export=_EXPORT)
unary_op("LogicalNot", np.logical_not, BOOL, export=Export(output="y", types=()))
binary_op("LeftShift", _left_shift, INTEGERS, exact=_shifted(operator.lshift))
binary_op("RightShift", _right_shift, INTEGERS, exact=_shifted(operator.rshift))
unary_op("Invert", np.invert, INTEGERS)

logical_and = binary_function(
    "logical_and", "LogicalAnd", "``x and y`` of bools, elementwise; both are computed."
)
logical_or = binary_function(
    "logical_or", "LogicalOr", "``x or y`` of bools, elementwise; both are computed."
)
logical_not = unary_function("logical_not", "LogicalNot", "``not x`` of bools.")
bitwise_and = binary_function("bitwise_and", "BitwiseAnd", "``x & y`` of integers.")
bitwise_or = binary_function("bitwise_or", "BitwiseOr", "``x | y`` of integers.")
bitwise_xor = binary_function("bitwise_xor", "BitwiseXor", "``x ^ y`` of integers.")
left_shift = binary_function("left_shift", "LeftShift", "``x << y`` of integers.")
right_shift = binary_function("right_shift", "RightShift", "``x >> y`` of integers.")
invert = unary_function("invert", "Invert", "``~x`` of integers.", is_operator=True)

without_gradient(
    *("LogicalAnd", "LogicalOr", "LogicalNot", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    *("Invert", "LeftShift", "RightShift"),
)


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """Whether exactly one of the bools `x` and `y` is true."""
    left = convert_to_tensor(x, None if isinstance(x, Tensor) else dtypes.bool)
    if left.dtype is not dtypes.bool:
        raise DTypeMismatchError(
            f"the dtype {left.dtype.name} is not one that it takes: bool"
        ).for_op("LogicalXor")
    # Two bools differ where exactly one is true.
    return not_equal(left, y, name)


# --- bits -----------------------------------------------------------------------------


def _infer_bitcast(x: TensorSpec, *, type: DType) -> TensorSpec:
    if not type.is_numeric:
        raise DTypeMismatchError(f"the bits of {type.name} are not those of a number")
    dims, old, new = dims_of(x), x.dtype.size, type.size
    if dims is not None and new > old:
        if not dims or dims[-1] not in (new // old, None):
            raise InvalidArgumentError(
                f"the last of {show(dims)} must be {new // old} elements of "
                f"{x.dtype.name} for each {type.name}"
            )
        dims = dims[:-1]
    elif dims is not None and new < old:
        dims = (*dims, old // new)
    return spec(dims, type)


def _bitcast(x: Array, *, type: DType) -> Array:
    old, new = x.dtype.itemsize, type.size
    if not type.is_numeric or (new > old and x.shape[-1] * old != new):
        raise ValueError
    found = np.ascontiguousarray(x if new > old else x[..., None]).view(type.np_dtype)
    return found if new < old else found[..., 0]


define("Bitcast", _bitcast, _infer_bitcast, takes="fiuc", family="movement")
without_gradient("Bitcast")


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bits of a tensor of numbers, read as those of another type.

    The last axis is that of the elements which make one number of a longer type, or
    which a number is divided into.

    >>> bitcast([1.0, -2.0], "int32").numpy().tolist()
    [1065353216, -1073741824]
    >>> bitcast([1.0, -2.0], "uint16").numpy().tolist()
    [[0, 16256], [0, 49152]]
    """
    result: Tensor = run("Bitcast", as_tensor(input), type=as_dtype(type), name=name)
    return result


# --- operators ------------------------------------------------------------------------


def _by_dtype(logical: BinaryFunction, bitwise: BinaryFunction, name: str) -> Any:
    """An operator that is logical for bools and bitwise for integers."""

    def function(x: Any, y: Any) -> Any:
        owner: Any = x if isinstance(x, OperatorMixin) else y
        of_dtype = logical if owner.dtype is dtypes.bool else bitwise
        return of_dtype(x, y, name)

    return function


def _invert_operator(x: Any) -> Tensor:
    return logical_not(x) if x.dtype is dtypes.bool else invert(x)


operators.bind(
    and_=_by_dtype(logical_and, bitwise_and, "and"),
    or_=_by_dtype(logical_or, bitwise_or, "or"),
    xor=_by_dtype(logical_xor, bitwise_xor, "xor"),
    invert=_invert_operator,
    lshift=left_shift,
    rshift=right_shift,
)
