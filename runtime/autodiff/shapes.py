"""The shapes of what graphs of gradients carry."""

from __future__ import annotations

from typing import Any

from runtime.core.graph import record
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays.creation import zeros
from runtime.ops.arrays.shape import ensure_shape
from runtime.ops.convert import cast
from runtime.ops.gradient_shapes import is_buffer, rows_like
from runtime.ops.operands import run


def plain_spec(x: Any) -> TensorSpec:
    """The shape and dtype of a tensor or variable."""
    return TensorSpec(x.shape, x.dtype)


def empty_of(x: Any) -> Any:
    """A tensor that may stand for `x` where nobody reads it."""
    if x.shape.is_fully_defined() and not is_made_of_shapes(x):
        return zeros(x.shape.as_list(), x.dtype)
    dims = x.shape.dims
    return run("StandIn", shape=dims and tuple(dims), dtype=x.dtype)


def is_made_of_shapes(tensor: SymbolicTensor) -> bool:
    """Whether shapes alone make integers, which are known where calls have theirs."""
    node, place = tensor.node, tensor.value_index
    if not tensor.dtype.is_integer:
        return False
    if node.op in ("Shape", "Size", "Rank", "StackDims", "StackRead"):
        return True
    operands = list(node.inputs)
    if node.op in ("If", "Case"):
        operands = [graph.outputs[place] for _, graph in node.subgraphs()]
    made = [item for item in operands if item.node.op not in ("Const", "StandIn")]
    return bool(made) and all(map(is_made_of_shapes, made))


def fit(gradient: Any, x: Any) -> Any:
    """A gradient that is known to have the shape and dtype of `x`."""
    if gradient.dtype is not x.dtype:
        gradient = cast(gradient, x.dtype)
    if gradient.shape.is_subtype_of(x.shape) and (is_buffer(x) or _is_known(gradient)):
        return gradient
    gradient = rows_like(gradient, x)
    if gradient.shape.is_subtype_of(x.shape):
        return gradient
    return ensure_shape(gradient, x.shape)


def _is_known(x: Any) -> bool:
    """Whether it is known how many rows a tensor has."""
    rank = x.shape.rank
    return rank is not None and (rank == 0 or x.shape[0] is not None)


# --- buffers --------------------------------------------------------------------------


def is_written(x: Any) -> bool:
    """Whether a tensor is a buffer that rows are written to, here or further in."""
    waiting, seen = [x], set()
    while waiting:
        item = waiting.pop()
        if not isinstance(item, SymbolicTensor) or id(item) in seen:
            continue
        seen.add(id(item))
        node, place = item.node, item.value_index
        graphs = [graph for _, graph in node.subgraphs()]
        if _writes(node):
            return True
        if node.op == "Identity":
            waiting += node.inputs
        elif node.op in ("If", "Case"):
            waiting += [graph.outputs[place] for graph in graphs]
        elif node.op == "While":
            waiting += [node.inputs[place], node.attrs["body_graph"].outputs[place]]
        elif node.op == "Placeholder":
            graph = item.graph
            users = [
                node for node in graph.nodes if any(t is item for t in node.inputs[:1])
            ]
            if any(map(_writes, users)):
                return True
            places = [n for n, other in enumerate(graph.inputs) if other is item]
            waiting += [graph.outputs[n] for n in places if n < len(graph.outputs)]
            waiting += [outer for outer, own in graph.captures.items() if own is item]
    return False


def _writes(node: Any) -> bool:
    """Whether a node gives a buffer that it writes to, perhaps a copy."""
    if node.op in ("TensorArrayV3", "TensorArrayUnstackV3", "TensorArrayScatterV3"):
        return True
    op = record.get(node.op)
    return op.family == "buffer" and op.kernel_in_place is not None
