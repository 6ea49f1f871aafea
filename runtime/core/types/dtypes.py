"""The element types of tensors.

>>> int32, int32 == "int32", int32.is_integer, int32.max
(tf.int32, True, True, 2147483647)
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from runtime.core.errors import UnimplementedError

__all__ = [
    "DType", "as_dtype", "bfloat16", "bool", "complex64", "complex128", "double",
    "float16", "float32", "float64", "half", "int8", "int16", "int32", "int64",
    "narrow", "resource", "string", "uint8", "uint16", "uint32", "uint64", "variant",
    "wide",
]  # fmt: skip


class DType:
    """The type of the elements of a tensor, such as ``tf.float32``.

    There is one object for each type. It equals its NumPy type and its name, and prints
    as ``float32`` does in ``<dtype: 'float32'>``.
    """

    __slots__ = ("as_datatype_enum", "as_numpy_dtype", "kind", "name", "np_dtype")

    name: str
    #: The scalar type of NumPy: ``np.float32``; ``object`` for strings.
    as_numpy_dtype: type[Any]
    #: The same as a ``np.dtype``.
    np_dtype: np.dtype[Any]
    #: The number of the type in TensorFlow's files.
    as_datatype_enum: int
    #: NumPy's letter for the kind: ``f``, ``i``, ``u``, ``b``, ``c``, or ``O``.
    kind: str

    def __init__(self, name: str, numpy_type: type[Any], enum: int) -> None:
        self.name = name
        self.as_numpy_dtype = numpy_type
        self.np_dtype = np.dtype(numpy_type)
        self.as_datatype_enum = enum
        self.kind = self.np_dtype.kind

    @property
    def is_floating(self) -> builtins.bool:
        """Whether this is a real floating point type."""
        return self.kind == "f"

    @property
    def is_integer(self) -> builtins.bool:
        """Whether this is an integer type, signed or not."""
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> builtins.bool:
        """Whether this is an unsigned integer type."""
        return self.kind == "u"

    @property
    def is_bool(self) -> builtins.bool:
        """Whether this is ``tf.bool``."""
        return self.kind == "b"

    @property
    def is_complex(self) -> builtins.bool:
        """Whether this is a complex type."""
        return self.kind == "c"

    @property
    def is_numeric(self) -> builtins.bool:
        """Whether the elements are numbers (bools and strings are not)."""
        return self.kind in "fiuc"

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        """Whether NumPy has arrays of this type: always."""
        return True

    @property
    def base_dtype(self) -> DType:
        """The type itself: there are no reference types here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part of a complex type; else the type itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def size(self) -> int:
        """The bytes of one element; 0 for strings, whose elements vary."""
        return 0 if self.kind == "O" else self.np_dtype.itemsize

    @property
    def min(self) -> Any:
        """The smallest value; for floating types the most negative finite one."""
        return self.limits[0]

    @property
    def max(self) -> Any:
        """The largest value; for floating types the largest finite one."""
        return self.limits[1]

    @property
    def limits(self) -> tuple[Any, Any]:
        """``(min, max)``. Raises TypeError for types without an order."""
        if self.kind in "iu":
            info = np.iinfo(self.np_dtype)
            return info.min, info.max
        if self.kind == "f":
            float_info = np.finfo(self.np_dtype)
            return float_info.min, float_info.max
        if self.kind == "b":
            return False, True
        raise TypeError(f"{self!r} has no smallest and largest value")

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a tensor of type `other` can be used here: if they are equal."""
        return self is as_dtype(other)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __eq__(self, other: object) -> builtins.bool:
        if isinstance(other, DType):
            return self is other
        if other is None:
            return False
        try:
            return self is as_dtype(other)
        except (TypeError, UnimplementedError):
            return False

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


float32 = DType("float32", np.float32, 1)
float64 = DType("float64", np.float64, 2)
int32 = DType("int32", np.int32, 3)
uint8 = DType("uint8", np.uint8, 4)
int16 = DType("int16", np.int16, 5)
int8 = DType("int8", np.int8, 6)
string = DType("string", object, 7)
complex64 = DType("complex64", np.complex64, 8)
int64 = DType("int64", np.int64, 9)
bool = DType("bool", np.bool_, 10)
uint16 = DType("uint16", np.uint16, 17)
complex128 = DType("complex128", np.complex128, 18)
float16 = DType("float16", np.float16, 19)
uint32 = DType("uint32", np.uint32, 22)
uint64 = DType("uint64", np.uint64, 23)
half = float16
double = float64
#: What graphs hand on of a data set and of an iterator: no elements of tensors.
variant = DType("variant", object, 21)
resource = DType("resource", object, 20)

ALL = (
    float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    complex64, complex128, bool, string,
)  # fmt: skip

_BY_NAME = {dtype.name: dtype for dtype in (*ALL, variant, resource)} | {
    "half": half,
    "float": float32,
    "double": double,
}
_BY_ENUM = {dtype.as_datatype_enum: dtype for dtype in _BY_NAME.values()}
_BY_NUMPY: dict[Any, DType] = {dtype.np_dtype: dtype for dtype in ALL}
_BY_PYTHON: dict[Any, DType] = {
    builtins.bool: bool,
    int: int32,
    float: float32,
    complex: complex128,
    str: string,
    bytes: string,
    object: string,
}


#: What a Python number is in a graph, and what TensorFlow makes of one, by its kind.
_WIDE = {"i": int64, "u": int64, "f": float64, "c": complex128}
_NARROW = {"i": int32, "f": float32}


def wide(dtype: DType) -> DType:
    """The dtype in which a graph computes with Python numbers of this kind.

    >>> wide(int8), wide(float32), wide(string)
    (tf.int64, tf.float64, tf.string)
    """
    return _WIDE.get(dtype.kind, dtype)


def narrow(dtype: DType) -> DType:
    """The dtype that a Python number of this kind has as a tensor of its own.

    >>> narrow(int64), narrow(float64), narrow(complex128)
    (tf.int32, tf.float32, tf.complex128)
    """
    return _NARROW.get(dtype.kind, dtype)


def of_array(array: np.ndarray[Any, Any]) -> DType:
    """The type of an array that is known to hold one of our types."""
    return _BY_NUMPY[array.dtype]


class _Absent:
    """A type of TensorFlow's that tensors cannot have here."""

    def __repr__(self) -> str:
        return "tf.bfloat16"


