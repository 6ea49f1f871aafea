"""Functions of each element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from keras.src.backend import config
from keras.src.backend.common.backend_utils import vectorize_impl

import runtime as tf
from runtime.keras_backend.core import convert_to_tensor, shape, vectorized_map
from runtime.keras_backend.promotion import (
    as_float,
    as_number,
    common_dtype,
    dtype_of,
    in_common,
    in_float,
    is_exact,
    together,
)
from runtime.keras_backend.rows import of_rows, of_rows_and_tensor

# --- of one tensor --------------------------------------------------------------------

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
log2 = in_float(lambda x: tf.math.log(x) / _number(math.log(2.0), x))
log10 = in_float(lambda x: tf.math.log(x) / _number(math.log(10.0), x))
sin = in_float(tf.sin)
sinh = in_float(tf.sinh)
sqrt = in_float(tf.sqrt)
tan = in_float(tf.tan)
tanh = in_float(tf.tanh)
ceil = in_float(tf.math.ceil)
floor = in_float(tf.floor)
angle = in_float(tf.math.angle)


def _number(value: float, like: Any) -> Any:
    return tf.cast(tf.constant(value, tf.float64), like.dtype)


def _as_floatx(x: Any) -> Any:
    """Integers in Keras's own dtype, other numbers as they are."""
    x = convert_to_tensor(x)
    return tf.cast(x, config.floatx()) if is_exact(x) else x


def _in_double(x: Any) -> Any:
    """Integers in floating point, those of 64 bits in float64."""
    x = convert_to_tensor(x)
    return tf.cast(x, "float64") if dtype_of(x) == "int64" else as_float(x)


def exp(x: Any) -> Any:
    return tf.exp(_as_floatx(x))


def exp2(x: Any) -> Any:
    x = _as_floatx(x)
    return tf.exp(x * _number(math.log(2.0), x))


def expm1(x: Any) -> Any:
    return tf.math.expm1(_as_floatx(x))


def absolute(x: Any) -> Any:
    x = convert_to_tensor(x)
    return x if dtype_of(x) == "bool" or "uint" in dtype_of(x) else tf.abs(x)


abs = absolute


def fabs(x: Any) -> Any:
    return tf.abs(_as_floatx(x))


negative = of_rows(lambda x: tf.negative(convert_to_tensor(x)))


def reciprocal(x: Any) -> Any:
    return tf.math.reciprocal(convert_to_tensor(x))


square = of_rows(lambda x: tf.square(as_number(x)))


def cbrt(x: Any) -> Any:
    x = _in_double(x)
    return tf.sign(x) * tf.pow(tf.abs(x), _number(1 / 3, x))


def deg2rad(x: Any) -> Any:
    x = _in_double(x)
    return x * _number(math.pi / 180, x)


def rad2deg(x: Any) -> Any:
    x = _in_double(x)
    return x * _number(180 / math.pi, x)


def sign(x: Any) -> Any:
    x = convert_to_tensor(x)
    if "uint" in dtype_of(x) or dtype_of(x) in ("bool", "int8", "int16"):
        return tf.cast(tf.sign(tf.cast(x, "int64")), x.dtype)
    return tf.sign(x)


def signbit(x: Any) -> Any:
    x = convert_to_tensor(x)
    if dtype_of(x) == "bool" or "uint" in dtype_of(x):
        return tf.zeros_like(x, "bool")
    if is_exact(x):
        return x < tf.zeros([], x.dtype)
    # atan2 tells the zeros apart.
    below = x < tf.zeros([], x.dtype)
    is_zero = tf.equal(x, tf.zeros([], x.dtype))
    return below | (is_zero & (tf.atan2(x, -tf.ones_like(x)) < tf.zeros([], x.dtype)))


def sinc(x: Any) -> Any:
    x = as_float(x) * _number(math.pi, as_float(x))
    is_zero = tf.equal(x, tf.zeros_like(x))
    safe = tf.where(is_zero, tf.ones_like(x), x)
    return tf.where(is_zero, tf.ones_like(x), tf.sin(safe) / safe)


def i0(x: Any) -> Any:
    """The modified Bessel function of order 0: a series, and its limit far out."""
    x = tf.abs(_in_double(x))
    kind = x.dtype
    x = tf.cast(x, "float64")
    quarter = tf.square(tf.minimum(x, tf.constant(20.0, tf.float64)) / 2)
    term = tf.ones_like(x)
    total = term
    for k in range(1, 60):
        term = term * quarter / (k * k)
        total = total + term
    far = tf.maximum(x, tf.constant(20.0, tf.float64))
    factor = tf.ones_like(far)
    tail = factor
    for k in range(1, 15):
        factor = factor * ((2 * k - 1) ** 2 / (8.0 * k)) / far
        tail = tail + factor
    limit = tf.exp(far) / tf.sqrt(2 * math.pi * far) * tail
    return tf.cast(tf.where(x <= 20.0, total, limit), kind)


