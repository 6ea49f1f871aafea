"""Functions of each element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src.backend import config
from keras.src.backend.common.backend_utils import vectorize_impl

import runtime as tf
from runtime.training.keras_backend.core import convert_to_tensor, shape, vectorized_map
from runtime.training.keras_backend.promotion import (
    as_float,
    as_number,
    common_dtype,
    dtype_of,
    in_common,
    in_float,
    is_exact,
    together,
)
from runtime.training.keras_backend.rows import of_rows, of_rows_and_tensor

LOG_2, LOG_10 = math.log(2), math.log(10)

# --- of one tensor, in floating point -------------------------------------------------

arccos = in_float(tf.acos)
arccosh = in_float(tf.acosh)
arcsin = in_float(tf.asin)
arcsinh = in_float(tf.asinh)
arctan = in_float(tf.atan)
arctanh = in_float(tf.atanh)
cos = in_float(tf.cos)
cosh = in_float(tf.cosh)
log = in_float(tf.math.log)
log1p = in_float(tf.math.log1p)
log2 = in_float(lambda x: tf.math.log(x) / LOG_2)
log10 = in_float(lambda x: tf.math.log(x) / LOG_10)
sin = in_float(tf.sin)
sinh = in_float(tf.sinh)
sqrt = in_float(tf.sqrt)
tan = in_float(tf.tan)
tanh = in_float(tf.tanh)
ceil = in_float(tf.math.ceil)
floor = in_float(tf.floor)
angle = in_float(tf.math.angle)


def _in_floatx(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function of integers in Keras's own dtype, of other numbers as they are."""

    def compute(x: Any) -> Any:
        x = convert_to_tensor(x)
        return function(tf.cast(x, config.floatx()) if is_exact(x) else x)

    return compute


exp = _in_floatx(tf.exp)
exp2 = _in_floatx(lambda x: tf.exp(x * LOG_2))
expm1 = _in_floatx(tf.math.expm1)
fabs = _in_floatx(tf.abs)


def _as_double(x: Any) -> Any:
    """Integers in floating point, those of 64 bits in float64."""
    x = convert_to_tensor(x)
    return tf.cast(x, "float64") if dtype_of(x) == "int64" else as_float(x)


def cbrt(x: Any) -> Any:
    x = _as_double(x)
    return tf.sign(x) * tf.pow(tf.abs(x), 1 / 3)


def deg2rad(x: Any) -> Any:
    return _as_double(x) * (math.pi / 180)


def rad2deg(x: Any) -> Any:
    return _as_double(x) * (180 / math.pi)


def sinc(x: Any) -> Any:
    x = as_float(x) * math.pi
    is_zero = tf.equal(x, 0)
    safe = tf.where(is_zero, 1.0, x)
    return tf.where(is_zero, 1.0, tf.sin(safe) / safe)


def i0(x: Any) -> Any:
    """The modified Bessel function of order 0: a series, and its limit far out."""
    x = tf.abs(_as_double(x))
    kind = x.dtype
    x = tf.cast(x, "float64")
    quarter = tf.square(tf.minimum(x, 20.0) / 2)
    total = term = tf.ones_like(x)
    for k in range(1, 60):
        term = term * quarter / (k * k)
        total = total + term
    far = tf.maximum(x, 20.0)
    tail = factor = tf.ones_like(far)
    for k in range(1, 15):
        factor = factor * ((2 * k - 1) ** 2 / (8.0 * k)) / far
        tail = tail + factor
    limit = tf.exp(far) / tf.sqrt(2 * math.pi * far) * tail
    return tf.cast(tf.where(x <= 20.0, total, limit), kind)


# --- of one tensor --------------------------------------------------------------------

negative = of_rows(lambda x: tf.negative(convert_to_tensor(x)))
square = of_rows(lambda x: tf.square(as_number(x)))


def absolute(x: Any) -> Any:
    x = convert_to_tensor(x)
    return x if dtype_of(x) == "bool" or "uint" in dtype_of(x) else tf.abs(x)


abs = absolute


def reciprocal(x: Any) -> Any:
    return tf.math.reciprocal(convert_to_tensor(x))


