"""How operations are written for blocks of arrays: with ``out=``, step by step.

`steps_of` gives the statements for a node. In these ``{0}``, ``{1}`` stand for its
operands and ``{out}`` for the block that takes the result, which earlier statements may
use; what they compute is to the last bit what the kernel of the op computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from runtime.graph import Node
from runtime.ops.record import Fails, get
from runtime.ops.static import static_value

__all__ = ["fits", "is_simple", "steps_of"]


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
    op = get(node.op)
    if not op.ufunc and not op.steps:
        return False
    if op.fails in (Fails.DIVISOR, Fails.VALUES) and source in "iu":
        known, complete = static_value(node.inputs[1])
        return complete and isinstance(known, int) and known > 0
    return node.op != "Round" or source == "f"


def fits(node: Node) -> bool:
    """Whether the shapes of the operands are known to fit each other."""
    several = {tensor for tensor in node.inputs if tensor.shape.rank != 0}
    known = all(tensor.shape.is_fully_defined() for tensor in several)
    return len(several) < 2 or known


def steps_of(node: Node) -> Sequence[str]:
    """The statements for the node."""
    op = get(node.op)
    if op.ufunc:
        places = ", ".join(f"{{{index}}}" for index in range(len(node.inputs)))
        return (f"np.{op.ufunc}({places}, out={{out}})",)
    steps = op.steps
    for key, value in node.attrs.items():
        steps = tuple([step.replace(f"{{{key}}}", repr(value)) for step in steps])
    return steps