#: No type of tensors: NumPy has none of the kind. Using it says so.
bfloat16 = _Absent()
_NO_BFLOAT16 = (
    "tf.bfloat16: NumPy has no such numbers. Use tf.float32, which has their range, or "
    "tf.float16, which is as small"
)


def as_dtype(value: Any) -> DType:
    """The type that `value` names: a DType, a name, a NumPy type, or a Python type.

    Raises TypeError for anything else; UnimplementedError for ``tf.bfloat16``.

    >>> as_dtype("float32"), as_dtype(float), as_dtype(complex)
    (tf.float32, tf.float32, tf.complex128)
    """
    if isinstance(value, DType):
        return value
    try:
        if value is None:
            raise TypeError
        if isinstance(value, str):
            return _BY_NAME[value]
        if isinstance(value, int):
            return _BY_ENUM[value]
        if isinstance(value, type) and not issubclass(value, np.generic):
            return _BY_PYTHON[value]
        return _BY_NUMPY.get(value) or _of_numpy(np.dtype(value))
    except (KeyError, TypeError):
        if value is bfloat16 or (isinstance(value, str) and value == "bfloat16"):
            raise UnimplementedError(_NO_BFLOAT16) from None
        raise TypeError(f"{value!r} is not a dtype of tensors") from None


def _of_numpy(dtype: np.dtype[Any]) -> DType:
    """The type for a NumPy dtype, whatever its byte order or text length."""
    return string if dtype.kind in "SU" else _BY_NUMPY[dtype.newbyteorder("=")]
