"""Arithmetic that is right for real numbers, and nearly right for floats.

Before::                               After::

    %2 = RealDiv(%0, 1.5)                  %2 = Mul(%0, 0.6666667)
    %3 = Pow(%2, 3.0)                      %3 = Square(%2)
                                           %4 = Mul(%3, %2)
    %4 = AddV2(%3, 0.0)                    # %4

Not exact, and so done only where ``fast_math`` is asked for: results may differ in the
last bits, the sign of a zero may get lost, and roots of negative infinities differ.
"""

from __future__ import annotations

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import Editor, Tensors, sweep
from runtime.passes.optimize.facts import number, same_shape


def fast_math(graph: Graph) -> int:
    """Replace operations on floats by cheaper ones that give about the same."""
    return sweep(graph, _RULES)


def _add(node: Node, editor: Editor) -> Tensors | None:
    for x, y in (node.inputs, node.inputs[::-1]):
        if y.dtype.kind == "f" and number(y) == 0:
            if y.shape.rank == 0 or same_shape(x, node.outputs[0]):
                return (x,)
    return None


def _sub(node: Node, editor: Editor) -> Tensors | None:
    x, y = node.inputs
    return (x,) if y.dtype.kind == "f" and number(y) == 0 else None


def _real_div(node: Node, editor: Editor) -> Tensors | None:
    x, y = node.inputs
    value = number(y) if y.dtype.kind == "f" else None
    if value is None or not np.isfinite(value):
        return None
    with np.errstate(all="ignore"):
        inverse = 1 / value
    if not np.isfinite(inverse) or abs(inverse) < np.finfo(inverse).smallest_normal:
        return None
    factor = editor.constant(np.array(inverse), y.node, y.spec.weak)
    return _made("Mul", (x, factor), node, editor)


def _pow(node: Node, editor: Editor) -> Tensors | None:
    x, y = node.inputs
    value = number(y) if x.dtype.kind == "f" else None
    if value == 3:
        square = _made("Square", (x,), node, editor)
        return _made("Mul", (*square, x), node, editor)
    for exponent, op in ((0.5, "Sqrt"), (-0.5, "Rsqrt"), (-1, "Reciprocal")):
        if value == exponent:
            return _made(op, (x,), node, editor)
    return None


def _made(op: str, inputs: Tensors, node: Node, editor: Editor) -> Tensors:
    return (editor.add(op, tuple(inputs), {}, node.outputs[0].spec, node),)


_RULES = {"AddV2": _add, "Pow": _pow, "RealDiv": _real_div, "Sub": _sub}
