"""Gradients take the shape of what they are of: sums over what was broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.core.graph import record
from runtime.core.graph.context import building, current_graph, enclosing
from runtime.core.graph.recording import unrecorded
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.convert import cast
from runtime.ops.operands import Slice, run


def shape_of(x: Any) -> Any:
    """The shape of a tensor: ints where all are known, else a tensor."""
    if x.shape.is_fully_defined():
        return x.shape.as_list()
    return shape_at_home(x)


def shape_at_home(x: Any, dtype: Any = dtypes.int64) -> Any:
    """The shape of a tensor, computed in the graph that it is in.

    A backward graph that needs the shape alone captures no more than that.
    """
    graph = current_graph()
    is_outside = isinstance(x, SymbolicTensor) and x.graph is not graph
    if not is_outside or x.graph not in enclosing(graph):
        return tf.shape(x, dtype)
    # One node for each tensor: what is kept is known by it.
    known = x.graph.gradient_facts.setdefault("shapes", {})
    if (id(x), dtype) not in known:
        with unrecorded(), building(x.graph):
            known[id(x), dtype] = x, tf.shape(x, dtype)
    return known[id(x), dtype][1]


def are_alike(x: Any, y: Any) -> bool:
    """Whether both are eager tensors of one shape: most are, and this is quick."""
    eager = isinstance(x, EagerTensor) and isinstance(y, EagerTensor)
    return eager and x._array.shape == y._array.shape


def zeros_of(x: Any) -> Any:
    """Zeros in the shape of `x`, for which that is all that is needed of it."""
    return tf.zeros(shape_of(x), x.dtype)


def broadcast_like(x: Any, other: Any) -> Any:
    """`x` repeated to the shape of `other`."""
    if x.shape.is_fully_defined() and x.shape == other.shape:
        return x
    return tf.broadcast_to(x, shape_of(other))


def sum_to(gradient: Any, x: Any, others: Sequence[Any] = ()) -> Any:
    """The gradient of `x`, which was broadcast with `others` (none: by itself)."""
    if are_alike(gradient, x):
        return gradient
    given, wanted = gradient.shape, x.shape
    if given.is_fully_defined() and given == wanted:
        return gradient
    axes = _summed_axes(gradient, x, others)
    if axes is None:
        return _sum_dynamically(gradient, x)
    if axes:
        gradient = tf.reduce_sum(gradient, axes, keepdims=True)
    elif given.rank == wanted.rank and not _may_spread(gradient, x):
        return gradient
    return tf.reshape(gradient, shape_of(x))


def _may_spread(gradient: Any, x: Any) -> bool:
    """Whether the gradient may have fewer elements than `x`: see `broadcast_like`."""
    return any(g == 1 and d != 1 for g, d in zip(gradient.shape, x.shape))


def _summed_axes(gradient: Any, x: Any, others: Sequence[Any]) -> list[int] | None:
    """The axes that `x` was repeated along; None where only a run can tell."""
    if x.shape.rank is None or gradient.shape.rank is None:
        return None
    extra = gradient.shape.rank - x.shape.rank
    axes = list(range(extra))
    for axis, length in enumerate(x.shape, extra):
        if length == 1:
            if gradient.shape[axis] != 1:
                axes.append(axis)
        elif length is None and not _others_are_one(axis, gradient, others):
            return None
    return axes


def _others_are_one(axis: int, gradient: Any, others: Sequence[Any]) -> bool:
    """Whether what `x` was broadcast with is no longer than 1 along an axis."""
    if not others:
        return False
    for other in others:
        if other.shape.rank is None:
            return False
        place = axis - (gradient.shape.rank - other.shape.rank)
        if place >= 0 and other.shape[place] != 1:
            return False
    return True


def _sum_dynamically(gradient: Any, x: Any) -> Any:
    wanted = tf.shape(x, dtypes.int64)
    extra = cast(tf.rank(gradient), dtypes.int64) - cast(tf.size(wanted), dtypes.int64)
    padded = tf.concat([tf.ones(tf.reshape(extra, [1]), dtypes.int64), wanted], 0)
    axes = tf.reshape(tf.where(tf.equal(padded, 1)), [-1])
    return tf.reshape(tf.reduce_sum(gradient, axes, keepdims=True), wanted)


# --- buffers --------------------------------------------------------------------------


def is_buffer(x: Any) -> bool:
    """Whether the gradient of a tensor may have rows that it has not: room for more.

    What a graph has from around it is looked at there.
    """
    if not isinstance(x, SymbolicTensor):
        return False
    node = x.node
    if node.op == "Placeholder":
        return node.graph.parent is not None
    return node.op in ("If", "Case", "While") or record.get(node.op).family == "buffer"


def rows_like(gradient: Any, x: Any) -> Any:
    """A gradient without rows that `x` does not have."""
    rank = x.shape.rank
    if rank == 0 or (rank and gradient.shape.rank is None):
        return gradient
    if rank is None:
        # Rows that are too many are the last ones, and a scalar has one element.
        # By the shape alone: a loop need not keep `x` for it.
        elements, dims = tf.reshape(gradient, [-1]), shape_of(x)
        count = tf.reduce_prod(dims)
        return tf.reshape(run("StridedSlice", elements, key=_first(count)), dims)
    count = x.shape[0]
    if count is not None and gradient.shape[0] == count:
        return gradient
    if count is None:
        count = shape_of(x)[0]
    return run("StridedSlice", gradient, key=_first(count))


def _first(count: Any) -> tuple[Slice, ...]:
    return (Slice(None, count, None),)
