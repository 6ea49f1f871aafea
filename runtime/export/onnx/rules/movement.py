"""Elements moved, picked, put and made of attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.graph import Node
from runtime.export.onnx.rules.elementwise import widened
from runtime.export.onnx.writer import Value, Writer, rule
from runtime.ops.operands import Operand, Slice

_FAR = np.iinfo(np.int64).max

rule("Const")(lambda w, *, value, **_: w.value(value, value.dtype))
rule("Shape")(lambda w, x, **_: w.cast(w.op("Shape", x), w.dtype))
rule("BroadcastTo")(lambda w, x, shape: w.op("Expand", x, w.ints(shape)))


@rule("Reshape")
def _reshape(w: Writer, x: Value, shape: Any) -> Any:
    return w.op("Reshape", x, w.ints(shape), allowzero=1)


@rule("EnsureShape", checks=True)
def _ensure_shape(w: Writer, x: Value, shape: Any) -> Value:
    if shape is not None:
        expected = w.value([-1 if dim is None else dim for dim in shape])
        w.check(w.op("Shape", x).equals(expected) | expected.equals(-1))
    return x


@rule("AssertShape", checks=True)
def _assert_shape(w: Writer, x: Value, shape: Any) -> tuple[()]:
    _ensure_shape(w, x, shape)
    return ()


@rule("Transpose")
def _transpose(w: Writer, x: Value, perm: Any = None, **_: Any) -> Any:
    rank = x.known.ndim if perm is None and x.known is not None else None
    if perm is None:
        return w.op("Transpose", x) if rank != 0 else x
    axes = tuple(w.number(perm, "the axes"))
    # ONNX cannot say which type an empty list of axes has.
    perm = [int(axis) % len(axes) for axis in axes]
    return w.op("Transpose", x, perm=perm) if perm else x


@rule("ConcatV2")
def _concat(w: Writer, *values: Value, axis: Any) -> Any:
    return w.op("Concat", *values, axis=int(w.number(axis, "the axis")))


@rule("ReverseV2")
def _reverse(w: Writer, x: Value, axis: Any) -> Any:
    axes = w.number(axis if isinstance(axis, tuple) else (axis,), "the axes")
    ends, lasts = [_FAR] * len(axes), [-_FAR - 1] * len(axes)
    return w.op("Slice", x, ends, lasts, axes, [-1] * len(axes)) if axes else x


def _has_operands(node: Node) -> bool:
    """Whether values of the program stand in attributes."""
    return bool(node.attrs.get("operands"))


@rule("PadV2", checks=_has_operands)
def _pad(w: Writer, x: Value, paddings: Any, value: Any = None, **_: Any) -> Value:
    # Other modes than "CONSTANT" are another op.
    if isinstance(paddings, Value):
        pads = w.ints(w.op("Transpose", w.cast(paddings), perm=[1, 0]))
    else:
        pads = w.ints([row[side] for side in (0, 1) for row in paddings])
    if pads.known is None:
        # Negative ones would take elements away.
        w.check(pads >= 0)
    filling = w.value(value or 0, x.dtype)
    return widened(w, lambda x, filling: w.op("Pad", x, pads, filling), x, filling)


def _may_be_wrong_way(node: Node) -> bool:
    """Whether a limit may lie on the other side of the start, or the step be 0."""
    if not _has_operands(node):
        return False
    limit = node.attrs["limit"]
    is_from_0 = (node.attrs["start"], node.attrs["delta"]) == (0, 1)
    return not (is_from_0 and _is_length(node.inputs[limit.index]))


def _is_length(tensor: Any) -> bool:
    """Whether a number is a length of a tensor, or a product of lengths."""
    node = tensor.node
    if node.op in ("Cast", "Identity", "StridedSlice", "GatherV2", "Prod", "Reshape"):
        return _is_length(node.inputs[0])
    return bool(node.op == "Shape")


@rule("Range", checks=_may_be_wrong_way)
def _range(w: Writer, *, start: Any, limit: Any, delta: Any, **_: Any) -> Any:
    start, limit, delta = [
        w.cast(w.value(v, w.dtype), w.dtype) for v in (start, limit, delta)
    ]
    if w.checks and _may_be_wrong_way(w.node):
        is_up = (delta > 0) & ~(limit < start)
        w.check(is_up | ((delta < 0) & ~(limit > start)))
        delta = w.where(delta.equals(0), 1, delta)
        if w.dtype.kind == "f":
            span = limit - start
            is_long = w.op("IsNaN", span - span)
            w.check(~is_long)
            limit = w.where(is_long, start, limit)
    if w.dtype.kind != "f":
        return w.op("Range", start, limit, delta)
    # ONNX does not say how numbers are rounded; here each is a product and a sum.
    count = w.op("Ceil", w.cast(limit - start, np.float64) / w.cast(delta, np.float64))
    places = w.op("Range", 0, w.op("Max", w.cast(count), 0), 1)
    return start + w.cast(places, w.dtype) * delta


# --- places ---------------------------------------------------------------------------


def length(w: Writer, x: Value, axis: int = 0) -> Value:
    """The length of an axis, a scalar."""
    result: Value = w.op("Gather", w.op("Shape", x), axis)
    return result


def inside(w: Writer, index: Any, end: Value, lowest: Any = 0) -> Value:
    """An index that is checked to be below an end; 0 where it is not."""
    place, end = w.cast(index), w.cast(end)
    if not w.checks:
        return place
    fits = (place >= lowest) & (place < end)
    w.check(fits)
    return w.where(fits, place, 0)


def pick(w: Writer, x: Value, index: Any, axis: int = 0) -> Value:
    """What is at an index, which may be negative, along an axis."""
    size = length(w, x, axis)
    result: Value = w.op("Gather", x, inside(w, index, size, -size), axis=axis)
    return result


def put(w: Writer, x: Value, index: Value, row: Value) -> Value:
    """The tensor with a row in place of another."""
    place = w.op("Reshape", index, [1, 1])
    result: Value = w.op("ScatterND", x, place, w.op("Unsqueeze", row, [0]))
    return result


def rows(w: Writer, x: Value, start: Any, stop: Any) -> Value:
    """The rows from `start` to `stop`."""
    result: Value = w.op("Slice", x, w.ints(start), w.ints(stop))
    return result


def _may_miss(node: Node) -> bool:
    """Whether an index may lie outside."""
    dims = list(node.inputs[0].shape.dims or ())
    for item in node.attrs["key"]:
        if item is Ellipsis or isinstance(item, Operand):
            # It is not counted which axes come behind the first one.
            dims = []
        is_index = isinstance(item, (int, np.integer))
        if isinstance(item, Operand) or (is_index and not _fits(item, dims[:1])):
            return True
        dims = dims[1:] if item is not None else dims
    return False


def _fits(index: Any, dims: list[int | None]) -> bool:
    return any(dim is not None and -dim <= index < dim for dim in dims)


@rule("StridedSlice", checks=_may_miss)
def _strided_slice(w: Writer, x: Value, key: tuple[Any, ...]) -> Value:
    given = sum(item is not None and item is not Ellipsis for item in key)
    misses = _may_miss(w.node)
    rank: Any = w.node.inputs[0].shape.rank
    axis = 0
    for item in key:
        if item is None:
            x = w.op("Unsqueeze", x, [axis])
        elif item is Ellipsis:
            if rank is None:
                raise w.refused("'...' in an index needs a known number of axes")
            axis += rank - given - 1
        elif isinstance(item, Slice):
            x = _slice(w, x, item, axis)
        else:
            if misses:
                x = pick(w, x, item, axis)
            else:
                x = w.op("Gather", x, w.cast(item), axis=axis)
            axis -= 1
        axis += 1
    return x


def _slice(w: Writer, x: Value, item: Slice, axis: int) -> Value:
    stride = w.number(1 if item.step is None else item.step, "the step of a slice")
    ends = (0, _FAR) if stride > 0 else (_FAR, -_FAR - 1)
    start, stop = [
        end if part is None else part
        for part, end in zip((item.start, item.stop), ends)
    ]
    if isinstance(stop, int) and (start, stop, stride) == (0, _FAR, 1):
        return x
    result: Value = w.op("Slice", x, w.ints(start), w.ints(stop), [axis], [stride])
    return result


@rule("GatherV2", checks=True)
def _gather(
    w: Writer, x: Value, indices: Value, axis: Any = 0, batch_dims: int = 0
) -> Any:
    rank: Any = w.node.inputs[0].shape.rank
    axis = int(w.number(axis, "the axis"))
    if axis < 0 and rank is None:
        raise w.refused("a negative axis needs a known number of axes")
    axis += rank if axis < 0 else 0
    indices = inside(w, indices, length(w, x, axis))
    if not batch_dims:
        return w.op("Gather", x, indices, axis=axis)
    if axis != batch_dims:
        raise w.refused("ONNX has no gather along another axis than batch_dims")
    last = w.op("Unsqueeze", indices, [-1])
    return w.op("GatherND", x, last, batch_dims=batch_dims)


# --- several places -------------------------------------------------------------------


def _tuples(w: Writer, x: Value, indices: Value, batch_dims: int = 0) -> Value:
    """Indices whose rows are places in a tensor, checked."""
    depth = w.op("Shape", indices, start=-1)
    sizes = w.op("Slice", w.op("Shape", x), [batch_dims], depth + batch_dims)
    return inside(w, indices, sizes)


@rule("GatherNd", checks=True)
def _gather_nd(w: Writer, x: Value, indices: Value, batch_dims: int = 0) -> Any:
    places = _tuples(w, x, indices, batch_dims)
    return w.op("GatherND", x, places, batch_dims=batch_dims)


def _scatters(op: str, reduction: str) -> None:
    @rule(op, checks=True)
    def run(w: Writer, x: Value, indices: Value, updates: Value, **_: Any) -> Any:
        places = _tuples(w, x, indices)
        return w.op("ScatterND", x, places, updates, reduction=reduction)


_scatters("TensorScatterUpdate", "none")
_scatters("TensorScatterAdd", "add")
_scatters("TensorScatterMax", "max")
_scatters("TensorScatterMin", "min")


@rule("ScatterNd", checks=True)
def _scatter_nd(w: Writer, indices: Value, updates: Value, shape: Any) -> Any:
    zeros = w.op("Expand", w.value(0, updates.dtype), w.ints(shape))
    places = _tuples(w, zeros, indices)
    return w.op("ScatterND", zeros, places, updates, reduction="add")
