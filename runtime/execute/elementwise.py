"""How operations are written for blocks of arrays: with ``out=``, step by step.

`steps_of` gives the statements for a node. In these ``{0}``, ``{1}`` stand for its
operands and ``{out}`` for the block that takes the result, which earlier statements may
use; what they compute is to the last bit what the kernel of the op computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from runtime.graph import Node
from runtime.ops.static import static_value

__all__ = ["fits", "is_simple", "steps_of"]

#: Ops that are ufuncs of NumPy, for all dtypes that they take here.
_UFUNCS = {
    "AddV2": "add", "Sub": "subtract", "Mul": "multiply", "RealDiv": "divide",
    "Maximum": "maximum", "Minimum": "minimum", "Less": "less", "Greater": "greater",
    "LessEqual": "less_equal", "GreaterEqual": "greater_equal", "Equal": "equal",
    "NotEqual": "not_equal", "LogicalAnd": "bitwise_and", "LogicalOr": "bitwise_or",
    "LogicalNot": "invert", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor", "Invert": "invert", "Neg": "negative", "Abs": "abs",
    "Sign": "sign", "Square": "square", "Sqrt": "sqrt", "Exp": "exp", "Log": "log",
    "Expm1": "expm1", "Log1p": "log1p", "Sin": "sin", "Cos": "cos", "Tan": "tan",
    "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asin": "arcsin", "Acos": "arccos",
    "Atan": "arctan", "Asinh": "arcsinh", "Acosh": "arccosh", "Atanh": "arctanh",
    "Floor": "floor", "Ceil": "ceil", "Rint": "rint", "IsNan": "isnan",
    "IsInf": "isinf", "IsFinite": "isfinite", "Atan2": "arctan2",
}  # fmt: skip

#: Other ops. What may be NaN or raise for integers is sorted out in `is_simple`.
_STEPS = {
    "Cast": ("np.copyto({out}, {0}, casting='unsafe')",),
    "DivNoNan": (
        "np.divide({0}, {1}, out={out})",
        "np.copyto({out}, 0, where={1} == 0)",
    ),
    "Elu": (
        "extreme(np.minimum, {0}, 0, out={out})",
        "np.expm1({out}, out={out})",
        "select({0} > 0, {0}, {out}, out={out})",
    ),
    "Erf": ("erf({0}, out={out})",),
    "FloorDiv": ("np.floor_divide({0}, {1}, out={out})",),
    "FloorMod": ("np.remainder({0}, {1}, out={out})",),
    "MulNoNan": (
        "np.multiply({0}, {1}, out={out})",
        "np.copyto({out}, 0, where={1} == 0)",
    ),
    "Pow": ("np.power({0}, {1}, out={out})",),
    "Reciprocal": ("np.divide(1, {0}, out={out})",),
    "Relu": ("extreme(np.maximum, {0}, 0, out={out})",),
    "Relu6": ("np.clip({0}, 0, 6, out={out})",),
    "Round": ("np.rint({0}, out={out})",),
    "Rsqrt": ("np.sqrt({0}, out={out})", "np.divide(1, {out}, out={out})"),
    "SelectV2": ("select({0}, {1}, {2}, out={out})",),
    "Sigmoid": (
        "np.negative({0}, out={out})",
        "np.exp({out}, out={out})",
        "np.add({out}, 1, out={out})",
        "np.divide(1, {out}, out={out})",
    ),
    "Softplus": (
        "np.abs({0}, out={out})",
        "np.negative({out}, out={out})",
        "np.exp({out}, out={out})",
        "np.log1p({out}, out={out})",
        "np.add(np.maximum({0}, 0), {out}, out={out})",
    ),
    "Softsign": (
        "np.abs({0}, out={out})",
        "np.add({out}, 1, out={out})",
        "np.divide({0}, {out}, out={out})",
    ),
    "SquaredDifference": (
        "np.subtract({0}, {1}, out={out})",
        "np.multiply({out}, {out}, out={out})",
    ),
}

#: Ops that refuse some integers.
_CAREFUL = frozenset({"FloorDiv", "FloorMod", "Pow"})


def is_simple(node: Node) -> bool:
    """Whether the node can be computed in blocks, as far as ops and dtypes tell.

    It has one result, raises nothing for operands whose shapes fit, and computes every
    element in the same way wherever it lies.
    """
    kinds = {tensor.dtype.kind for tensor in (*node.inputs, *node.outputs)}
    if len(node.outputs) != 1 or not kinds <= set("biuf"):
        return False
    source = node.inputs[0].dtype.kind if node.inputs else ""
    if node.op == "Cast":
        # What integer a NaN or a number out of range becomes depends on its place.
        return source != "f" or node.outputs[0].dtype.kind in "fb"
    if node.op in _CAREFUL and source in "iu":
        known, complete = static_value(node.inputs[1])
        return complete and isinstance(known, int) and known > 0
    if node.op == "Round":
        return source == "f"
    return node.op in _UFUNCS or node.op in _STEPS or node.op == "LeakyRelu"


def fits(node: Node) -> bool:
    """Whether the shapes of the operands are known to fit each other."""
    several = {tensor for tensor in node.inputs if tensor.shape.rank != 0}
    known = all(tensor.shape.is_fully_defined() for tensor in several)
    return len(several) < 2 or known


def steps_of(node: Node) -> Sequence[str]:
    """The statements for the node."""
    if node.op in _UFUNCS:
        places = ", ".join(f"{{{index}}}" for index in range(len(node.inputs)))
        return (f"np.{_UFUNCS[node.op]}({places}, out={{out}})",)
    if node.op == "LeakyRelu":
        return (
            f"np.multiply({{0}}, {node.attrs['alpha']!r}, out={{out}})",
            "select({0} > 0, {0}, {out}, out={out})",
        )
    return _STEPS[node.op]
