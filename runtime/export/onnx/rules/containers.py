"""Lists and TensorArrays: tensors with a row for each element.

What writes to one copies it, so a loop that fills one takes quadratic time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.export.onnx.rules.movement import inside, length, pick, put, rows
from runtime.export.onnx.writer import Value, Writer, rule

# --- lists, of which the first `count` rows are the elements -------------------------


def _joined(w: Writer, *parts: Value) -> Any:
    return w.op("Concat", *parts, axis=0)


def _elements(w: Writer, x: Value, count: Value, like: Value) -> Value:
    """The elements, with the shape that a new one has, also where there are none."""
    shape = w.concat(count, w.op("Shape", like))
    result: Value = w.op("Reshape", rows(w, x, 0, count), shape, allowzero=1)
    return result


def _place(w: Writer, count: Value, index: Any) -> Value:
    """An index that is checked, counted from the front."""
    count = w.cast(count)
    index = inside(w, index, count, -count)
    return w.where(index < 0, index + count, index)


@rule("ListAppend")
def _append(w: Writer, x: Value, count: Value, value: Value, **_: Any) -> Any:
    return _joined(w, _elements(w, x, count, value), w.op("Unsqueeze", value, [0]))


@rule("ListInsert")
def _insert(
    w: Writer, x: Value, count: Value, index: Value, value: Value, **_: Any
) -> Any:
    given, count, index = _elements(w, x, count, value), w.cast(count), w.cast(index)
    index = w.op("Max", w.where(index < 0, index + count, index), 0)
    before, after = rows(w, given, 0, index), rows(w, given, index, count)
    return _joined(w, before, w.op("Unsqueeze", value, [0]), after)


@rule("ListDelete")
def _delete(w: Writer, x: Value, count: Value, index: Value, **_: Any) -> Any:
    return _joined(w, rows(w, x, 0, index), rows(w, x, w.cast(index) + 1, count))


@rule("ListGet", checks=True)
def _get(w: Writer, x: Value, count: Value, index: Value) -> Value:
    return pick(w, rows(w, x, 0, count), index)


@rule("ListSet", checks=True)
def _set(
    w: Writer, x: Value, count: Value, index: Value, value: Value, **_: Any
) -> Value:
    return put(w, rows(w, x, 0, count), _place(w, count, index), value)


@rule("ListPlace", checks=True)
def _list_place(w: Writer, count: Value, index: Value, **_: Any) -> Value:
    return w.cast(_place(w, count, index), w.dtype)


# --- TensorArrays, whose rows all exist ----------------------------------------------


@rule("TensorArrayV3")
def _new(w: Writer, *, size: Any, element_shape: Any = None, **_: Any) -> Any:
    element = (0,) if element_shape is None or None in element_shape else element_shape
    return w.op("Expand", w.value(0, w.dtype), w.concat(size, element))


def _is_set(w: Writer) -> bool:
    """Whether the elements of the array are known to be there."""
    shape = w.node.inputs[0].shape
    return shape.rank is not None and (shape.rank != 2 or bool(shape[1]))


def _with_room(w: Writer, x: Value, count: Any, element: Value) -> Value:
    """At least `count` rows of a shape: zeros where none is written yet."""
    size, number = w.op("Size", x), w.op("ReduceProd", element, keepdims=0)
    now = length(w, x)
    w.check(size.equals(0) | size.equals(now * number))
    count = w.op("Max", now, count)
    missing = w.ints(count * number - size)
    zeros = w.op("Expand", w.value(0, x.dtype), missing)
    flat = _joined(w, w.op("Reshape", x, [-1]), zeros)
    result: Value = w.op("Reshape", flat, w.concat(count, element), allowzero=1)
    return result


@rule("TensorArrayWriteV3", checks=True)
def _write(w: Writer, x: Value, value: Value, *, index: Any, **_: Any) -> Value:
    size = length(w, x)
    index = inside(w, index, size)
    x = x if _is_set(w) else _with_room(w, x, size, w.op("Shape", value))
    return put(w, x, index, value)


@rule("TensorArrayGrowV3", checks=True)
def _grow(
    w: Writer, x: Value, count: Value, value: Value, *, index: Any, **_: Any
) -> tuple[Value, Value]:
    index = w.cast(index)
    w.check(index >= 0)
    needed = w.op("Max", index + 1, w.cast(count))
    x = _with_room(w, x, needed, w.op("Shape", value))
    return put(w, x, index, value), w.cast(needed, np.int32)


def _set_rows(w: Writer, x: Value, element: Any) -> Value:
    """The rows, of which perhaps none is written yet."""
    if _is_set(w):
        return x
    if element is None or None in element:
        w.check(w.op("Size", x) > 0)
        return x
    return _with_room(w, x, 0, w.value(element))


@rule("TensorArrayReadV3", checks=True)
def _array_read(
    w: Writer, x: Value, *, index: Any, size: Any = None, element_shape: Any = None
) -> Any:
    place = inside(w, index, length(w, x) if size is None else size)
    return w.op("Gather", _set_rows(w, x, element_shape), place)


@rule("TensorArrayStackV3", checks=True)
def _stack(w: Writer, x: Value, *, size: Any = None, element_shape: Any = None) -> Any:
    found = _set_rows(w, x, element_shape)
    return found if size is None else rows(w, found, 0, size)
