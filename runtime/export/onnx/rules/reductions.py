"""Rows made into numbers, put in order and summed up."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.export.onnx.rules.elementwise import widened
from runtime.export.onnx.rules.movement import length
from runtime.export.onnx.writer import Value, Writer, rule


def _reduced(w: Writer, op: str, x: Value, axis: Any, keepdims: bool) -> Value:
    axes = None if axis is None else w.ints(axis)
    is_same = int(axis == ())
    result: Value = w.op(
        op, x, axes, keepdims=int(keepdims), noop_with_empty_axes=is_same
    )
    return result


def _has_nan(w: Writer, x: Value, axis: Any, keepdims: bool) -> Value:
    is_nan = w.cast(w.op("IsNaN", x), x.dtype)
    # Of no elements, the greatest is -inf.
    return _reduced(w, "ReduceMax", is_nan, axis, keepdims) > 0


def _reduces(op: str) -> None:
    @rule(op)
    def run(
        w: Writer, x: Value, axis: Any = None, keepdims: bool = False, **_: Any
    ) -> Value:
        x = w.cast(x, w.dtype)
        name = f"Reduce{op}"
        found = widened(w, lambda x: _reduced(w, name, x, axis, keepdims), x)
        if w.dtype.kind != "f" or op in ("Sum", "Prod"):
            return found
        # NaN is the greatest and the least; runtimes may pass it over.
        return w.where(_has_nan(w, x, axis, keepdims), np.nan, found)


for _op in ("Max", "Min", "Prod", "Sum"):
    _reduces(_op)


@rule("Any")
def _any(
    w: Writer, x: Value, axis: Any = None, keepdims: bool = False, **_: Any
) -> Value:
    return w.cast(_reduced(w, "ReduceSum", w.cast(x), axis, keepdims), bool)


@rule("All")
def _all(
    w: Writer, x: Value, axis: Any = None, keepdims: bool = False, **_: Any
) -> Value:
    return ~_any(w, ~x, axis, keepdims)


@rule("ArgMax", "ArgMin")
def _extreme(w: Writer, x: Value, axis: Any = 0, **_: Any) -> Value:
    axis = int(w.number(axis, "the axis"))
    is_float = x.dtype.kind == "f"
    x = x if is_float else w.cast(x)
    place = w.op(w.node.op, x, axis=axis, keepdims=0)
    if is_float:
        # The first NaN is the extreme.
        is_nan = w.cast(w.op("IsNaN", x), x.dtype)
        first = w.op("ArgMax", is_nan, axis=axis, keepdims=0)
        place = w.where(_has_nan(w, x, axis, False), first, place)
    return w.cast(place, w.dtype)


# --- order ----------------------------------------------------------------------------


@rule("Sort", "ArgSort")
def _sort(w: Writer, x: Value, axis: Any, descending: bool) -> Value:
    axis = int(w.number(axis, "the axis"))
    x = x if x.dtype.kind == "f" or x.dtype == np.uint64 else w.cast(x)
    count = w.ints(length(w, x, axis))
    found = w.op("TopK", x, count, axis=axis, largest=int(descending), outputs=2)
    found[1].dtype = np.dtype(np.int64)
    return w.cast(found[w.node.op == "ArgSort"], w.dtype)


@rule("TopKV2")
def _top(w: Writer, x: Value, k: Any, **_: Any) -> tuple[Value, Value]:
    values, places = w.op("TopK", x, w.ints(k), outputs=2)
    places.dtype = np.dtype(np.int64)
    return values, w.cast(places, w.node.outputs[1].dtype.np_dtype)


@rule("Where")
def _where(w: Writer, condition: Value) -> Any:
    return w.op("Transpose", w.op("NonZero", w.cast(condition, bool)), perm=[1, 0])


@rule("Cumsum")
def _cumsum(w: Writer, x: Value, axis: Any, exclusive: bool, reverse: bool) -> Value:
    kind = {"exclusive": int(exclusive), "reverse": int(reverse)}
    return widened(w, lambda x: w.op("CumSum", x, w.ints(axis), **kind), x)
