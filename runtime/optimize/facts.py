"""What rewrites know of nodes: which can fail, be shared, be computed early."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.execute.prune import CONTROL_FLOW
from runtime.graph import Node
from runtime.ops.record import get
from runtime.ops.staged.python_calls import PYTHON_CALLS
from runtime.tensor import SymbolicTensor

__all__ = ["can_drop", "cannot_fail", "constant", "is_pure", "number", "same_shape"]

Array = np.ndarray[Any, Any]

#: How many nodes `can_drop` looks at.
MAX_LOOKED_AT = 32

#: Pure ops that are left alone: what they make is changed in place by later nodes, or
#: what they call is not of this package.
_ALONE = PYTHON_CALLS | {"AskText", "TensorArrayV3"}

#: Never fail on numbers, whatever the shape is.
_UNARY = frozenset(
    {"Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh"}
    | {"Elu", "Erf", "Erfc", "Exp", "Expm1", "Floor", "Identity", "Invert", "IsFinite"}
    | {"IsInf", "IsNan", "IsNone", "IsNotNone", "LeakyRelu", "Log", "Log1p"}
    | {"LogicalNot", "Neg", "OnesLike", "Rank", "Reciprocal", "Relu", "Relu6", "Rint"}
    | {"Round", "Rsqrt", "Selu", "Shape", "Sigmoid", "Sign", "Sin", "Sinh", "Size"}
    | {"Softplus", "Softsign", "Sqrt", "Square", "StopGradient", "Tan", "Tanh"}
    | {"ZerosLike", "Cast"}
)

#: Never fail on numbers of shapes that go together.
_POINTWISE = frozenset(
    {"AddV2", "Atan2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Greater"}
    | {"GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "Maximum"}
    | {"Minimum", "Mul", "NotEqual", "RealDiv", "SelectV2", "SquaredDifference", "Sub"}
)

#: Never fail once all shapes are known and have been found to fit.
_SHAPED = frozenset(
    {"BatchMatMulV2", "BroadcastTo", "ConcatV2", "ExpandDims", "MatMul", "Mean"}
    | {"Ones", "Pack", "Range", "Reshape", "Softmax", "StridedSlice", "Sum", "Tile"}
    | {"Transpose", "Zeros"}
)

#: Fail on integers for some second operands: zero, or negative ones.
_DIVISIONS = frozenset({"FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"})


def constant(tensor: SymbolicTensor) -> Array | None:
    """The value of a constant; None for any other tensor."""
    node = tensor.node
    if node.op != "Const":
        return None
    value: Array = node.attrs["value"]
    return value


def number(tensor: SymbolicTensor) -> Any:
    """The value of a constant scalar that is no string, as NumPy's; None otherwise."""
    value = constant(tensor)
    if value is None or value.ndim or value.dtype.kind == "O":
        return None
    return value[()]


def is_pure(node: Node) -> bool:
    """Whether the node gives the same whenever it runs, and does nothing else.

    So it may be computed once for all nodes that are like it. It may still fail.
    """
    op = node.op
    return op not in CONTROL_FLOW and op not in _ALONE and not get(op).stateful


def cannot_fail(node: Node) -> bool:
    """Whether the node runs without an error for all values of its inputs.

    Then it may run earlier than it stands, or though it would not have run at all.
    """
    op = node.op
    tensors = (*node.inputs, *node.outputs)
    if any(tensor.dtype.kind == "O" for tensor in tensors):
        return op == "Const"
    if op in _UNARY or op == "Const":
        return True
    if op in _POINTWISE:
        return _shapes_known(tensors) or _one_shape(node.inputs)
    if op in _DIVISIONS:
        fits = _shapes_known(tensors) or _one_shape(node.inputs)
        return fits and _divides(node.inputs[1])
    return op in _SHAPED and not node.attrs.get("operands") and _is_regular(tensors)


def can_drop(tensor: SymbolicTensor) -> bool:
    """Whether nobody would miss it that the tensor is not computed.

    A program fails where it computes something that fails, though nothing comes of it:
    ``(x // 0) * 0``. So nothing on the way to the tensor may fail, unless it stays in
    any case. What captures stand for is not followed.
    """
    waiting, budget = [tensor], MAX_LOOKED_AT
    while waiting and budget:
        node = waiting.pop().node
        budget -= 1
        if node.op == "Placeholder":
            if node.graph.parent is not None:
                return False
        elif node.op in CONTROL_FLOW:
            return False
        elif not get(node.op).stateful:
            if not cannot_fail(node):
                return False
            waiting += node.inputs
    return not waiting


def _shapes_known(tensors: Any) -> bool:
    return all(tensor.shape.is_fully_defined() for tensor in tensors)


def _is_regular(tensors: Any) -> bool:
    """Whether all shapes are known, and none is of nothing."""
    return all(tensor.shape.num_elements() for tensor in tensors)


def _one_shape(tensors: Any) -> bool:
    """Whether no more than one of the tensors is not a scalar."""
    return len([tensor for tensor in tensors if tensor.shape.rank != 0]) <= 1


def _divides(tensor: SymbolicTensor) -> bool:
    if tensor.dtype.kind == "f":
        return True
    value = number(tensor)
    return value is not None and bool(value != 0)


def same_shape(one: SymbolicTensor, other: SymbolicTensor) -> bool:
    """Whether two tensors are known to have the same shape."""
    shape = one.shape
    return shape.is_fully_defined() and bool(shape.dims == other.shape.dims)
