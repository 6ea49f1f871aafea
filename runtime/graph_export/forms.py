"""How the ops of TensorFlow take what ours have as attributes.

In a graph of ours ``tf.reshape(x, [2, 3])`` is ``Reshape(x, shape=(2, 3))``; in a
GraphDef the shape is an input, the constant ``Reshape/shape``. `form_of` tells for each
op its name in TensorFlow, which attributes become inputs and where, and how the others
are called. An op that TensorFlow does not have keeps its name and its attributes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtime.graph import Node

__all__ = ["Form", "form_of", "is_small", "output_name"]

_NAMES = {
    "CastExactly": "Cast",
    "IsNone": "LogicalNot",
    "IsNotNone": "Identity",
    "Ones": "Fill",
    "PrintText": "PrintV2",
    "StringLowerUtf8": "StringLower",
    "StringUpperUtf8": "StringUpper",
    "Zeros": "Fill",
}


@dataclass(frozen=True)
class Form:
    """The form of a node in a GraphDef."""

    op: str
    #: ``(position, attribute, name)``: the attribute becomes an input, which is called
    #: ``node/name`` if it is a constant. Position -1 is the end.
    inputs: tuple[tuple[int, str, str], ...] = ()
    #: Other names for attributes.
    renamed: dict[str, str] = field(default_factory=dict)


_AXIS = ((-1, "axis", "axis"),)
_REDUCTION = (((-1, "axis", "reduction_indices"),), {"keepdims": "keep_dims"})
_SHAPE = ((-1, "shape", "shape"),)

_FORMS: dict[str, tuple[Any, ...]] = {
    "ArgMax": (((-1, "axis", "dimension"),),),
    "ArgMin": (((-1, "axis", "dimension"),),),
    "BroadcastTo": (_SHAPE,),
    "ConcatV2": (_AXIS,),
    "Conv2DBackpropInput": (((0, "input_sizes", "input_sizes"),),),
    "Conv3DBackpropInputV2": (((0, "input_sizes", "input_sizes"),),),
    "Cumprod": (_AXIS,),
    "Cumsum": (_AXIS,),
    "CumulativeLogsumexp": (_AXIS,),
    "ExpandDims": (((-1, "axis", "dim"),),),
    "Fill": (((0, "dims", "dims"),),),
    "GatherV2": (_AXIS,),
    "LinSpace": (((-1, "num", "num"),),),
    "MatrixBandPart": (((-1, "lower", "num_lower"), (-1, "upper", "num_upper")),),
    "MirrorPad": (((-1, "paddings", "paddings"),),),
    "Multinomial": (((-1, "num_samples", "num_samples"),),),
    "OneHot": (((1, "depth", "depth"),),),
    "PadV2": (((-1, "paddings", "paddings"), (-1, "value", "constant_values")),),
    "RandomGamma": (((0, "shape", "shape"),),),
    "RandomPoissonV2": (((0, "shape", "shape"),),),
    "RandomStandardNormal": (_SHAPE,),
    "RandomUniform": (_SHAPE,),
    "RandomUniformInt": ((*_SHAPE, (-1, "low", "min"), (-1, "high", "max")),),
    "Range": (
        ((-1, "start", "start"), (-1, "limit", "limit"), (-1, "delta", "delta")),
    ),
    "Reshape": (_SHAPE,),
    "ReverseV2": (_AXIS,),
    "Roll": (((-1, "shift", "shift"), (-1, "axis", "axis")),),
    "ScatterNd": (_SHAPE,),
    "Slice": (((-1, "begin", "begin"), (-1, "size", "size")),),
    "Split": (((0, "axis", "split_dim"),),),
    "SplitV": (((-1, "size_splits", "size_splits"), (-1, "axis", "split_dim")),),
    "Squeeze": ((), {"axis": "squeeze_dims"}),
    "StatelessRandomNormalV2": (_SHAPE,),
    "StatelessRandomUniformV2": (_SHAPE,),
    "StatelessTruncatedNormalV2": (_SHAPE,),
    "Tile": (((-1, "multiples", "multiples"),),),
    "TopKV2": (((-1, "k", "k"),),),
    "Transpose": (((-1, "perm", "perm"),),),
    "TruncatedNormal": (_SHAPE,),
    "UnsortedSegmentMax": (((-1, "num_segments", "num_segments"),),),
    "UnsortedSegmentMin": (((-1, "num_segments", "num_segments"),),),
    "UnsortedSegmentProd": (((-1, "num_segments", "num_segments"),),),
    "UnsortedSegmentSum": (((-1, "num_segments", "num_segments"),),),
}
for _op in ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"):
    _FORMS[_op] = _REDUCTION
_FORMS["ReduceJoin"] = _REDUCTION


def form_of(node: Node, has_effects: bool) -> Form:
    """The form of a node; a part of control flow is stateless or has effects."""
    op = node.op
    if op in ("If", "While"):
        return Form(op if has_effects else f"Stateless{op}")
    if op == "Case":
        return Form("Case" if has_effects else "StatelessCase")
    if op == "PartitionedCall":
        return Form("StatefulPartitionedCall" if has_effects else op)
    if op in ("Zeros", "Ones") and is_small(node):
        return Form("Const")
    if op == "SearchSorted":
        return Form("LowerBound" if node.attrs["side"] == "left" else "UpperBound")
    return Form(_NAMES.get(op, op), *_FORMS.get(op, ()))


def is_small(node: Node) -> bool:
    """Whether TensorFlow writes zeros or ones as a constant rather than a ``Fill``."""
    size = node.outputs[0].shape.num_elements()
    return "operands" not in node.attrs and size is not None and size < 1000


_OUTPUTS = {
    name: ops.split()
    for name, ops in {
        "z": """
            AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor DivNoNan Equal FloorDiv FloorMod
            Greater GreaterEqual LeftShift Less LessEqual LogicalAnd LogicalOr Maximum
            Minimum Mul MulNoNan NotEqual Pow RealDiv RightShift SquaredDifference Sub
            TruncateDiv TruncateMod Xdivy Xlog1py Xlogy
        """,
        "y": """
            Abs Acos Acosh Asin Asinh Atan Atanh Cast Ceil Cos Cosh Digamma Erf Erfc
            Erfinv Exp Expm1 Floor Invert IsFinite IsInf IsNan Lgamma Log Log1p
            LogicalNot Neg Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square
            Tan Tanh Transpose ZerosLike OnesLike
        """,
        "activations": "Elu LeakyRelu Relu Relu6 Selu Softplus Softsign",
        "product": "MatMul",
        "sum": "AddN",
        "value": "ReadVariableOp",
        "resource": "VarHandleOp",
    }.items()
}
_OUTPUT_OF = {op: name for name, ops in _OUTPUTS.items() for op in ops}


def output_name(op: str) -> str:
    """What TensorFlow calls the output of an op, as in ``add:z:0``."""
    return _OUTPUT_OF.get(op, "output")
