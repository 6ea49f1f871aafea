"""How elementwise operations are made: kernels, inference, and the public functions.

An op is defined by its NumPy kernel and the dtypes that it takes::

    binary_op("AddV2", np.add, NUMBERS + STRINGS)
    add = binary_function("add", "AddV2", "Add", doc)

The functions have a fast path: eager operands of one dtype go straight to the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from runtime.core.errors import (
    ConversionError,
    DTypeMismatchError,
    InvalidArgumentError,
)
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Export, Fails, Op, get, register
from runtime.core.location.frames import frame_at
from runtime.core.tensor import EagerTensor, Recorded, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.shapes import TensorShape, broadcast_static_shape
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import apply_one, as_array, infer_specs, record
from runtime.ops.convert import as_tensor, constant, is_tensor, promote
from runtime.ops.eager import FALL_BACK, attempt, quiet
from runtime.ops.values import float_array

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]
DTypes = tuple[DType, ...]

BOOL: DTypes = (dtypes.bool,)
STRINGS: DTypes = (dtypes.string,)
FLOATS: DTypes = (dtypes.float16, dtypes.float32, dtypes.float64)
COMPLEX: DTypes = (dtypes.complex64, dtypes.complex128)
SIGNED: DTypes = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
UNSIGNED: DTypes = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
INTEGERS: DTypes = SIGNED + UNSIGNED
REAL: DTypes = FLOATS + INTEGERS
INEXACT: DTypes = FLOATS + COMPLEX
NUMBERS: DTypes = REAL + COMPLEX
ALL: DTypes = NUMBERS + BOOL + STRINGS


class UnaryFunction(Protocol):
    """A public function of one operand."""

    def __call__(self, x: Any, name: str | None = None) -> Tensor:
        """Compute it."""


class BinaryFunction(Protocol):
    """A public function of two operands."""

    def __call__(self, x: Any, y: Any, name: str | None = None) -> Tensor:
        """Compute it."""


# --- inference ------------------------------------------------------------------------


def check_dtype(spec: TensorSpec, allowed: DTypes) -> None:
    """Raise DTypeMismatchError unless the dtype is among `allowed`."""
    if spec.dtype not in allowed:
        names = ", ".join(dtype.name for dtype in allowed)
        raise DTypeMismatchError(
            f"the dtype {spec.dtype.name} is not one that it takes: {names}"
        )


def broadcast_spec(x: TensorSpec, y: TensorSpec) -> TensorShape:
    """The shape that two operands of one dtype share. Raises InvalidArgumentError."""
    if x.dtype is not y.dtype:
        raise InvalidArgumentError(
            f"the operands have different dtypes, {x.dtype.name} and {y.dtype.name}"
        )
    try:
        return broadcast_static_shape(x.shape, y.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"shapes {x.shape} and {y.shape} do not broadcast"
        ) from None


# --- rules ----------------------------------------------------------------------------


def zero_of(x: Tensor) -> Tensor:
    """The number 0 in the dtype of `x`."""
    return constant(0, x.dtype)


def one_of(x: Tensor) -> Tensor:
    """The number 1 in the dtype of `x`."""
    return constant(1, x.dtype)


# --- definitions ----------------------------------------------------------------------

#: What TensorFlow calls the results.
_UNARY, _BINARY = Export(output="y"), Export(output="z")


def unary_op(
    name: str,
    kernel: Kernel,
    allowed: DTypes,
    result: DType | None = None,
    fails: Fails = Fails.NEVER,
    export: Export = _UNARY,
    **facts: Any,
) -> Op:
    """Register an op of one operand; its result has `result` or the operand's dtype."""

    def infer(x: TensorSpec) -> TensorSpec:
        check_dtype(x, allowed)
        return TensorSpec(x.shape, result or x.dtype)

    facts |= {"takes": allowed, "fails": fails, "export": export}
    return register(Op(name, kernel, infer, family="elementwise", **facts))


