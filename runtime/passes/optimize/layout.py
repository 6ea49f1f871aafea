"""Casts, reshapes and transposes that undo or follow each other become one or none.

Before::                               After::

    %2 = Transpose(%0)                     %2 = MatMul(%0, %1, transpose_a=True)
    %3 = MatMul(%2, %1)
    %4 = Cast(%3, dtype=tf.float64)
    %5 = Cast(%4, dtype=tf.float32)        # %2
    %6 = Reshape(%5, shape=(4, -1))
    %7 = Reshape(%6, shape=(-1,))          %3 = Reshape(%2, shape=(-1,))

Exact: these move elements and compute none, but for casts. Of two casts the first one
is dropped only if it loses nothing and the second one gives the dtype back, or if all
that is cast are integers: these wrap around alike at every width.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import Editor, Tensors, sweep
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.dtypes import DType


def layout(graph: Graph) -> int:
    """Cancel and join nodes that move elements or change their dtype."""
    return sweep(graph, _RULES)


def _cast(node: Node, editor: Editor) -> Tensors | None:
    (middle,) = node.inputs
    if middle.node.op != "Cast":
        return None
    (x,) = middle.node.inputs
    source, between, target = x.dtype, middle.dtype, node.outputs[0].dtype
    if "c" in (source.kind + between.kind + target.kind):
        return None
    if not _keeps_all(source, between):
        return None
    if target is source:
        return (x,)
    if "f" in (source.kind + between.kind + target.kind) or target.is_bool:
        return None
    return _instead(node, (x,), node.attrs, editor)


def _keeps_all(source: DType, target: DType) -> bool:
    """Whether every value of one dtype is one of the other, too."""
    if source.kind in "iu" and target.kind == "f":
        # NumPy calls int64 to float64 safe, which rounds.
        return bool(8 * source.size <= np.finfo(target.np_dtype).nmant + 1)
    return np.can_cast(source.np_dtype, target.np_dtype, "safe")


def _reshape(node: Node, editor: Editor) -> Tensors | None:
    source = node.inputs[0].node
    if source.op != "Reshape":
        return None
    if node.attrs.get("operands") or source.attrs.get("operands"):
        return None
    if 0 in node.attrs["shape"] or not source.inputs[0].shape.is_fully_defined():
        return None
    return _instead(node, source.inputs[:1], node.attrs, editor)


def _transpose(node: Node, editor: Editor) -> Tensors | None:
    source = node.inputs[0].node
    if source.op != "Transpose":
        return None
    first, second = _order(source), _order(node)
    if first is None or second is None:
        return None
    order = tuple(first[axis] for axis in second)
    if order == tuple(range(len(order))):
        return source.inputs
    return _instead(node, source.inputs, {**node.attrs, "perm": order}, editor)


def _order(node: Node) -> tuple[int, ...] | None:
    """The axes of a plain transpose by number, all from 0 on."""
    rank = node.inputs[0].shape.rank
    perm = node.attrs["perm"]
    if rank is None or node.attrs["conjugate"] or node.attrs.get("operands"):
        return None
    if perm is None:
        return tuple(range(rank))[::-1]
    if type(perm) is not tuple or any(type(axis) is not int for axis in perm):
        return None
    return tuple(axis % rank for axis in perm)


def _matmul(node: Node, editor: Editor) -> Tensors | None:
    flips = node.attrs["transpose_a"], node.attrs["transpose_b"]
    found = [_flipped(x, flip) for x, flip in zip(node.inputs, flips)]
    now = tuple(flip for _, flip in found)
    if now == flips:
        return None
    attrs = {"transpose_a": now[0], "transpose_b": now[1]}
    inputs = tuple([x for x, _ in found])
    return _instead(node, inputs, {**node.attrs, **attrs}, editor)


def _flipped(x: SymbolicTensor, flip: bool) -> tuple[SymbolicTensor, bool]:
    """An operand without the transpose of its last two axes, if it is one."""
    if x.node.op != "Transpose":
        return x, flip
    order = _order(x.node)
    if order is None or len(order) < 2:
        return x, flip
    last = len(order) - 1
    if order != (*range(last - 1), last, last - 1):
        return x, flip
    return x.node.inputs[0], not flip


def _instead(
    node: Node, inputs: Tensors, attrs: dict[str, Any], editor: Editor
) -> Tensors:
    spec = node.outputs[0]._spec
    return (editor.add(node.op, tuple(inputs), attrs, spec, node),)


_RULES = {
    "BatchMatMulV2": _matmul,
    "Cast": _cast,
    "MatMul": _matmul,
    "Reshape": _reshape,
    "Transpose": _transpose,
}
