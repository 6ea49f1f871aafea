"""Tensors as serialized messages: ``tf.io.serialize_tensor`` and ``parse_tensor``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype, of_array
from runtime.core.types.specs import TensorSpec
from runtime.ops.convert import as_tensor
from runtime.ops.files.messages import classes, parsed
from runtime.ops.operands import define, run
from runtime.ops.shapes import spec
from runtime.ops.text.each import text_array

Array = np.ndarray[Any, Any]

#: Fields with values of other dtypes than ``int_val``.
_FIELDS = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.string: "string_val",
    dtypes.complex64: "scomplex_val",
    dtypes.int64: "int64_val",
    dtypes.bool: "bool_val",
    dtypes.complex128: "dcomplex_val",
    dtypes.float16: "half_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
}
#: A message of a few bytes may say of so many elements that they are all equal.
_MOST_EQUAL = 2**24


def _serialize(x: Array) -> Array:
    dtype = of_array(x)
    message = classes()["TensorProto"](dtype=dtype.as_datatype_enum)
    message.tensor_shape.SetInParent()
    for length in x.shape:
        message.tensor_shape.dim.add(size=length)
    if dtype.kind == "O":
        message.string_val.extend(x.reshape(-1).tolist())
    else:
        message.tensor_content = x.astype(x.dtype.newbyteorder("<")).tobytes()
    return text_array(message.SerializeToString())


def _parse(serialized: Array, *, out_type: DType) -> Array:
    if serialized.ndim:
        raise InvalidArgumentError(f"a tensor is one string, not {serialized.shape}")
    message = parsed("TensorProto", serialized.item())
    if message.dtype != out_type.as_datatype_enum:
        raise InvalidArgumentError(
            f"the message has the dtype number {message.dtype}, and {out_type.name} is "
            f"{out_type.as_datatype_enum}"
        )
    dims = tuple([dim.size for dim in message.tensor_shape.dim])
    if message.tensor_shape.unknown_rank or any(size < 0 for size in dims):
        raise InvalidArgumentError(f"the message has no shape: {dims}")
    size, content = math.prod(dims), message.tensor_content
    if not content:
        return _filled(message, out_type, size).reshape(dims)
    if out_type.kind == "O" or len(content) != size * out_type.size:
        raise InvalidArgumentError(
            f"the message has {len(content)} bytes for {size} elements of "
            f"{out_type.name}"
        )
    return np.frombuffer(content, out_type.np_dtype).reshape(dims).copy()


def _filled(message: Any, dtype: DType, size: int) -> Array:
    """The elements as single values, of which the last stands for all that follow."""
    values: Any = list(getattr(message, _FIELDS.get(dtype, "int_val")))
    if dtype.kind == "c":
        parts = np.array(values[: len(values) // 2 * 2]).reshape(-1, 2)
        given = (parts[:, 0] + 1j * parts[:, 1]).astype(dtype.np_dtype)
    elif dtype is dtypes.float16:
        given = np.array(values, np.int64).astype(np.uint16).view(dtype.np_dtype)
    elif dtype.kind in "iu" and dtype not in _FIELDS:
        given = np.array(values, np.int64).astype(dtype.np_dtype)
    else:
        given = np.empty(len(values), dtype.np_dtype)
        given[:] = values
    if not len(given):
        given = np.array([b""] if dtype.kind == "O" else [0]).astype(dtype.np_dtype)
    if len(given) < size > _MOST_EQUAL:
        raise InvalidArgumentError(
            f"the message has {len(given)} values for {size} elements"
        )
    result = np.empty(size, dtype.np_dtype)
    result[: len(given)] = given[:size]
    result[len(given) :] = given[-1]
    return result


def _infer_serialize(x: TensorSpec) -> TensorSpec:
    if x.dtype.kind == "O" and x.dtype is not dtypes.string:
        raise InvalidArgumentError(f"a {x.dtype.name} tensor cannot be written down")
    return spec((), dtypes.string)


def _infer_parse(serialized: TensorSpec, *, out_type: DType) -> TensorSpec:
    return spec(None, out_type)


define("SerializeTensor", _serialize, _infer_serialize, family="text")
define("ParseTensor", _parse, _infer_parse, takes="O", family="text")


def serialize_tensor(tensor: Any, name: str | None = None) -> Any:
    """The tensor as a string, a serialized TensorProto: see `parse_tensor`."""
    return run("SerializeTensor", as_tensor(tensor), name=name)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Any:
    """The tensor that `serialize_tensor` wrote, here or in TensorFlow.

    Its dtype must be `out_type`; a graph does not know its shape.
    """
    return run(
        "ParseTensor", as_tensor(serialized), out_type=as_dtype(out_type), name=name
    )
