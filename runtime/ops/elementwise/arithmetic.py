"""Arithmetic and comparison."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.context import current_graph
from runtime.core.graph.record import Fails, decomposes, get
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType, as_dtype
from runtime.ops import late as tf
from runtime.ops.apply import apply_one, infer_specs, with_dtype
from runtime.ops.convert import (
    as_tensor,
    cast,
    cast_number,
    constant,
    promote,
)
from runtime.ops.derivatives import Applied, gradient, partials, without_gradient
from runtime.ops.elementwise.factories import (
    ALL,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REAL,
    STRINGS,
    binary_function,
    binary_op,
    eager_operands,
    one_of,
    promote_or_leave,
    run_quietly,
    zero_of,
)
from runtime.ops.gradient_shapes import sum_to

Array = np.ndarray[Any, Any]


# --- kernels --------------------------------------------------------------------------


def _add(x: Array, y: Array) -> Any:
    return with_dtype(np.add(x, y))


def _require_nonzero(x: Array, y: Array) -> None:
    """Integers have no value for a division by zero."""
    if y.dtype.kind in "iu" and not (y if y.ndim == 0 else y.all()):
        raise InvalidArgumentError("integer division by zero")


def _floor_div(x: Array, y: Array) -> Any:
    _require_nonzero(x, y)
    return np.floor_divide(x, y)


def _floor_mod(x: Array, y: Array) -> Any:
    _require_nonzero(x, y)
    return np.mod(x, y)


def _truncate_mod(x: Array, y: Array) -> Any:
    _require_nonzero(x, y)
    return np.fmod(x, y)


def _truncate_div(x: Array, y: Array) -> Any:
    _require_nonzero(x, y)
    if x.dtype.kind == "f":
        return np.trunc(np.true_divide(x, y))
    # Rounding towards zero drops what fmod gives; this stays exact for large integers.
    return np.floor_divide(np.subtract(x, np.fmod(x, y)), y)


def _pow(x: Array, y: Array) -> Any:
    if y.dtype.kind == "i" and np.any(y < 0):
        raise InvalidArgumentError(_NEGATIVE_POWER)
    result = np.power(x, y)
    if y.dtype.kind != "f" or not (half := y == 0.5).any():
        return result
    # NumPy takes the square root there, which differs where there is no power.
    return np.where(half & ((x == 0) | (x == -np.inf)), np.abs(x), result)


_NEGATIVE_POWER = (
    "integers to negative integer powers are not allowed; cast to a float first"
)


def _pow_exactly(x: int, y: int) -> int:
    if y < 0:
        raise InvalidArgumentError(_NEGATIVE_POWER)
    # Beyond 64 bits it is an error in any case, which must not take long.
    number: int = x ** (y if -2 < x < 2 else min(y, 64))
    return number


def _floor_div_exactly(x: int, y: int) -> int:
    if y == 0:
        raise InvalidArgumentError("integer division by zero")
    return x // y


def _truncate_div_exactly(x: int, y: int) -> int:
    quotient = _floor_div_exactly(abs(x), abs(y))
    return quotient if (x < 0) is (y < 0) else -quotient


def _div_no_nan(x: Array, y: Array) -> Any:
    return np.where(y == 0, x.dtype.type(0), np.true_divide(x, y))


def _mul_no_nan(x: Array, y: Array) -> Any:
    return np.where(y == 0, x.dtype.type(0), np.multiply(x, y))


def _squared_difference(x: Array, y: Array) -> Any:
    difference = np.subtract(x, y)
    return np.multiply(difference, np.conj(difference))


# --- ops ------------------------------------------------------------------------------

binary_op("AddV2", _add, NUMBERS + STRINGS, is_symmetric=True, exact=operator.add)
binary_op("Sub", np.subtract, NUMBERS, exact=operator.sub)
binary_op("Mul", np.multiply, NUMBERS, is_symmetric=True, exact=operator.mul)
binary_op("RealDiv", np.true_divide, INEXACT)
binary_op("FloorDiv", _floor_div, REAL, fails=Fails.DIVISOR, exact=_floor_div_exactly)
binary_op("FloorMod", _floor_mod, REAL, fails=Fails.DIVISOR)
binary_op(
    "TruncateDiv", _truncate_div, REAL, fails=Fails.DIVISOR, exact=_truncate_div_exactly
)
binary_op("TruncateMod", _truncate_mod, REAL, fails=Fails.DIVISOR)
binary_op("Pow", _pow, NUMBERS, fails=Fails.EXPONENT, exact=_pow_exactly)
binary_op("DivNoNan", _div_no_nan, INEXACT)
binary_op("MulNoNan", _mul_no_nan, INEXACT)
binary_op(
    "SquaredDifference", _squared_difference, NUMBERS, exact=lambda x, y: (x - y) ** 2
)
for _op in ("Maximum", "Minimum"):
    binary_op(_op, getattr(np, _op.lower()), REAL, is_symmetric=True, picks=True)
for _op in ("Less", "LessEqual", "Greater", "GreaterEqual"):
    _name = _op.lower().replace("equal", "_equal")
    binary_op(_op, getattr(np, _name), REAL, dtypes.bool)
binary_op("Equal", np.equal, ALL, dtypes.bool, is_symmetric=True)
binary_op("NotEqual", np.not_equal, ALL, dtypes.bool, is_symmetric=True)


# --- functions ------------------------------------------------------------------------

add = binary_function("add", "AddV2", "``x + y``; strings are joined.", "Add")
partials("AddV2", lambda x, y, z: 1, lambda x, y, z: 1)
subtract = binary_function("subtract", "Sub", "``x - y``.")
partials("Sub", lambda x, y, z: 1, lambda x, y, z: -1)
multiply = binary_function("multiply", "Mul", "``x * y``.")
floordiv = binary_function(
    "floordiv", "FloorDiv", "``x // y``, rounded down as in Python.", "floordiv"
)
floormod = binary_function(
    "floormod", "FloorMod", "``x % y``, with the sign of `y` as in Python."
)
partials("FloorMod", lambda x, y, z: 1, lambda x, y, z: -floordiv(x, y))

mod = floormod
truncatediv = binary_function(
    "truncatediv", "TruncateDiv", "``x / y``, rounded towards zero."
)
truncatemod = binary_function(
    "truncatemod", "TruncateMod", "The rest of `truncatediv`, with the sign of `x`."
)
partials("TruncateMod", lambda x, y, z: 1, lambda x, y, z: -truncatediv(x, y))
pow = binary_function(
    "pow", "Pow", "``x ** y``. Integers take no negative powers: InvalidArgumentError."
)


def _by_base(x: Any, y: Any, z: Any) -> Any:
    # Of x ** 0 it is 0 also where x is 0, and of x ** 1 it is 1.
    none = y == 0
    return y * pow(
        tf.where(none, tf.ones_like(x), x), tf.where(none, tf.ones_like(y), y - 1)
    )


def _by_exponent(x: Any, y: Any, z: Any) -> Any:
    has_log = not_equal(x, 0) if x.dtype.is_complex else x > 0
    return z * tf.where(
        has_log, tf.log(tf.where(has_log, x, tf.ones_like(x))), tf.zeros_like(x)
    )


partials("Pow", _by_base, _by_exponent)
multiply_no_nan = binary_function(
    "multiply_no_nan",
    "MulNoNan",
    "``x * y``, and 0 where `y` is 0 even if `x` is infinite or NaN.",
    "multiply_no_nan",
)


@decomposes("MulNoNan")
def _mul_no_nan_decomposed(x: Any, y: Any) -> Any:
    zero = y == 0
    return tf.where(zero, zero_of(x), tf.where(zero, zero_of(x), x) * y)


squared_difference = binary_function(
    "squared_difference", "SquaredDifference", "``(x - y) * conj(x - y)``."
)


@decomposes("SquaredDifference")
def _squared_difference_decomposed(x: Any, y: Any) -> Any:
    difference = x - y
    return difference * tf.conj(difference)


@gradient("SquaredDifference")
def _squared_difference_gradient(node: Applied, g: Any) -> Any:
    x, y = node.inputs
    if x.dtype.is_complex:
        # It is real: (x - y) * conj(x - y).
        g = tf.complex(tf.real(g), tf.zeros_like(tf.real(g)))
    each = 2 * g * (x - y)
    by_x = sum_to(each, x, [y]) if node.wanted[0] else None
    return [by_x, tf.negative(sum_to(each, y, [x])) if node.wanted[1] else None]


maximum = binary_function("maximum", "Maximum", "The larger of `x` and `y`; NaN wins.")
partials(
    "Maximum", lambda x, y, z: tf.greater_equal(x, y), lambda x, y, z: tf.less(x, y)
)
minimum = binary_function("minimum", "Minimum", "The smaller of `x` and `y`; NaN wins.")
partials(
    "Minimum",
    lambda x, y, z: tf.less_equal(x, y),
    lambda x, y, z: tf.logical_not(tf.less_equal(x, y)),
)
less = binary_function("less", "Less", "``x < y``.")
less_equal = binary_function("less_equal", "LessEqual", "``x <= y``.")
greater = binary_function("greater", "Greater", "``x > y``.")
greater_equal = binary_function("greater_equal", "GreaterEqual", "``x >= y``.")
equal = binary_function("equal", "Equal", "``x == y``; shapes must broadcast.")
not_equal = binary_function(
    "not_equal", "NotEqual", "``x != y``; shapes must broadcast."
)

without_gradient(
    *("FloorDiv", "TruncateDiv", "Equal", "NotEqual", "Less", "LessEqual", "Greater"),
    "GreaterEqual",
)


#: The dtype of a quotient, by NumPy's number of the dtype of the operands.
_QUOTIENTS: dict[int, DType] = {
    **{dtype.np_dtype.num: dtype for dtype in INEXACT},
    **{
        dtype.np_dtype.num: dtypes.float32 if dtype.size <= 2 else dtypes.float64
        for dtype in INTEGERS
    },
}


def true_divide(op: str, x: Any, y: Any, name: str, reflected: str | None) -> Any:
    """Division whose operands may be integers; the result is a float all the same."""
    operands = eager_operands(x, y) if op == "RealDiv" else None
    if operands is not None:
        quotient = _QUOTIENTS.get(operands[0].dtype.num)
        if quotient is not None:
            try:
                return run_quietly(np.true_divide, *operands, dtype=quotient.np_dtype)
            except (ValueError, RuntimeError):
                pass  # As in `binary_function`.
    graph = current_graph()
    unique = graph.unique_name(name) + "/" if graph else None
    pair = promote_or_leave(x, y, op, unique, reflected)
    return NotImplemented if pair is None else _divide_tensors(op, *pair, unique)


def _divide_tensors(op: str, x: Tensor, y: Tensor, unique: str | None) -> Tensor:
    """The quotient of two tensors of one dtype, which may be integers."""
    if x.dtype.is_integer:
        quotient, weak = _QUOTIENTS[x.dtype.np_dtype.num], x.spec.weak
        x = cast_number(x, quotient, weak, unique and f"{unique}Cast/", weak)
        y = cast_number(y, quotient, weak, unique and f"{unique}Cast_1/", weak)
    if x.dtype.np_dtype.num not in _QUOTIENTS:
        infer_specs(get(op), (x.spec, y.spec), {})  # Raises.
    return apply_one(op, x, y, name=unique)


truediv = binary_function(
    "truediv",
    "RealDiv",
    """``x / y``. Integers are divided as floats: 8 and 16 bits as float32, 32 and 64
    bits as float64.

    >>> truediv(constant(7), 2)
    <tf.Tensor: shape=(), dtype=float64, numpy=3.5>
    """,
    "truediv",
    general=true_divide,
)
partials("RealDiv", lambda x, y, z: 1 / y, lambda x, y, z: -z / y)


divide_no_nan = binary_function(
    "divide_no_nan",
    "DivNoNan",
    "``x / y``, and 0 where `y` is 0; integers as `truediv` divides them.",
    "div_no_nan",
    general=true_divide,
)


@decomposes("DivNoNan")
def _div_no_nan_decomposed(x: Any, y: Any) -> Any:
    zero = y == 0
    return tf.where(zero, zero_of(x), x / tf.where(zero, one_of(y), y))


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y``: see `truediv`."""
    return truediv(x, y, name)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """``1 / x``, and 0 where `x` is 0."""
    return divide_no_nan(1.0, x, name or "reciprocal_no_nan")


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Tensor:
    """``scalar * x``, where `scalar` has no dimensions. Raises InvalidArgumentError."""
    left, right = promote(scalar, x, "Mul")
    if left.shape.rank not in (0, None):
        raise InvalidArgumentError(f"the scalar has the shape {left.shape}").for_op(
            "Mul"
        )
    return multiply(left, right, name or "scalar_mul")


