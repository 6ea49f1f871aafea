"""NumPy's view: elements, reductions and products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import runtime as tf
from runtime.names.numpy_view.arrays import diagonal, moveaxis, ravel
from runtime.names.numpy_view.conversion import (
    Function,
    along,
    as_dtype,
    asarray,
    axis_of,
    common_dtype,
    inexact,
    promoted,
    table,
)

# --- element by element ---------------------------------------------------------------


def _from_table(name: str) -> Function:
    function = table(name)
    return lambda *x: function(*promoted(*x))


def _of_floats(op: Function) -> Function:
    return lambda x: op(inexact(x))


def _of_common(op: Function) -> Function:
    return lambda x1, x2: op(*promoted(x1, x2))


def _of_common_floats(op: Function) -> Function:
    return lambda x1, x2: op(*map(inexact, promoted(x1, x2)))


def _sinc(x: Any) -> Any:
    angle = tf.where(x == 0, tf.ones_like(x), math.pi * x)
    return tf.where(x == 0, tf.ones_like(x), tf.sin(angle) / angle)


def _logaddexp(x: Any, y: Any) -> Any:
    # Of equal infinities the difference would be NaN.
    apart = tf.where(x == y, tf.zeros_like(x), tf.abs(x - y))
    return tf.maximum(x, y) + tf.math.log1p(tf.exp(-apart))


def _infinite(positive: bool) -> Function:
    def infinite(x: Any) -> Any:
        found = inexact(x)
        return tf.math.is_inf(found) & (found > 0 if positive else found < 0)

    return infinite


_TABLE = (
    "absolute add arctan2 divide equal greater greater_equal isfinite isinf isnan less "
    "less_equal logical_and logical_not logical_or logical_xor maximum minimum "
    "multiply negative not_equal power sign square subtract"
)
_TABLE_OF_FLOATS = (
    "arccos arccosh arcsin arcsinh arctan arctanh cos cosh exp expm1 log log1p sin "
    "sinh sqrt tan tanh"
)
_FLOATS: dict[str, Function] = {
    "cbrt": lambda x: tf.sign(x) * tf.pow(tf.abs(x), 1 / 3),
    "ceil": tf.math.ceil,
    "deg2rad": lambda x: x * (math.pi / 180),
    "exp2": lambda x: tf.pow(2.0, x),
    "fix": lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)),
    "floor": tf.floor,
    "log10": lambda x: tf.math.log(x) / math.log(10),
    "log2": lambda x: tf.math.log(x) / math.log(2),
    "rad2deg": lambda x: x * (180 / math.pi),
    "signbit": lambda x: x < 0,
    "sinc": _sinc,
}
_COMMON: dict[str, Function] = {
    "bitwise_and": tf.bitwise.bitwise_and,
    "bitwise_or": tf.bitwise.bitwise_or,
    "bitwise_xor": tf.bitwise.bitwise_xor,
    "divmod": lambda x, y: (x // y, x % y),
    "float_power": tf.pow,
    "floor_divide": tf.math.floordiv,
    "mod": tf.math.floormod,
    "nextafter": tf.math.nextafter,
}
_COMMON_FLOATS: dict[str, Function] = {
    "heaviside": lambda x, y: tf.where(
        tf.math.is_nan(x), x, tf.where(x == 0, y, tf.cast(x > 0, x.dtype))
    ),
    "hypot": lambda x, y: tf.sqrt(x * x + y * y),
    "logaddexp": _logaddexp,
    "logaddexp2": lambda x, y: (
        _logaddexp(x * math.log(2), y * math.log(2)) / math.log(2)
    ),
}


def around(a: Any, decimals: int = 0) -> Any:
    """Rounded to a number of decimals, halves to the even number."""
    found = asarray(a)
    if found.dtype.is_integer and decimals >= 0:
        return found
    scale = tf.cast(10.0**decimals, inexact(found).dtype)
    return tf.cast(tf.round(inexact(found) * scale) / scale, found.dtype)


def angle(z: Any, deg: bool = False) -> Any:
    """The angle of a complex number."""
    found = tf.math.angle(inexact(z))
    return found * (180 / math.pi) if deg else found


def clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """What lies beyond two ends moved to them."""
    found = a
    if a_min is not None:
        found = tf.maximum(*promoted(found, a_min))
    return asarray(found) if a_max is None else tf.minimum(*promoted(found, a_max))


def isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Which elements are equal within a tolerance."""
    x, y = map(inexact, promoted(a, b))
    tolerance = tf.cast(atol, x.dtype) + tf.cast(rtol, x.dtype) * tf.abs(y)
    near = tf.math.is_finite(x) & tf.math.is_finite(y) & (tf.abs(x - y) <= tolerance)
    same = near | (x == y)
    return same | (tf.math.is_nan(x) & tf.math.is_nan(y)) if equal_nan else same


