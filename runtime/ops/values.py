"""Python values as NumPy arrays of our dtypes, and how Python numbers take a dtype."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from runtime.core.errors import ConversionError
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.core.types.shapes import TensorShape

Array = np.ndarray[Any, Any]

_INT32 = np.dtype(np.int32)
_FLOAT32 = np.dtype(np.float32)
_INTS, _FLOATS = {int}, {float}
_NUMBERS = {bool, int, float}
_TEXTS = {str, bytes, np.str_, np.bytes_}
#: Python finds the least and greatest of fewer numbers faster than NumPy.
FEW = 100

_NESTED = (list, tuple, range, np.ndarray)


def compatible(dtype: DType, kind: str) -> bool:
    """Whether values of a kind (a letter of NumPy) can be taken as `dtype` unasked."""
    return kind in _TAKES[dtype.kind]


_TAKES = {"b": "b", "i": "biu", "u": "biu", "f": "biuf", "c": "biufc", "O": "OSU"}


def meet(strong: DType, weak: DType) -> tuple[DType, bool] | None:
    """The dtype in which a tensor of `strong` meets a Python number of dtype `weak`,
    and whether that still stands for a Python number: an int tensor with a float does.

    None where the two do not go together (a number and a string, say).
    """
    if compatible(strong, weak.kind):
        return strong, False
    if strong.kind in "iu" and weak.kind in "fc":
        return dtypes.wide(weak), True
    if strong.kind == "f" and weak.kind == "c":
        wide = strong is dtypes.float64
        return dtypes.complex128 if wide else dtypes.complex64, False
    return None


def meet_as_numpy(operands: Iterable[tuple[DType, bool]]) -> DType | None:
    """The dtype in which NumPy has dtypes, which may be weak, meet; None for texts."""
    number = {"b": True, "i": 1, "f": 1.0, "c": 1j}
    found = np.result_type(
        *(
            number[dtype.kind] if weak and dtype.kind in number else dtype.np_dtype
            for dtype, weak in operands
        )
    )
    return as_dtype(found) if found.kind in "biufc" else None


def to_array(value: Any, dtype: DType | None = None) -> tuple[Array, bool]:
    """A new array for `value`, and whether it is weak: made of Python numbers alone.

    Raises ConversionError where the value is no array, or does not fit `dtype`.
    """
    kind = type(value)
    if kind is int or kind is float or kind is bool:
        return _number(value, dtype), True
    if kind is list:
        return _from_sequence(value, dtype)
    if isinstance(value, (np.str_, np.bytes_)):  # as an array, without NULs at its end
        return _checked(np.array(_encode(value), dtype=object), value, dtype), True
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(np.asarray(value), dtype), isinstance(value, np.generic)
    if isinstance(value, (str, bytes)):
        array = np.array(_encode(value), dtype=object)
        return _checked(array, value, dtype), True
    if isinstance(value, (bool, int, float, complex)):
        return _checked(np.array(value), value, dtype), True
    if isinstance(value, TensorShape):
        return _shape_array(value, dtype), False
    if isinstance(value, range):
        value = list(value)
    if isinstance(value, (list, tuple)):
        return _from_sequence(value, dtype)
    if hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype), False
    raise _unsupported(value)


def _shape_array(shape: TensorShape, dtype: DType | None) -> Array:
    if not shape.is_fully_defined():
        raise ConversionError(
            f"the shape {shape} is not fully known and cannot become a tensor; "
            "tf.shape(x) gives the shape that x has when the function runs"
        )
    return _checked(np.array(shape.as_list(), np.int32), shape, dtype)


def float_array(value: float, dtype: np.dtype[Any]) -> Array:
    """A Python float as an array of a floating dtype; NumPy would warn of overflow."""
    if dtype.itemsize == 8 or -65504.0 <= value <= 65504.0:
        return np.array(value, dtype)
    with np.errstate(all="ignore"):
        return np.array(value, np.float64).astype(dtype)


def fit_array(array: Array, dtype: DType) -> Array:
    """An array as `dtype`. Raises ConversionError where that cannot hold its values."""
    return array if array.dtype == dtype.np_dtype else _checked(array, array, dtype)


def _number(value: Any, dtype: DType | None) -> Array:
    """A Python bool, int or float, by the quickest way."""
    if dtype is None:
        if type(value) is float:
            return float_array(value, _FLOAT32)
        if type(value) is bool:
            return np.array(value)
        if -(2**31) <= value < 2**31:
            return np.array(value, _INT32)
        return _checked_range(value, value, dtypes.int64)
    if type(value) is int and dtype.kind in "iu":
        return _checked_range(value, value, dtype)
    return _checked(np.array(value), value, dtype)


def _from_numpy(array: Array, dtype: DType | None) -> Array:
    """A copy of an array, cast to `dtype` if one is asked for."""
    if array.dtype.kind in "OSU":
        return _checked(_strings(array), array, dtype)
    try:
        own = as_dtype(array.dtype)
    except TypeError:
        raise _unsupported(array) from None
    if dtype is None or dtype is own:
        return array.astype(own.np_dtype)
    if dtype.kind == "O":
        raise _does_not_fit(array, dtype)
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise _does_not_fit(array, dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype.np_dtype)


def _from_sequence(value: Any, dtype: DType | None) -> tuple[Array, bool]:
    if dtype is None and 0 < len(value) < FEW:
        kinds = set(map(type, value))
        if kinds == _FLOATS:
            return np.array(value).astype(_FLOAT32), True
        if kinds == _INTS and min(value) >= -(2**31) and max(value) < 2**31:
            return np.array(value, _INT32), True
    types = _leaf_types(value)
    weak = types <= _NUMBERS or not any(
        issubclass(kind, (np.ndarray, np.generic)) for kind in types
    )
    if types & _TEXTS and types <= _TEXTS | {np.ndarray}:
        array = _strings(_rectangular(value, object))
        return _checked(array, value, dtype), weak
    array = _rectangular(value, None)
    if types == _INTS and array.dtype.kind not in "iu":
        # NumPy has a float for what int64 does not hold beside what uint64 does not.
        array = np.array(value, object)
        if dtype is None:
            raise _no_integer(value)
        if dtype.kind in "iu":
            return _checked_range(array, value, dtype), weak
        array = array.astype(np.float64)
    if array.dtype.kind not in "biufc":
        raise _unsupported(value)
    if not types:
        # No elements: nothing that could not be of the dtype.
        return array.astype((dtype or dtypes.float32).np_dtype), weak
    if dtype is not None:
        return _checked(array, value, dtype), weak
    if array.dtype.kind == "i" and np.ndarray not in types:
        fits = array.size == 0 or (array.min() >= -(2**31) and array.max() < 2**31)
        return (array.astype(_INT32) if fits else array), weak
    if array.dtype.kind == "f" and float in types:
        return array.astype(_FLOAT32), weak
    if array.dtype.kind == "u" and weak:
        raise _no_integer(value)
    return _from_numpy(array, None), weak


def _leaf_types(value: Any) -> set[type]:
    """The types of the elements of nested lists and tuples."""
    types = set(map(type, value))
    if types <= _NUMBERS:
        return types
    nested = {kind for kind in types if issubclass(kind, (list, tuple, range))}
    if nested:
        types -= nested
        for item in value:
            if type(item) in nested:
                types |= _leaf_types(item)
    return types


def _rectangular(value: Any, numpy_type: Any) -> Array:
    if numpy_type is object:
        _shape_of(value)  # Raises, where NumPy would make an array of lists.
    try:
        return np.array(value, dtype=numpy_type)
    except (ValueError, TypeError, OverflowError):
        _shape_of(value)  # Raises if that is what is wrong.
        raise _unsupported(value) from None


def _shape_of(value: Any) -> tuple[int, ...]:
    """The shape of nested lists. Raises ConversionError where rows differ in length."""
    if not isinstance(value, (list, tuple, range)):
        return np.shape(value)
    if not any(issubclass(kind, _NESTED) for kind in set(map(type, value))):
        return (len(value),)
    shapes = {_shape_of(item) for item in value}
    if len(shapes) > 1:
        raise _not_rectangular(value)
    return (len(value), *shapes.pop())


def _strings(array: Array) -> Array:
    """An array of texts as an object array of bytes."""
    flat = [_encode(item) for item in array.ravel().tolist()]
    result = np.empty(array.size, dtype=object)
    result[:] = flat
    return result.reshape(array.shape)


def _encode(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return bytes(value)
    raise _unsupported(value)


def _checked(array: Array, value: Any, dtype: DType | None) -> Array:
    """`array`, made from the Python value, as `dtype`, if that holds all of it."""
    if dtype is None:
        return array
    if not compatible(dtype, array.dtype.kind):
        raise _does_not_fit(value, dtype)
    if dtype.kind in "iu" and array.dtype.kind in "iu":
        return _checked_range(array, value, dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype.np_dtype, copy=False)


def _checked_range(array: Any, value: Any, dtype: DType) -> Array:
    low, high = dtype.limits
    if isinstance(array, int):
        fits = low <= array <= high
    else:
        fits = array.size == 0 or (int(array.min()) >= low and int(array.max()) <= high)
    if not fits:
        raise ConversionError(
            f"{_short(value)} is out of the range of {dtype.name}, {low} to {high}"
        )
    return np.array(array, dtype.np_dtype)


def _short(value: Any) -> str:
    text = repr(value.tolist() if isinstance(value, np.ndarray) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def _does_not_fit(value: Any, dtype: DType) -> ConversionError:
    return ConversionError(f"{_short(value)} cannot become a tensor of {dtype.name}")


def _no_integer(value: Any) -> ConversionError:
    return ConversionError(f"{_short(value)} holds an int that no dtype can hold")


def _not_rectangular(value: Any) -> ConversionError:
    return ConversionError(
        f"{_short(value)} cannot become a tensor: its rows differ in length"
    )


def _unsupported(value: Any) -> Exception:
    refusal: Exception | None = getattr(value, "__staged_refusal__", None)
    if refusal is not None:
        return refusal
    return ConversionError(
        f"{_short(value)} of type {type(value).__name__} cannot become a tensor"
    )