def binary_op(
    name: str,
    kernel: Kernel,
    allowed: DTypes,
    result: DType | None = None,
    fails: Fails = Fails.UNFIT,
    export: Export = _BINARY,
    **facts: Any,
) -> Op:
    """Register an op of two operands of one dtype, which broadcast."""

    def infer(x: TensorSpec, y: TensorSpec) -> TensorSpec:
        shape = broadcast_spec(x, y)
        check_dtype(x, allowed)
        return TensorSpec(shape, result or x.dtype)

    facts |= {"takes": allowed, "fails": fails, "export": export}
    return register(Op(name, kernel, infer, family="elementwise", **facts))


# --- functions ------------------------------------------------------------------------

#: The Python ints that an integer dtype holds, by NumPy's number of the dtype.
_RANGES = {dtype.np_dtype.num: range(dtype.min, dtype.max + 1) for dtype in INTEGERS}
_FLOAT_NUMBERS = frozenset(dtype.np_dtype.num for dtype in FLOATS)


#: The types whose values lie in ``_array``: eager tensors; variables join.
array_holders: set[type] = {EagerTensor}


def beside(value: Any, dtype: np.dtype[Any]) -> Array | None:
    """The other operand as an array of `dtype`, where that is a matter of course."""
    kind = type(value)
    if kind is int:
        if value in _RANGES.get(dtype.num, ()) or (
            dtype.num in _FLOAT_NUMBERS and -65504 <= value <= 65504
        ):
            return np.array(value, dtype)
    elif kind is float:
        if dtype.num in _FLOAT_NUMBERS:
            return float_array(value, dtype)
    elif kind in array_holders:
        array: Array = value._array
        return array
    elif kind is bool and dtype.kind == "b":
        return np.array(value)
    elif kind is np.ndarray:
        # What an operation makes of it is a new array: it may be the program's own.
        return value  # type: ignore[no-any-return]
    return None


def eager_operands(x: Any, y: Any) -> tuple[Array, Array] | None:
    """Both operands as arrays of one dtype, if one of them is an eager tensor (or a
    variable outside of graphs) and the other can be taken beside it at once.
    """
    if current_graph() is not None:
        return None
    if type(x) in array_holders:
        a: Array = x._array
        dtype = a.dtype
        b = y._array if type(y) is EagerTensor else beside(y, dtype)
        return None if b is None or b.dtype is not dtype else (a, b)
    if type(y) in array_holders:
        dtype = y._array.dtype
        left = beside(x, dtype)
        return None if left is None or left.dtype is not dtype else (left, y._array)
    return None


def run_quietly(kernel: Kernel, *arrays: Array, **options: Any) -> EagerTensor:
    """The result of a kernel that may meet infinities and NaNs."""
    result = quiet.run(kernel, *arrays, **options)
    return EagerTensor(result if type(result) is np.ndarray else as_array(result))


def promote_or_leave(
    x: Any, y: Any, op: str, name: str | None, reflected: str | None
) -> tuple[Tensor, Tensor] | None:
    """`promote`, or None where `y` is of a type of the user's that has the method
    `reflected` to answer itself and cannot become a tensor.
    """
    try:
        return promote(x, y, op, name)
    except ConversionError:
        kind = type(y)
        own = not is_tensor(y) and kind.__module__ not in ("builtins", "numpy")
        if reflected is not None and own and hasattr(kind, reflected):
            return None
        raise


def unary_function(
    function_name: str,
    op: str,
    doc: str,
    node_name: str | None = None,
    is_operator: bool = False,
) -> UnaryFunction:
    """The public function of a unary op; the operator of Python's of that name gives
    numbers for numbers.
    """
    kernel, numbers = get(op).kernel, get(op).numbers
    label = node_name or op

    def function(x: Any, name: str | None = None) -> Tensor:
        if type(x) in array_holders and current_graph() is None:
            array = x._array
            if array.dtype.num in numbers:
                try:
                    result = quiet.run(kernel, array)
                except FALL_BACK:
                    pass
                else:
                    return EagerTensor(
                        result if type(result) is np.ndarray else as_array(result)
                    )
        elif type(x) is Recorded and current_graph() is None:
            if x._array.dtype.num in numbers:
                found: EagerTensor | None = attempt(kernel, x._array)
                if found is not None:
                    record(op, (x,), {}, (found,))
                    return found
        tensor = x if is_operator and isinstance(x, Tensor) else as_tensor(x)
        if tensor.dtype.np_dtype.num not in numbers:
            infer_specs(get(op), (tensor.spec,), {})  # Raises.
        return apply_one(op, tensor, name=name or label)

    _describe(function, function_name, doc)
    return function


