"""Stacks: tensors whose shapes may differ, kept one behind the other.

A loop keeps of each iteration what its gradient needs. Executors that know the shape go
by the number of the iteration, the others by where its elements begin.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.core.graph.record import Op, decomposes, register
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.apply import apply_one
from runtime.ops.arrays.dimensions import at
from runtime.ops.containers.lists import extend, register_writer
from runtime.ops.containers.row_gradients import as_place, fitted, of_rows, taken_out
from runtime.ops.derivatives import Applied, gradient, without_gradient
from runtime.ops.gradient_shapes import shape_of
from runtime.ops.operands import Slice
from runtime.ops.shapes import Dims, spec

Array = np.ndarray[Any, Any]


def _stack_dims(tensor: Array) -> Array:
    return np.array(np.shape(tensor), np.int32)


def _infer_stack_dims(tensor: TensorSpec) -> TensorSpec:
    return spec((tensor.shape.rank,), dtypes.int32)


def _push(
    buffer: Array,
    number: Array,
    begin: Array,
    tensor: Array,
    owned: bool = False,
    *,
    size: int | None = None,
) -> Array:
    return extend(buffer, begin, np.ravel(tensor), owned)


def _infer_push(
    buffer: TensorSpec,
    number: TensorSpec,
    begin: TensorSpec,
    tensor: TensorSpec,
    *,
    size: int | None = None,
) -> TensorSpec:
    return spec((None,), buffer.dtype)


def _read(
    buffer: Array, number: Array, begin: Array, dims: Array, *, shape: Dims | None
) -> Array:
    wanted = tuple(map(int, dims))
    first = int(begin)
    return buffer[first : first + math.prod(wanted)].reshape(wanted).copy()


def _infer_read(
    buffer: TensorSpec,
    number: TensorSpec,
    begin: TensorSpec,
    dims: TensorSpec,
    *,
    shape: Dims | None,
) -> TensorSpec:
    return spec(shape, buffer.dtype)


def _stand_in(*, shape: Dims | None, dtype: dtypes.DType) -> Array:
    return np.zeros([dim or 0 for dim in shape or ()], dtype.np_dtype)


#: A tensor that nobody reads, on a path that does not make it: of no particular length.
register(
    Op("StandIn", _stand_in, lambda shape, dtype: spec(shape, dtype), family="buffer")
)


@decomposes("StandIn")
def _stand_in_decomposed(*, shape: Any, dtype: Any) -> Any:
    return tf.zeros([dim or 0 for dim in shape or ()], dtype)


register(Op("StackDims", _stack_dims, _infer_stack_dims, family="buffer"))


@decomposes("StackDims")
def _stack_dims_decomposed(tensor: Any) -> Any:
    return tf.shape(tensor)


without_gradient("StackDims", "StandIn")


register_writer("StackPush", _push, _infer_push)


@decomposes("StackPush")
def _stack_push_decomposed(
    buffer: Any, number: Any, begin: Any, tensor: Any, *, size: int | None
) -> Any:
    return apply_one("ListExtend", buffer, begin, tf.reshape(tensor, [-1]))


@gradient("StackPush")
def _stack_push_gradient(node: Applied, g: Any) -> Any:
    buffer, _, begin, tensor = node.inputs
    dims = shape_of(tensor)
    places = tf.range(as_place(begin), as_place(begin) + as_place(tf.reduce_prod(dims)))
    rest, rows = taken_out(g, places)
    return [fitted(rest, buffer), None, None, tf.reshape(rows, dims)]


register(Op("StackRead", _read, _infer_read, family="buffer", picks=True))


@decomposes("StackRead")
def _stack_read_decomposed(
    buffer: Any, number: Any, begin: Any, dims: Any, *, shape: Any
) -> Any:
    elements = at(buffer, 0, Slice(begin, begin + tf.reduce_prod(dims), None))
    return tf.ensure_shape(tf.reshape(elements, dims), shape)


@gradient("StackRead")
def _stack_read_gradient(node: Applied, g: Any) -> Any:
    buffer, _, begin, dims = node.inputs
    places = tf.range(as_place(begin), as_place(begin) + tf.reduce_prod(dims))
    return [of_rows(buffer, places, tf.reshape(g, [-1])), None, None, None]
