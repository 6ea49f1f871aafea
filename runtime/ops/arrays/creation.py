"""Tensors from nothing: zeros, ones, fill, eye."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import RESULT, Export, Fails, decomposes
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.arguments import INTS, int_argument, shape_argument
from runtime.ops.arrays.dimensions import joined, number
from runtime.ops.convert import as_tensor, cast, constant
from runtime.ops.derivatives import Applied, linear, without_gradient
from runtime.ops.eager import attempt
from runtime.ops.operands import define, run
from runtime.ops.shapes import dims_of, dims_value, known_int, show, spec

Array = np.ndarray[Any, Any]

# --- one value everywhere -------------------------------------------------------------


def _infer_fill(value: TensorSpec, *, dims: Any) -> TensorSpec:
    if value.shape.rank not in (0, None):
        raise InvalidArgumentError(
            f"the value must be a scalar, not of shape {show(dims_of(value))}"
        )
    return spec(dims_value(dims), value.dtype)


def _fill(value: Array, *, dims: Any) -> Array:
    if value.ndim:
        raise ValueError
    return np.full(dims, value, value.dtype)


define(
    "Fill",
    _fill,
    _infer_fill,
    family="creation",
    picks=True,
    export=Export(inputs=((0, "dims", "dims"),), types=(("T", RESULT),)),
)


def fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """A tensor of shape `dims` that holds `value` everywhere.

    >>> fill([2, 2], 7).numpy().tolist()
    [[7, 7], [7, 7]]
    """
    return run("Fill", as_tensor(value), dims=shape_argument(dims, "dims"), name=name)


def _infer_filled(*, shape: Any, dtype: DType) -> TensorSpec:
    return spec(dims_value(shape), dtype)


def _zeros(*, shape: Any, dtype: DType) -> Array:
    return (
        np.full(shape, b"", object)
        if dtype.kind == "O"
        else np.zeros(shape, dtype.np_dtype)
    )


define(
    "Zeros",
    _zeros,
    _infer_filled,
    family="creation",
    label="zeros",
    fails=Fails.UNKNOWN,
    export=Export("Fill", types=(("T", RESULT),), unwritten=("dtype", "shape")),
)
define(
    "Ones",
    lambda *, shape, dtype: np.ones(shape, dtype.np_dtype),
    _infer_filled,
    family="creation",
    label="ones",
    fails=Fails.UNKNOWN,
    export=Export("Fill", types=(("T", RESULT),), unwritten=("dtype", "shape")),
)


@decomposes("Fill")
def _fill_decomposed(value: Any, *, dims: Any) -> Any:
    return tf.broadcast_to(tf.reshape(value, ()), dims)


@linear("Fill")
def _fill_gradient(node: Applied, g: Any) -> Any:
    return [tf.reduce_sum(g)]


def _quickly(function: Any, shape: Any, dtype: Any) -> Any:
    """An eager tensor of a shape that is given in ints; None where it is not."""
    if type(dtype) is not DType or dtype.kind == "O" or current_graph() is not None:
        return None
    if type(shape) is int:
        shape = (shape,)
    elif type(shape) not in (list, tuple) or not INTS.issuperset(map(type, shape)):
        return None
    return attempt(function, shape, dtype.np_dtype)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of zeros (False, empty strings).

    >>> zeros([2], "int32")
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([0, 0], dtype=int32)>
    """
    found = _quickly(np.zeros, shape, dtype)
    if found is not None:
        return found
    return run("Zeros", shape=shape_argument(shape), dtype=as_dtype(dtype), name=name)


@decomposes("Zeros")
def _zeros_decomposed(*, shape: Any, dtype: Any) -> Any:
    zero = np.array(b"", object) if dtype.kind == "O" else np.zeros((), dtype.np_dtype)
    return tf.broadcast_to(constant(zero), shape)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of ones (True)."""
    made = _quickly(np.ones, shape, dtype)
    if made is not None:
        return made
    found = as_dtype(dtype)
    if found.kind == "O":
        raise InvalidArgumentError("a string tensor cannot hold ones; use tf.fill")
    return run("Ones", shape=shape_argument(shape), dtype=found, name=name)


@decomposes("Ones")
def _ones_decomposed(*, shape: Any, dtype: Any) -> Any:
    return tf.broadcast_to(constant(np.ones((), dtype.np_dtype)), shape)


def _infer_like(x: TensorSpec, *, dtype: DType) -> TensorSpec:
    return spec(dims_of(x), dtype)


define(
    "ZerosLike",
    lambda x, *, dtype: _zeros(shape=x.shape, dtype=dtype),
    _infer_like,
    family="creation",
    fails=Fails.NEVER,
    export=Export(output="y"),
)
define(
    "OnesLike",
    lambda x, *, dtype: np.ones(x.shape, dtype.np_dtype),
    _infer_like,
    family="creation",
    fails=Fails.NEVER,
    export=Export(output="y"),
)


def zeros_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Any:
    """Zeros in the shape of a tensor, and of its dtype unless one is given."""
    return _like("ZerosLike", input, dtype, name)


@decomposes("ZerosLike")
def _zeros_like_decomposed(x: Any, *, dtype: Any) -> Any:
    return zeros(tf.shape(x), dtype)


def ones_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Any:
    """Ones in the shape of a tensor, and of its dtype unless one is given."""
    return _like("OnesLike", input, dtype, name)


@decomposes("OnesLike")
def _ones_like_decomposed(x: Any, *, dtype: Any) -> Any:
    return ones(tf.shape(x), dtype)


def _like(op: str, input: Any, dtype: Any, name: str | None) -> Any:
    tensor = as_tensor(input)
    found = tensor.dtype if dtype is None else as_dtype(dtype)
    return run(op, tensor, dtype=found, name=name)


# --- matrices -------------------------------------------------------------------------


def _infer_eye(*, rows: Any, columns: Any, batch: Any, dtype: DType) -> TensorSpec:
    leading = dims_value(batch)
    if leading is None:
        return spec(None, dtype)
    return spec((*leading, known_int(rows), known_int(columns)), dtype)


def _eye(*, rows: int, columns: int, batch: Any, dtype: DType) -> Array:
    if rows < 0 or columns < 0:
        raise ValueError
    matrix = np.eye(rows, columns, dtype=dtype.np_dtype)
    return np.tile(matrix, (*batch, 1, 1)) if batch else matrix


define("Eye", _eye, _infer_eye, family="creation")


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """The identity matrix, or a batch of them."""
    rows = int_argument(num_rows, "num_rows")
    columns = rows if num_columns is None else int_argument(num_columns, "num_columns")
    batch = () if batch_shape is None else shape_argument(batch_shape, "batch_shape")
    return run(
        "Eye", rows=rows, columns=columns, batch=batch, dtype=as_dtype(dtype), name=name
    )


@decomposes("Eye")
def _eye_decomposed(*, rows: Any, columns: Any, batch: Any, dtype: Any) -> Any:
    places = tf.expand_dims(tf.range(0, number(rows), dtype=dtypes.int64), 1)
    matrix = tf.equal(places, tf.range(0, number(columns), dtype=dtypes.int64))
    return tf.broadcast_to(cast(matrix, dtype), joined(batch, (rows, columns)))


without_gradient("Eye", "Zeros", "Ones", "ZerosLike", "OnesLike")