def binary_function(
    function_name: str,
    op: str,
    doc: str,
    node_name: str | None = None,
    reflected: str | None = None,
    general: Callable[..., Any] | None = None,
) -> BinaryFunction:
    """The public function of a binary op, whose node is called `node_name`.

    For the function behind an operator `reflected` is the method that an operand of
    another type may have: if that cannot become a tensor it is left to the method.
    `general` does, in place of `apply_binary`, what the quick way cannot.
    """
    kernel, numbers = get(op).kernel, get(op).numbers
    label = node_name or op
    general = general or apply_binary

    def function(x: Any, y: Any, name: str | None = None) -> Any:
        # The commonest case first, in as few steps as can be.
        if type(x) in array_holders and current_graph() is None:
            a = x._array
            dtype = a.dtype
            b = y._array if type(y) is EagerTensor else beside(y, dtype)
            if b is not None and b.dtype is dtype and dtype.num in numbers:
                try:
                    result = quiet.run(kernel, a, b)
                except FALL_BACK:
                    pass  # The general way says what is wrong.
                else:
                    return EagerTensor(
                        result if type(result) is np.ndarray else as_array(result)
                    )
        elif type(y) in array_holders and current_graph() is None:
            b = y._array
            left = beside(x, b.dtype)
            if left is not None and left.dtype is b.dtype and b.dtype.num in numbers:
                found = attempt(kernel, left, b)
                if found is not None:
                    return found
        return general(op, x, y, name or label, reflected)

    _describe(function, function_name, doc)
    return function


def apply_binary(op: str, x: Any, y: Any, name: str, reflected: str | None) -> Any:
    """The general way: convert, promote, then apply."""
    operands = eager_operands(x, y)
    if operands is not None and operands[0].dtype.num in get(op).numbers:
        try:
            return run_quietly(get(op).kernel, *operands)
        except FALL_BACK:
            pass  # Promotion or inference says what is wrong.
    graph = current_graph()
    if graph is None:
        found = _run_recorded(op, x, y)
        if found is not None:
            return found
    # The constants of the node are named after it: add_1/y.
    unique = graph.unique_name(name) + "/" if graph else None
    pair = promote_or_leave(x, y, op, unique, reflected)
    if pair is None:
        return NotImplemented
    left, right = pair
    if left.dtype.np_dtype.num not in get(op).numbers:
        infer_specs(get(op), (left.spec, right.spec), {})  # Raises.
    return apply_one(op, left, right, name=unique)


def _run_recorded(op: str, x: Any, y: Any) -> EagerTensor | None:
    """The quick way for what tapes know: eager operands of one dtype, or one of them
    and a number; None where the general way is to be gone.
    """
    if type(x) in _EAGER:
        dtype = x._array.dtype
        if type(y) not in _EAGER:
            y = _number_beside(y, dtype)
    elif type(y) in _EAGER:
        dtype = y._array.dtype
        x = _number_beside(x, dtype)
    else:
        return None
    if x is None or y is None or y._array.dtype is not x._array.dtype:
        return None
    definition = get(op)
    if dtype.num not in definition.numbers:
        return None
    try:
        result = run_quietly(definition.kernel, x._array, y._array)
    except FALL_BACK:
        return None
    record(op, (x, y), {}, (result,))
    return result


_EAGER = frozenset({EagerTensor, Recorded})


def _number_beside(value: Any, dtype: np.dtype[Any]) -> EagerTensor | None:
    """A number of Python as a tensor of the dtype."""
    array = beside(value, dtype) if type(value) in (int, float) else None
    return None if array is None else EagerTensor(array)


def _describe(function: Any, name: str, doc: str) -> None:
    # The module that defines the function is the one that called the factory.
    function.__module__ = frame_at(2).f_globals["__name__"]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