partials("Mul", lambda x, y, z: y, lambda x, y, z: x)


def clip_by_value(
    t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> Tensor:
    """`t` with what lies below or above the two values moved to them.

    >>> clip_by_value([-5, 0, 5], -1, 1)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([-1,  0,  1], dtype=int32)>
    """
    name = name or "clip_by_value"
    return maximum(minimum(t, clip_value_max, f"{name}/Minimum"), clip_value_min, name)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`tf.cast`, where numbers beyond the range of `dtype` become its ends.

    >>> saturate_cast([-5, 300], "uint8")
    <tf.Tensor: shape=(2,), dtype=uint8, numpy=array([  0, 255], dtype=uint8)>
    """
    tensor, target = as_tensor(value), as_dtype(dtype)
    if tensor.dtype.is_complex or target.is_complex:
        return cast(tensor, target, name)
    source = tensor.dtype
    if source.is_floating and target.is_integer and float(source.max) < target.max:
        # An infinity is beyond the range of the target, the ends are not.
        tensor, source = cast(tensor, dtypes.float32), dtypes.float32
    if target.min > source.min:
        tensor = maximum(tensor, constant(_within(target.min, target, source)))
    if target.max < source.max:
        tensor = minimum(tensor, constant(_within(target.max, target, source)))
    return cast(tensor, target, name or "saturate_cast")


def _within(end: Any, target: DType, source: DType) -> Any:
    """An end of the range of `target` as a `source`, rounded to lie within it."""
    value = source.as_numpy_dtype(end)
    if source.is_floating and not target.min <= value.item() <= target.max:
        value = np.nextafter(value, source.as_numpy_dtype(0))
    return value
