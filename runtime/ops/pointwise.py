"""How elementwise operations are made: kernels, inference, and the public functions.

An op is defined by its NumPy kernel and the dtypes that it takes::

    binary_op("AddV2", np.add, NUMBERS + STRINGS, source="{0} + {1}")
    add = binary_function("add", "AddV2", "Add", doc)

The functions have a fast path: eager operands of one dtype go straight to the kernel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any, Protocol

import numpy as np

from runtime import dtypes
from runtime.context import current_graph
from runtime.dtypes import DType
from runtime.errors import InvalidArgumentError
from runtime.ops.convert import as_tensor, promote
from runtime.ops.registry import OpDef, Source, add_node, apply, as_array, get, register
from runtime.shapes import TensorShape, broadcast_static_shape
from runtime.specs import TensorSpec
from runtime.tensor import EagerTensor, Tensor

__all__ = [
    "ALL",
    "BinaryFunction",
    "UnaryFunction",
    "binary_function",
    "binary_op",
    "broadcast_spec",
    "check_dtype",
    "unary_function",
    "unary_op",
]

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


# --- silence --------------------------------------------------------------------------


class _Quiet(threading.local):
    """``run(kernel, *arrays)`` without NumPy's warnings about infinities and NaNs.

    Since NumPy 2 the error state is a context variable: a context prepared once for each
    thread costs a tenth of ``np.errstate`` at each call.
    """

    def __init__(self) -> None:
        if int(np.__version__.split(".")[0]) >= 2:
            context = Context()
            context.run(np.seterr, all="ignore")
            self.run = context.run
        else:
            self.run = _run_silenced


def _run_silenced(kernel: Kernel, *arrays: Array) -> Any:
    with np.errstate(all="ignore"):
        return kernel(*arrays)


_quiet = _Quiet()


# --- inference ------------------------------------------------------------------------


def check_dtype(spec: TensorSpec, allowed: DTypes) -> None:
    """Raise InvalidArgumentError unless the dtype is among `allowed`."""
    if spec.dtype not in allowed:
        names = ", ".join(dtype.name for dtype in allowed)
        raise InvalidArgumentError(
            f"the dtype {spec.dtype.name} is not one that it takes: {names}"
        )


def broadcast_spec(x: TensorSpec, y: TensorSpec) -> TensorShape:
    """The common shape of two operands of one dtype. Raises InvalidArgumentError."""
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


# --- definitions ----------------------------------------------------------------------


def unary_op(
    name: str,
    kernel: Kernel,
    allowed: DTypes,
    result: DType | None = None,
    source: Source | None = None,
) -> OpDef:
    """Register an op of one operand; its result has `result` or the operand's dtype."""

    def infer(x: TensorSpec) -> TensorSpec:
        check_dtype(x, allowed)
        return TensorSpec(x.shape, result or x.dtype)

    return _register(name, kernel, infer, allowed, source)


def binary_op(
    name: str,
    kernel: Kernel,
    allowed: DTypes,
    result: DType | None = None,
    source: Source | None = None,
) -> OpDef:
    """Register an op of two operands of one dtype, which broadcast."""

    def infer(x: TensorSpec, y: TensorSpec) -> TensorSpec:
        shape = broadcast_spec(x, y)
        check_dtype(x, allowed)
        return TensorSpec(shape, result or x.dtype)

    return _register(name, kernel, infer, allowed, source)


#: For each op the dtypes that it takes, by NumPy's number of the dtype.
_numbers_of: dict[str, frozenset[int]] = {}


def _register(
    name: str, kernel: Kernel, infer: Kernel, allowed: DTypes, source: Source | None
) -> OpDef:
    _numbers_of[name] = frozenset(dtype.np_dtype.num for dtype in allowed)
    return register(OpDef(name, kernel, infer, source=source))


# --- functions ------------------------------------------------------------------------


def unary_function(
    function_name: str, op: str, doc: str, node_name: str | None = None
) -> UnaryFunction:
    """The public function of a unary op."""
    kernel, numbers, quiet = get(op).kernel, _numbers_of[op], _quiet
    label = node_name or op

    def function(x: Any, name: str | None = None) -> Tensor:
        if type(x) is EagerTensor and current_graph() is None:
            array = x._array
            if array.dtype.num in numbers:
                return EagerTensor(as_array(quiet.run(kernel, array)))
        tensor: Tensor = apply(op, as_tensor(x), name=name or label)
        return tensor

    return _described(function, function_name, doc)


def binary_function(
    function_name: str, op: str, doc: str, node_name: str | None = None
) -> BinaryFunction:
    """The public function of a binary op, whose node is called `node_name`."""
    kernel, numbers, quiet = get(op).kernel, _numbers_of[op], _quiet
    label = node_name or op

    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        if (
            type(x) is EagerTensor
            and type(y) is EagerTensor
            and current_graph() is None
        ):
            a, b = x._array, y._array
            if a.dtype is b.dtype and a.dtype.num in numbers:
                try:
                    result = quiet.run(kernel, a, b)
                except ValueError:
                    pass  # The general way says what is wrong.
                else:
                    if type(result) is not np.ndarray:
                        result = as_array(result)
                    return EagerTensor(result)
        return _apply_binary(op, x, y, name or label)

    return _described(function, function_name, doc)


def _apply_binary(op: str, x: Any, y: Any, name: str) -> Tensor:
    """The general way: convert, promote, then apply."""
    graph = current_graph()
    tensor: Tensor
    if graph is None:
        tensor = apply(op, *promote(x, y, op))
        return tensor
    # The constants of the node are named after it: add_1/y.
    unique = graph.unique_name(name) + "/"
    left, right = promote(x, y, op, unique)
    tensor = add_node(graph, get(op), (left, right), {}, unique)
    return tensor


def _described(function: Any, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