def round(x: Any, decimals: int = 0) -> Any:
    x = as_number(x)
    if decimals == 0:
        return tf.round(x)
    kind = x.dtype
    if is_exact(x):
        if decimals > 0:
            return x
        x = tf.cast(x, "float64")
    factor = _number(10.0**decimals, x)
    return tf.cast(tf.round(x * factor) / factor, kind)


def trunc(x: Any) -> Any:
    x = convert_to_tensor(x)
    if is_exact(x):
        return x
    return tf.where(x < tf.zeros([], x.dtype), tf.math.ceil(x), tf.floor(x))


def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    x = as_number(x)
    low = None if x_min is None else convert_to_tensor(x_min)
    high = None if x_max is None else convert_to_tensor(x_max)
    if low is not None:
        x = tf.maximum(x, tf.cast(low, x.dtype))
    return x if high is None else tf.minimum(x, tf.cast(high, x.dtype))


def isfinite(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tf.ones_like(x, "bool") if is_exact(x) else tf.math.is_finite(x)


def isinf(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tf.zeros_like(x, "bool") if is_exact(x) else tf.math.is_inf(x)


def isnan(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tf.zeros_like(x, "bool") if is_exact(x) else tf.math.is_nan(x)


def isneginf(x: Any) -> Any:
    x = convert_to_tensor(x)
    return isinf(x) & (x < tf.zeros([], x.dtype)) if not is_exact(x) else isinf(x)


def isposinf(x: Any) -> Any:
    x = convert_to_tensor(x)
    return isinf(x) & (x > tf.zeros([], x.dtype)) if not is_exact(x) else isinf(x)


def isreal(x: Any) -> Any:
    x = convert_to_tensor(x)
    if "complex" in dtype_of(x):
        return tf.equal(tf.math.imag(x), 0)
    return tf.ones_like(x, "bool")


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

    def full(value: Any) -> Any:
        return tf.fill(tf.shape(x), tf.cast(value, x.dtype))

    x = tf.where(tf.math.is_nan(x), full(nan), x)
    x = tf.where(isposinf(x), full(x.dtype.max if posinf is None else posinf), x)
    return tf.where(isneginf(x), full(x.dtype.min if neginf is None else neginf), x)


def logical_not(x: Any) -> Any:
    return tf.logical_not(convert_to_tensor(x, "bool"))


def bitwise_invert(x: Any) -> Any:
    x = convert_to_tensor(x)
    return tf.logical_not(x) if dtype_of(x) == "bool" else tf.bitwise.invert(x)


bitwise_not = bitwise_invert

# --- of two operands ------------------------------------------------------------------


def add(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    return tf.logical_or(x1, x2) if dtype_of(x1) == "bool" else tf.add(x1, x2)


def _multiply(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    return tf.logical_and(x1, x2) if dtype_of(x1) == "bool" else tf.multiply(x1, x2)


multiply = of_rows_and_tensor(_multiply, commutes=True)


def subtract(x1: Any, x2: Any) -> Any:
    return tf.subtract(*together(x1, x2))


divide = true_divide = of_rows_and_tensor(
    lambda x1, x2: tf.divide(*together(x1, x2, at_least=float))
)


def divide_no_nan(x1: Any, x2: Any) -> Any:
    return tf.math.divide_no_nan(*together(x1, x2, at_least=float))


def floor_divide(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    if dtype_of(x1) == "bool":
        return tf.cast(tf.math.floordiv(as_number(x1), as_number(x2)), "int8")
    return tf.math.floordiv(x1, x2)


def mod(x1: Any, x2: Any) -> Any:
    x1, x2 = (as_number(x) for x in together(x1, x2))
    return tf.math.floormod(x1, x2)


def fmod(x1: Any, x2: Any) -> Any:
    x1, x2 = (as_number(x) for x in together(x1, x2))
    return tf.truncatemod(x1, x2)


def power(x1: Any, x2: Any) -> Any:
    x1, x2 = (as_number(x) for x in together(x1, x2))
    return tf.pow(x1, x2)


def maximum(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    return tf.logical_or(x1, x2) if dtype_of(x1) == "bool" else tf.maximum(x1, x2)


def minimum(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    return tf.logical_and(x1, x2) if dtype_of(x1) == "bool" else tf.minimum(x1, x2)


def fmax(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    larger = tf.where(isnan(x2), x1, maximum(x1, x2))
    return tf.where(isnan(x1), x2, larger)


def fmin(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    smaller = tf.where(isnan(x2), x1, minimum(x1, x2))
    return tf.where(isnan(x1), x2, smaller)


def arctan2(x1: Any, x2: Any) -> Any:
    return tf.atan2(*together(x1, x2, at_least=float))


def hypot(x1: Any, x2: Any) -> Any:
    x1, x2 = (tf.abs(_in_double(x)) for x in together(x1, x2))
    large, small = tf.maximum(x1, x2), tf.minimum(x1, x2)
    ratio = tf.math.divide_no_nan(small, large)
    return large * tf.sqrt(tf.ones_like(ratio) + tf.square(ratio))


def heaviside(x1: Any, x2: Any) -> Any:
    x1, x2 = (_in_double(x) for x in together(x1, x2))
    zero = tf.zeros([], x1.dtype)
    steps = tf.where(x1 < zero, zero, tf.ones_like(x1))
    return tf.where(tf.equal(x1, zero), x2, steps)


def logaddexp(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2, at_least=float)
    larger = tf.maximum(x1, x2)
    distance = tf.where(tf.equal(x1, x2), tf.zeros_like(larger), tf.abs(x1 - x2))
    return larger + tf.math.log1p(tf.exp(-distance))


def logaddexp2(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2, at_least=float)
    factor = _number(math.log(2.0), x1)
    return logaddexp(x1 * factor, x2 * factor) / factor


def ldexp(x1: Any, x2: Any) -> Any:
    x1, x2 = convert_to_tensor(x1), convert_to_tensor(x2)
    if "int" not in dtype_of(x2):
        raise TypeError(
            f"ldexp exponent must be an integer type. Received: x2 dtype={x2.dtype}"
        )
    dtype = common_dtype(x1, x2, float)
    two = tf.cast(2.0, dtype)
    return tf.cast(x1, dtype) * tf.pow(two, tf.cast(x2, dtype))


def nextafter(x1: Any, x2: Any) -> Any:
    dtype = common_dtype(convert_to_tensor(x1), convert_to_tensor(x2), float)
    wide = "float64" if dtype == "float64" else "float32"
    found = tf.math.nextafter(convert_to_tensor(x1, wide), convert_to_tensor(x2, wide))
    return tf.cast(found, dtype)


def gcd(x1: Any, x2: Any) -> Any:
    x1, x2 = together(x1, x2)
    x1, x2 = tf.broadcast_to(absolute(x1), _joint(x1, x2)), absolute(x2)
    x2 = tf.broadcast_to(x2, tf.shape(x1))

    def step(a: Any, b: Any) -> Any:
        is_zero = tf.equal(b, tf.zeros_like(b))
        rest = tf.math.floormod(a, tf.where(is_zero, tf.ones_like(b), b))
        return tf.where(is_zero, a, b), tf.where(is_zero, b, rest)

    zero = tf.zeros([], x1.dtype)
    return tf.while_loop(
        lambda a, b: tf.reduce_any(tf.not_equal(b, zero)), step, (x1, x2)
    )[0]


def lcm(x1: Any, x2: Any) -> Any:
    x1, x2 = (absolute(x) for x in together(x1, x2))
    common = gcd(x1, x2)
    one = tf.ones_like(common)
    return x1 // tf.where(tf.equal(common, 0 * one), one, common) * x2


def _joint(x: Any, y: Any) -> Any:
    return tf.shape(tf.broadcast_to(x, np.broadcast_shapes(shape(x), shape(y))))


def _compared(function: Any) -> Any:
    def compare(x1: Any, x2: Any) -> Any:
        x1, x2 = together(x1, x2)
        if dtype_of(x1) == "bool":
            x1, x2 = tf.cast(x1, "uint8"), tf.cast(x2, "uint8")
        return function(x1, x2)

    return compare


equal = in_common(tf.equal)
not_equal = in_common(tf.not_equal)
greater = _compared(tf.greater)
greater_equal = _compared(tf.greater_equal)
less = _compared(tf.less)
less_equal = _compared(tf.less_equal)


def _logical(function: Any) -> Any:
    return lambda x1, x2: function(
        convert_to_tensor(x1, "bool"), convert_to_tensor(x2, "bool")
    )


logical_and = _logical(tf.logical_and)
logical_or = _logical(tf.logical_or)
logical_xor = _logical(tf.math.logical_xor)


def _of_bits(of_ints: Any, of_bools: Any) -> Any:
    def combine(x: Any, y: Any) -> Any:
        x, y = together(x, y)
        return (of_bools if dtype_of(x) == "bool" else of_ints)(x, y)

    return combine


bitwise_and = _of_bits(tf.bitwise.bitwise_and, tf.logical_and)
bitwise_or = _of_bits(tf.bitwise.bitwise_or, tf.logical_or)
bitwise_xor = _of_bits(tf.bitwise.bitwise_xor, tf.math.logical_xor)
bitwise_left_shift = left_shift = in_common(
    lambda x, y: tf.bitwise.left_shift(as_number(x), as_number(y))
)
bitwise_right_shift = right_shift = in_common(
    lambda x, y: tf.bitwise.right_shift(as_number(x), as_number(y))
)


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
