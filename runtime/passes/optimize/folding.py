"""Constant folding: what constants alone decide is computed before the graph runs.

Before::

    %1 = Const(value=[5 4 8])
    %2 = StridedSlice(%1, key=(0,))
    %3 = Shape(%0)                      # %0: float32[2,3]
    return %2, %3

After::

    %1 = Const(value=5)
    %2 = Const(value=[2 3])
    return %1, %2

Exact, because the op's own kernel computes the value. Left for the run are ops with
effects, random ones, and what fails: the error belongs to the run, if it comes to the
node at all. Large results are left, too: a graph that makes a million zeros must not
keep them; and so are arrays that are made of nothing, ``tf.zeros([4, 8])``: whoever
reads the generated source learns more from that than from a name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import Editor, Tensors, sweep
from runtime.core.graph.record import get
from runtime.ops.apply import as_array, run_kernel
from runtime.ops.python_ints import kernel_of
from runtime.passes.optimize.facts import can_drop, is_pure, same_shape

#: The most elements of a folded result, and of one that is made of no tensor.
MAX_RESULT = 1024
MAX_MADE = 1
#: The most elements that are read for one.
MAX_READ = 1 << 16


def constant_folding(graph: Graph) -> int:
    """Replace nodes whose inputs are constants, and shapes that are known."""
    return sweep(graph, _RULES, _fold)


def _fold(node: Node, editor: Editor) -> Tensors | None:
    inputs = node.inputs
    for tensor in inputs:
        if tensor.node.op != "Const":
            return None
    if len(node.outputs) != 1 or not _is_small(node) or not is_pure(node):
        return None
    # A seed decides random results, and buffers are filled in place.
    if get(node.op).family in ("random", "buffer"):
        return None
    arrays = [tensor.node.attrs["value"] for tensor in inputs]
    try:
        result = as_array(run_kernel(get(node.op), arrays, node.attrs, kernel_of(node)))
    except Exception:
        return None
    return _constant(result, node, editor)


def _is_small(node: Node) -> bool:
    inputs, spec = node.inputs, node.outputs[0]._spec
    size = spec.shape.num_elements()
    if size is None or size > (MAX_RESULT if inputs else MAX_MADE):
        return False
    if spec.dtype.kind == "O":
        return False
    return bool(sum(x.node.attrs["value"].size for x in inputs) <= MAX_READ)


def _constant(result: Any, node: Node, editor: Editor) -> Tensors | None:
    (output,) = node.outputs
    if result.dtype != output.dtype.np_dtype:
        return None
    # Not a view: that would keep all of the array alive that it is a part of.
    array = result if result.base is None else result.copy()
    return (editor.constant(array, node, output._spec.weak),)


def _shape(node: Node, editor: Editor) -> Tensors | None:
    shape = node.inputs[0].shape
    if not shape.is_fully_defined() or not can_drop(node.inputs[0]):
        return None
    return _known(shape.dims, node, editor)


def _rank(node: Node, editor: Editor) -> Tensors | None:
    rank = node.inputs[0].shape.rank
    known = rank is not None and can_drop(node.inputs[0])
    return _known(rank, node, editor) if known else None


def _size(node: Node, editor: Editor) -> Tensors | None:
    size = node.inputs[0].shape.num_elements()
    known = size is not None and can_drop(node.inputs[0])
    return _known(size, node, editor) if known else None


def _known(value: Any, node: Node, editor: Editor) -> Tensors | None:
    (output,) = node.outputs
    array = np.array(value, output.dtype.np_dtype)
    if array.tolist() != value:
        return None  # the op says that it does not fit
    return (editor.constant(array, node, output._spec.weak),)


def _ones(node: Node, editor: Editor) -> Tensors | None:
    (output,) = node.outputs
    if output.shape.num_elements() != 1 or not can_drop(node.inputs[0]):
        return None
    array = np.ones([1] * (output.shape.rank or 0), output.dtype.np_dtype)
    return (editor.constant(array, node, output._spec.weak),)


def _repeated(node: Node, editor: Editor) -> Tensors | None:
    # A view of few elements is better than many that are kept.
    same = same_shape(node.inputs[0], node.outputs[0])
    return _fold(node, editor) if same else None


def _never(node: Node, editor: Editor) -> Tensors | None:
    return None


_RULES = {
    "BroadcastTo": _repeated,
    "Const": _never,
    "OnesLike": _ones,
    "Rank": _rank,
    "Shape": _shape,
    "Size": _size,
    "While": _never,
    "If": _never,
}
