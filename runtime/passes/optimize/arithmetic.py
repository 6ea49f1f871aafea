"""Arithmetic that gives back what is there already, or that a cheaper node does.

Before::                               After::

    %2 = Mul(%0, %1)                       # %0, where %1 is 1
    %3 = Neg(%2)
    %4 = Sub(%0, %3)                       %1 = AddV2(%0, %0)
    %5 = RealDiv(%4, 4.0)                  %2 = Mul(%1, 0.25)

Only what is exact for every value, by IEEE 754 with round-to-nearest and by the
wrap-around of integers:

=====================  ===========  ==================================================
rewrite                of           why, and why not more
=====================  ===========  ==================================================
x * 1, x / 1, x ** 1   int, float   not of complex numbers: inf * (1+0j) has a NaN
x + 0, x - 0           int, float   only -0.0 is added and only 0.0 subtracted: -0.0
                                    + 0.0 is 0.0
x * 0, x - x           int          a float may be NaN, an infinity, or -0.0
x ** 2 = x * x         int, float   NumPy does the same for a scalar exponent
x / 2**k = x * 2**-k   float        both round the same number, if 2**-k is normal
x - (-y), x + (-y)     int, float   a subtraction is the addition of the negative
max(x, x), x & x, ...  int, float   of equal operands
x == x, x < x, ...     int, bool    a NaN is not equal to itself
squared_difference     int, float   its kernel multiplies the difference by itself
where(c, x, x)         all          also for a constant `c`
--x, not not x, ...    all          of what is its own inverse
broadcast(x) + y       int, float   y has the shape: NumPy repeats x itself
=====================  ===========  ==================================================

The result must be known to have the shape of what stands for it, and an operand that is
not needed any more must be one that cannot fail: ``(n // 0) * 0`` is an error. Which of
several NaNs comes out is no part of the meaning.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import Editor, Rule, Tensors, sweep
from runtime.core.tensor import SymbolicTensor
from runtime.passes.optimize.facts import can_drop, constant, number, same_shape


def arithmetic(graph: Graph) -> int:
    """Simplify arithmetic, comparisons and choices, where that is exact."""
    return sweep(graph, _RULES)


# --- operands -------------------------------------------------------------------------


def _scalar(tensor: SymbolicTensor, kinds: str = "iuf") -> Any:
    """The constant scalar, as a Python number; None for others."""
    value = number(tensor)
    return value.item() if value is not None and value.dtype.kind in kinds else None


def _same(tensor: SymbolicTensor, node: Node, other: SymbolicTensor) -> Tensors | None:
    """`tensor` for the result of a node, whose other operand is a scalar."""
    fits = other.shape.rank == 0 or same_shape(tensor, node.outputs[0])
    return (tensor,) if fits and tensor.dtype is node.outputs[0].dtype else None


def _filled(value: Any, node: Node, editor: Editor) -> Tensors | None:
    """A scalar constant for the result of a node, if that is a scalar."""
    (output,) = node.outputs
    if output.shape.rank != 0 or not all(map(can_drop, node.inputs)):
        return None
    array = np.array(value, output.dtype.np_dtype)
    return (editor.constant(array, node, output._spec.weak),)


def _made(
    op: str, inputs: tuple[SymbolicTensor, ...], node: Node, editor: Editor
) -> Tensors:
    return (editor.add(op, inputs, {}, node.outputs[0]._spec, node),)


def _is_negative_zero(value: Any) -> bool:
    return type(value) is float and value == 0 and math.copysign(1, value) < 0


# --- broadcasts -----------------------------------------------------------------------


def _unspread(node: Node, editor: Editor) -> Tensors | None:
    """Take what is repeated to the shape of the other operand as it is."""
    x, y = node.inputs
    (output,) = node.outputs
    for place, operand, other in ((0, x, y), (1, y, x)):
        if operand.node.op != "BroadcastTo" or operand.dtype.kind not in "iuf":
            continue
        if not (same_shape(operand, output) and same_shape(other, output)):
            continue
        source = _without_axes(operand.node.inputs[0], node, editor)
        inputs = (source, other) if place == 0 else (other, source)
        return _made(node.op, inputs, node, editor)
    return None


def _without_axes(x: SymbolicTensor, node: Node, editor: Editor) -> SymbolicTensor:
    """A tensor of one element as a scalar, where there is one."""
    if x.shape.num_elements() != 1:
        return x
    while x.node.op == "Reshape" and x.shape.rank:
        x = x.node.inputs[0]
    value = constant(x)
    if value is not None and value.ndim:
        return editor.constant(value.reshape(()), node, x._spec.weak)
    return x


# --- sums and products ----------------------------------------------------------------


def _add(node: Node, editor: Editor) -> Tensors | None:
    for x, y in (node.inputs, node.inputs[::-1]):
        value = _scalar(y)
        if value == 0 and (type(value) is int or _is_negative_zero(value)):
            return _same(x, node, y)
        if y.node.op == "Neg" and y.dtype.kind in "iuf":
            return _made("Sub", (x, y.node.inputs[0]), node, editor)
    return None


def _sub(node: Node, editor: Editor) -> Tensors | None:
    x, y = node.inputs
    value = _scalar(y)
    if value == 0 and not _is_negative_zero(value):
        return _same(x, node, y)
    if x is y and x.dtype.kind in "iu":
        return _filled(0, node, editor)
    if y.node.op == "Neg" and y.dtype.kind in "iuf":
        return _made("AddV2", (x, y.node.inputs[0]), node, editor)
    return None


def _mul(node: Node, editor: Editor) -> Tensors | None:
    for x, y in (node.inputs, node.inputs[::-1]):
        value = _scalar(y)
        if value == 1:
            return _same(x, node, y)
        if value == 0 and type(value) is int:
            return _filled(0, node, editor)
    return None


def _real_div(node: Node, editor: Editor) -> Tensors | None:
    x, y = node.inputs
    value = _scalar(y, "f")
    if value == 1:
        return _same(x, node, y)
    if value is None or not _has_exact_inverse(number(y)):
        return None
    inverse = editor.constant(np.array(1 / number(y)), y.node, y._spec.weak)
    return _made("Mul", (x, inverse), node, editor)


def _has_exact_inverse(value: Any) -> bool:
    """Whether it is a power of two whose inverse is one, and a normal number."""
    if not np.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return False
    with np.errstate(all="ignore"):
        inverse = 1 / value
    smallest = np.finfo(value.dtype).smallest_normal
    return bool(np.isfinite(inverse) and abs(inverse) >= smallest)


def _whole_div(node: Node, editor: Editor) -> Tensors | None:
    x, y = node.inputs
    return _same(x, node, y) if _scalar(y, "iu") == 1 else None


def _pow(node: Node, editor: Editor) -> Tensors | None:
    x, y = node.inputs
    value = _scalar(y) if x.dtype.kind in "iuf" else None
    if value == 1:
        return _same(x, node, y)
    if value == 2:
        return _made("Square", (x,), node, editor)
    return None


# --- comparisons and choices ----------------------------------------------------------


def _compared(answer: bool) -> Rule:
    def rule(node: Node, editor: Editor) -> Tensors | None:
        x, y = node.inputs
        if x is y and x.dtype.kind in "iub":
            return _filled(answer, node, editor)
        return None

    return rule


def _of_equals(node: Node, editor: Editor) -> Tensors | None:
    x, y = node.inputs
    return (x,) if x is y and x.dtype.kind in "iufb" else None


def _logical(neutral: bool) -> Rule:
    """``and`` for True as the neutral element, ``or`` for False."""

    def rule(node: Node, editor: Editor) -> Tensors | None:
        for x, y in (node.inputs, node.inputs[::-1]):
            value = _scalar(y, "b")
            if x is y or value is neutral:
                return _same(x, node, y)
            if value is not None:
                return _filled(not neutral, node, editor)
        return None

    return rule


def _select(node: Node, editor: Editor) -> Tensors | None:
    condition, x, y = node.inputs
    (output,) = node.outputs
    if x is y:
        chosen, other = x, condition
    else:
        value = constant(condition)
        if value is None or not (value.all() or not value.any()):
            return None
        chosen, other = (x, y) if value.all() else (y, x)
    if not can_drop(other):
        return None
    scalar = condition.shape.rank == 0 and x is y
    return (chosen,) if scalar or same_shape(chosen, output) else None


# --- inverses -------------------------------------------------------------------------


def _own_inverse(node: Node, editor: Editor) -> Tensors | None:
    (x,) = node.inputs
    return x.node.inputs if x.node.op == node.op else None


def _squared_difference(node: Node, editor: Editor) -> Tensors | None:
    """As its kernel does it, in two nodes: the difference is often there already."""
    if node.outputs[0].dtype.kind not in "iuf":
        return None
    spec = node.outputs[0].spec
    difference = editor.add("Sub", node.inputs, {}, spec, node, "difference")
    return _made("Square", (difference,), node, editor)


def _abs(node: Node, editor: Editor) -> Tensors | None:
    (x,) = node.inputs
    if x.node.op == "Abs":
        return (x,)
    if x.node.op == "Neg" and x.dtype.kind in "if":
        return _made("Abs", x.node.inputs, node, editor)
    return None


def _first(*rules: Rule) -> Rule:
    def rule(node: Node, editor: Editor) -> Tensors | None:
        found = (each(node, editor) for each in rules)
        return next((values for values in found if values is not None), None)

    return rule


_RULES = {
    "Abs": _abs,
    "AddV2": _first(_add, _unspread),
    "BitwiseAnd": _of_equals,
    "BitwiseOr": _of_equals,
    "Equal": _compared(True),
    "FloorDiv": _whole_div,
    "Greater": _compared(False),
    "GreaterEqual": _compared(True),
    "Invert": _own_inverse,
    "Less": _compared(False),
    "LessEqual": _compared(True),
    "LogicalAnd": _logical(True),
    "LogicalNot": _own_inverse,
    "LogicalOr": _logical(False),
    "Maximum": _of_equals,
    "Minimum": _of_equals,
    "Mul": _first(_mul, _unspread),
    "Neg": _own_inverse,
    "NotEqual": _compared(False),
    "Pow": _pow,
    "RealDiv": _first(_real_div, _unspread),
    "SelectV2": _select,
    "SquaredDifference": _squared_difference,
    "Sub": _first(_sub, _unspread),
    "TruncateDiv": _whole_div,
}