def array_equal(a1: Any, a2: Any) -> Any:
    """Whether shapes and elements are equal."""
    x, y = promoted(a1, a2)
    if not x.shape.is_compatible_with(y.shape):
        return tf.constant(False)
    return tf.reduce_all(x == y)


# --- along axes -----------------------------------------------------------------------


def _reduction(name: str) -> Function:
    return lambda a, axis=None, keepdims=None: table(name)(
        asarray(a), axis, keepdims=bool(keepdims)
    )


def _typed_reduction(name: str) -> Function:
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, keepdims: bool | None = None
    ) -> Any:
        result = table(name)(asarray(a, dtype), axis, keepdims=bool(keepdims))
        return result if dtype is None else tf.cast(result, as_dtype(dtype))

    return reduced


def var(
    a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = None
) -> Any:
    """The variance."""
    x = inexact(asarray(a, dtype))
    found = tf.math.reduce_variance(x, axis, keepdims=bool(keepdims))
    count = tf.size(x) / tf.size(found)
    return found * tf.cast(count / (count - ddof), found.dtype) if ddof else found


def average(
    a: Any, axis: int | None = None, weights: Any = None, returned: bool = False
) -> Any:
    """The mean, with weights; with `returned` also their sum."""
    x = inexact(a)
    x, w = promoted(x, tf.ones_like(x) if weights is None else weights)
    if axis is not None and len(w.shape) == 1:
        behind = len(x.shape) - 1 - axis_of(x, axis)
        w = tf.reshape(w, [-1, *[1] * behind])
    w = tf.broadcast_to(w, tf.shape(x))
    total = tf.reduce_sum(w, axis)
    mean = tf.reduce_sum(x * w, axis) / total
    return (mean, total) if returned else mean


def _without_nan(name: str, neutral: int) -> Function:
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, keepdims: bool | None = None
    ) -> Any:
        x = asarray(a, dtype)
        if x.dtype.kind in "fc":
            x = tf.where(tf.math.is_nan(x), tf.constant(neutral, x.dtype), x)
        return FUNCTIONS[name](x, axis, dtype, keepdims)

    return reduced


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool | None = None
) -> Any:
    """The mean of what is not NaN."""
    x = inexact(asarray(a, dtype))
    count = tf.cast(tf.logical_not(tf.math.is_nan(x)), x.dtype)
    total = FUNCTIONS["nansum"](x, axis, None, keepdims)
    return total / tf.reduce_sum(count, axis, keepdims=bool(keepdims))


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """The differences of neighbours."""
    found = asarray(a)
    for _ in range(n):
        found = along(found, axis, 1) - along(found, axis, None, -1)
    return found


# --- products -------------------------------------------------------------------------


def matmul(x1: Any, x2: Any) -> Any:
    """The product of matrices or of stacks of them; vectors are rows and columns."""
    x, y = promoted(x1, x2)
    if not (x.shape.rank and y.shape.rank):
        raise ValueError("matmul: an operand has no dimensions")
    if len(x.shape) == len(y.shape) == 1:
        return tf.tensordot(x, y, 1)
    if len(y.shape) == 1:
        return tf.linalg.matvec(x, y)
    if len(x.shape) == 1:
        return tf.squeeze(tf.matmul(x[None], y), -2)
    return tf.matmul(x, y)


def _over_last(behind: int) -> Function:
    """A product over the last axis of `a`, and of `b` the axis at ``-behind``."""

    def product(a: Any, b: Any) -> Any:
        x, y = promoted(a, b)
        if not (x.shape.rank and y.shape.rank):
            return x * y
        axis = max(len(y.shape) - behind, 0)
        return tf.tensordot(x, y, [[len(x.shape) - 1], [axis]])

    return product


def cross(a: Any, b: Any, axis: int = -1) -> Any:
    """The cross product of vectors of 3 elements, or of 2."""
    x, y = (moveaxis(one, axis, -1) for one in promoted(a, b))
    if x.shape[-1] == y.shape[-1] == 2:
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    return moveaxis(tf.linalg.cross(x, y), -1, axis)