def sign(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tf.cast(tf.sign(tf.cast(x, "int64") if is_exact(x) else x), x.dtype)


def signbit(x: Any) -> Any:
    x = convert_to_tensor(x)
    if dtype_of(x) == "bool" or is_exact(x):
        return as_number(x) < 0
    # atan2 tells the zeros apart.
    return (x < 0) | (tf.equal(x, 0) & (tf.atan2(x, -tf.ones_like(x)) < 0))


def round(x: Any, decimals: int = 0) -> Any:
    x = as_number(x)
    if decimals == 0 or (is_exact(x) and decimals > 0):
        return tf.round(x)
    wide = tf.cast(x, "float64") if is_exact(x) else x
    factor = tf.constant(10.0**decimals, wide.dtype)
    return tf.cast(tf.round(wide * factor) / factor, x.dtype)


def trunc(x: Any) -> Any:
    x = convert_to_tensor(x)
    return x if is_exact(x) else tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    x = as_number(x)
    if x_min is not None:
        x = tf.maximum(x, convert_to_tensor(x_min, x.dtype))
    return x if x_max is None else tf.minimum(x, convert_to_tensor(x_max, x.dtype))


def _test(of_floats: Callable[[Any], Any], of_others: Any) -> Callable[[Any], Any]:
    """A test of each number, whose outcome is known for integers and bools."""

    def test(x: Any) -> Any:
        x = convert_to_tensor(x)
        return of_others(x, "bool") if is_exact(x) else of_floats(x)

    return test


isfinite = _test(tf.math.is_finite, tf.ones_like)
isinf = _test(tf.math.is_inf, tf.zeros_like)
isnan = _test(tf.math.is_nan, tf.zeros_like)
isneginf = _test(lambda x: tf.equal(x, float("-inf")), tf.zeros_like)
isposinf = _test(lambda x: tf.equal(x, float("inf")), tf.zeros_like)
isreal = _test(lambda x: tf.equal(imag(x), 0), tf.ones_like)


def real(x: Any) -> Any:
    return tf.math.real(convert_to_tensor(x))


def imag(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tf.math.imag(x) if "complex" in dtype_of(x) else tf.zeros_like(x)


def conjugate(x: Any) -> Any:
    return tf.math.conj(convert_to_tensor(x))


conj = conjugate


def nan_to_num(
    x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    x = convert_to_tensor(x)
    if is_exact(x):
        return x
    x = tf.where(isnan(x), tf.constant(nan, x.dtype), x)
    high = x.dtype.max if posinf is None else posinf
    x = tf.where(isposinf(x), tf.constant(high, x.dtype), x)
    low = x.dtype.min if neginf is None else neginf
    return tf.where(isneginf(x), tf.constant(low, x.dtype), x)


def logical_not(x: Any) -> Any:
    return tf.logical_not(convert_to_tensor(x, "bool"))


def bitwise_invert(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tf.logical_not(x) if dtype_of(x) == "bool" else tf.bitwise.invert(x)


bitwise_not = bitwise_invert

# --- of two operands ------------------------------------------------------------------

Binary = Callable[[Any, Any], Any]


def _or_of_bools(of_numbers: Binary, of_bools: Binary) -> Binary:
    """A function of two operands in the dtype of both, with another one for bools."""

    def combine(x1: Any, x2: Any) -> Any:
        x1, x2 = together(x1, x2)
        return (of_bools if dtype_of(x1) == "bool" else of_numbers)(x1, x2)

    return combine


def _of_numbers(function: Binary) -> Binary:
    """A function of two operands, for which bools are integers."""
    return lambda x1, x2: function(*map(as_number, together(x1, x2)))


add = _or_of_bools(tf.add, tf.logical_or)
multiply = of_rows_and_tensor(_or_of_bools(tf.multiply, tf.logical_and), commutes=True)
maximum = _or_of_bools(tf.maximum, tf.logical_or)
minimum = _or_of_bools(tf.minimum, tf.logical_and)
bitwise_and = _or_of_bools(tf.bitwise.bitwise_and, tf.logical_and)
bitwise_or = _or_of_bools(tf.bitwise.bitwise_or, tf.logical_or)
bitwise_xor = _or_of_bools(tf.bitwise.bitwise_xor, tf.math.logical_xor)
floor_divide = _or_of_bools(
    tf.math.floordiv,
    lambda x, y: tf.math.floordiv(tf.cast(x, "int8"), tf.cast(y, "int8")),
)

mod = _of_numbers(tf.math.floormod)
fmod = _of_numbers(tf.truncatemod)
power = _of_numbers(tf.pow)
bitwise_left_shift = left_shift = _of_numbers(tf.bitwise.left_shift)
bitwise_right_shift = right_shift = _of_numbers(tf.bitwise.right_shift)
greater = _of_numbers(tf.greater)
greater_equal = _of_numbers(tf.greater_equal)
less = _of_numbers(tf.less)
less_equal = _of_numbers(tf.less_equal)

equal = in_common(tf.equal)
not_equal = in_common(tf.not_equal)
subtract = in_common(tf.subtract)
divide = true_divide = of_rows_and_tensor(in_common(tf.divide, float))
divide_no_nan = in_common(tf.math.divide_no_nan, float)
arctan2 = in_common(tf.atan2, float)


def _logical(function: Binary) -> Binary:
    return lambda x1, x2: function(
        convert_to_tensor(x1, "bool"), convert_to_tensor(x2, "bool")
    )


logical_and = _logical(tf.logical_and)
logical_or = _logical(tf.logical_or)
logical_xor = _logical(tf.math.logical_xor)


def _unless_nan(choose: Binary) -> Binary:
    """The one of two numbers that a function chooses, but NaN only of two NaNs."""

    def combine(x1: Any, x2: Any) -> Any:
        x1, x2 = together(x1, x2)
        return tf.where(isnan(x1), x2, tf.where(isnan(x2), x1, choose(x1, x2)))

    return combine


fmax = _unless_nan(maximum)
fmin = _unless_nan(minimum)


def hypot(x1: Any, x2: Any) -> Any:
    x1, x2 = (tf.abs(_as_double(x)) for x in together(x1, x2))
    large, small = tf.maximum(x1, x2), tf.minimum(x1, x2)
    return large * tf.sqrt(1 + tf.square(tf.math.divide_no_nan(small, large)))


def heaviside(x1: Any, x2: Any) -> Any:
    x1, x2 = (_as_double(x) for x in together(x1, x2))
    return tf.where(tf.equal(x1, 0), x2, tf.where(x1 < 0, tf.zeros_like(x1), 1.0))


def logaddexp(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2, at_least=float)
    distance = tf.where(tf.equal(x1, x2), 0.0, tf.abs(x1 - x2))
    return tf.maximum(x1, x2) + tf.math.log1p(tf.exp(-distance))


def logaddexp2(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2, at_least=float)
    return logaddexp(x1 * LOG_2, x2 * LOG_2) / LOG_2


def ldexp(x1: Any, x2: Any) -> Any:
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    if "int" not in dtype_of(x2):
        raise TypeError(
            f"ldexp exponent must be an integer type. Received: x2 dtype={x2.dtype}"
        )
    dtype = common_dtype(x1, x2, float)
    return tf.cast(x1, dtype) * tf.pow(2.0, tf.cast(x2, dtype))


def nextafter(x1: Any, x2: Any) -> Any:
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    dtype = common_dtype(x1, x2, float)
    wide = "float64" if dtype == "float64" else "float32"
    return tf.cast(tf.math.nextafter(tf.cast(x1, wide), tf.cast(x2, wide)), dtype)


def gcd(x1: Any, x2: Any) -> Any:
    x1, x2 = map(absolute, together(x1, x2))
    dims = np.broadcast_shapes(shape(x1), shape(x2))

    def step(a: Any, b: Any) -> Any:
        is_zero = tf.equal(b, 0)
        rest = tf.math.floormod(a, tf.where(is_zero, 1, b))
        return tf.where(is_zero, a, b), tf.where(is_zero, b, rest)

    return tf.while_loop(
        lambda a, b: tf.reduce_any(tf.not_equal(b, 0)),
        step,
        (tf.broadcast_to(x1, dims), tf.broadcast_to(x2, dims)),
    )[0]


def lcm(x1: Any, x2: Any) -> Any:
    x1, x2 = map(absolute, together(x1, x2))
    common = gcd(x1, x2)
    return x1 // tf.where(tf.equal(common, 0), 1, common) * x2


def isclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    x1, x2 = together(x1, x2)
    same = tf.equal(x1, x2)
    if is_exact(x1):
        x1, x2 = tf.cast(x1, "float64"), tf.cast(x2, "float64")
    near = tf.abs(x1 - x2) <= (tf.abs(x2) * rtol + atol)
    close = same | (near & isfinite(x2) & isfinite(x1))
    return close | (isnan(x1) & isnan(x2)) if equal_nan else close


def allclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    return tf.reduce_all(isclose(x1, x2, rtol, atol, equal_nan))


def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    condition = convert_to_tensor(condition, "bool")
    if x1 is None or x2 is None:
        return tuple(tf.unstack(tf.cast(tf.where(condition), "int32"), axis=1))
    return tf.where(condition, *together(x1, x2))


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        result = where(condition, choice, result)
    return result


def vectorize(pyfunc: Any, *, excluded: Any = None, signature: Any = None) -> Any:
    return vectorize_impl(
        pyfunc, vectorized_map, excluded=excluded, signature=signature
    )
