"""What rewrites know of nodes: which can fail, be shared, be computed early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from runtime.core.graph import Node
from runtime.core.graph.prune import CONTROL_FLOW
from runtime.core.graph.record import Fails, get
from runtime.core.tensor import SymbolicTensor
from runtime.ops.python_ints import is_exact

Array = np.ndarray[Any, Any]

#: How many nodes `can_drop` looks at.
MAX_LOOKED_AT = 32


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
    op = get(node.op)
    return op.family != "structure" and not op.is_own and not op.stateful


def cannot_fail(node: Node) -> bool:
    """Whether the node runs without an error for all values of its inputs.

    Then it may run earlier than it stands, or though it would not have run at all.
    """
    if is_exact(node):
        return False
    fails = get(node.op).fails
    tensors = (*node.inputs, *node.outputs)
    if any(tensor.dtype.kind == "O" for tensor in tensors):
        return node.op == "Const"
    if fails is Fails.UNFIT or fails is Fails.DIVISOR:
        fits = _shapes_known(tensors) or _one_shape(node.inputs)
        return fits and (fails is Fails.UNFIT or _divides(node.inputs[1]))
    if fails is Fails.UNKNOWN:
        return not node.attrs.get("operands") and _is_regular(tensors)
    return fails is Fails.NEVER


def can_drop(
    tensor: SymbolicTensor, outer: Mapping[int, Sequence[SymbolicTensor]] | None = None
) -> bool:
    """Whether nobody would miss it that the tensor is not computed.

    A program fails where it computes something that fails, though nothing comes of it:
    ``(x // 0) * 0``. So nothing on the way to the tensor may fail, unless it stays in
    any case. What inputs of inner graphs stand for is not followed, unless `outer` says
    it by their ids: what a capture is outside, what a state is before and after.
    """
    waiting, budget = [tensor], MAX_LOOKED_AT
    followed: set[int] = set()
    while waiting and budget:
        found = waiting.pop()
        node = found.node
        budget -= 1
        if node.op == "Placeholder":
            if outer is not None and id(found) in outer:
                if id(found) not in followed:
                    followed.add(id(found))
                    waiting += outer[id(found)]
            elif node.graph.parent is not None:
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