def kron(a: Any, b: Any) -> Any:
    """The product of each element of `a` with all of `b`, in blocks."""
    x, y = promoted(a, b)
    rank = max(len(x.shape), len(y.shape))
    x = x[(None,) * (rank - len(x.shape)) + (...,)]
    y = y[(None,) * (rank - len(y.shape)) + (...,)]
    order = [axis for pair in zip(range(rank), range(rank, 2 * rank)) for axis in pair]
    blocks = tf.transpose(tf.tensordot(x, y, 0), order)
    return tf.reshape(blocks, tf.shape(x) * tf.shape(y))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The product over any axes."""
    x, y = promoted(a, b)
    return tf.tensordot(x, y, axes)


def _polyval(p: Any, x: Any) -> Any:
    return tf.math.polyval(tf.unstack(p), x)


# --- dtypes ---------------------------------------------------------------------------


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype in which arrays and dtypes meet."""
    return common_dtype(
        *(
            tf.zeros([1], as_dtype(one))
            if isinstance(one, (str, type, np.dtype, tf.DType))
            else one
            for one in arrays_and_dtypes
        )
    )


#: What is made by the tables above, by name.
FUNCTIONS: dict[str, Function] = {
    **{name: _from_table(name) for name in _TABLE.split()},
    **{name: _of_floats(table(name)) for name in _TABLE_OF_FLOATS.split()},
    **{name: _of_floats(op) for name, op in _FLOATS.items()},
    **{name: _of_common(op) for name, op in _COMMON.items()},
    **{name: _of_common_floats(op) for name, op in _COMMON_FLOATS.items()},
    **{name: _typed_reduction(name) for name in ("mean", "prod", "sum")},
    **{name: _reduction(name) for name in ("all", "any", "max", "min")},
    "allclose": lambda a, b, *args, **kwargs: tf.reduce_all(
        isclose(a, b, *args, **kwargs)
    ),
    "argmax": lambda a, axis=None: table("argmax")(asarray(a), axis),
    "argmin": lambda a, axis=None: table("argmin")(asarray(a), axis),
    "bitwise_not": lambda x: tf.bitwise.invert(asarray(x)),
    "conj": lambda x: tf.math.conj(asarray(x)),
    "count_nonzero": lambda a, axis=None: tf.math.count_nonzero(asarray(a), axis),
    "cumprod": lambda a, axis=None, dtype=None: table("cumprod")(
        asarray(a, dtype), axis
    ),
    "cumsum": lambda a, axis=None, dtype=None: table("cumsum")(asarray(a, dtype), axis),
    "dot": _over_last(2),
    "einsum": lambda subscripts, *operands: tf.einsum(subscripts, *promoted(*operands)),
    "finfo": lambda dtype: np.finfo(as_dtype(dtype).np_dtype),
    "iinfo": lambda dtype: np.iinfo(as_dtype(dtype).np_dtype),
    "imag": lambda val: tf.math.imag(asarray(val)),
    "inner": _over_last(1),
    "iscomplex": lambda x: tf.math.imag(asarray(x)) != 0,
    "iscomplexobj": lambda x: asarray(x).dtype.is_complex,
    "isneginf": _infinite(False),
    "isposinf": _infinite(True),
    "isreal": lambda x: tf.math.imag(asarray(x)) == 0,
    "isrealobj": lambda x: not asarray(x).dtype.is_complex,
    "nanprod": _without_nan("prod", 1),
    "nansum": _without_nan("sum", 0),
    "isscalar": lambda num: (
        num.shape.rank == 0 if tf.is_tensor(num) else bool(np.isscalar(num))
    ),
    "outer": lambda a, b: tensordot(ravel(a), ravel(b), 0),
    "polyval": lambda p, x: _polyval(*promoted(p, x)),
    "positive": lambda x: asarray(x),
    "promote_types": lambda type1, type2: np.promote_types(
        as_dtype(type1).np_dtype, as_dtype(type2).np_dtype
    ),
    "ptp": lambda a, axis=None, keepdims=None: (
        FUNCTIONS["max"](a, axis, keepdims) - FUNCTIONS["min"](a, axis, keepdims)
    ),
    "real": lambda val: tf.math.real(asarray(val)),
    "reciprocal": lambda x: 1 / asarray(x),
    "std": lambda a, axis=None, keepdims=None: tf.sqrt(var(a, axis, keepdims=keepdims)),
    "trace": lambda a, offset=0, axis1=0, axis2=1, dtype=None: FUNCTIONS["sum"](
        diagonal(a, offset, axis1, axis2), -1, dtype
    ),
    "vdot": lambda a, b: tensordot(tf.math.conj(ravel(a)), ravel(b), 1),
}
