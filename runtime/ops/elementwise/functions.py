"""Elementwise functions: roots, exponentials, angles, rounding."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.graph.record import Export, Op, decomposes, register
from runtime.core.tensor import Tensor, operators
from runtime.core.types import dtypes
from runtime.core.types.shapes import TensorShape
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.apply import apply, apply_one
from runtime.ops.arrays.dimensions import alike
from runtime.ops.convert import as_tensor, promote_all
from runtime.ops.derivatives import Applied, gradient, partials, without_gradient
from runtime.ops.elementwise.factories import (
    FLOATS,
    INEXACT,
    NUMBERS,
    SIGNED,
    UNSIGNED,
    binary_function,
    binary_op,
    check_dtype,
    one_of,
    unary_function,
    unary_op,
)
from runtime.ops.kernels import special
from runtime.ops.kernels.special import erf as erf_kernel
from runtime.ops.kernels.special import in_double

Array = np.ndarray[Any, Any]

# --- functions of NumPy ---------------------------------------------------------------

#: The ops that are functions of NumPy, of which some have longer names there.
_FUNCTIONS = [
    "Sqrt", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh",
]  # fmt: skip
for _op in _FUNCTIONS:
    unary_op(_op, getattr(np, _op.lower()), INEXACT)
for _op in ("Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh"):
    unary_op(_op, getattr(np, f"arc{_op[1:].lower()}"), INEXACT)
for _op in ("Floor", "Ceil", "Rint"):
    unary_op(_op, getattr(np, _op.lower()), FLOATS)
for _op in ("IsNan", "IsInf", "IsFinite"):
    unary_op(_op, getattr(np, _op.lower()), FLOATS, dtypes.bool)

# --- signs, powers, logarithms --------------------------------------------------------

unary_op("Neg", np.negative, SIGNED + INEXACT, exact=operator.neg)
negative = unary_function("negative", "Neg", "``-x``.", is_operator=True)
partials("Neg", lambda x, y: -1)
unary_op("Sign", np.sign, SIGNED + INEXACT)
sign = unary_function("sign", "Sign", "-1, 0 or 1; ``x / abs(x)`` of complex numbers.")


@gradient("Sign")
def _sign_gradient(node: Applied, g: Any) -> Any:
    if not node.inputs[0].dtype.is_complex:
        return [tf.zeros_like(g)]
    # Along the unit circle alone.
    x, y = node.inputs[0], node.outputs[0]
    across = tf.divide_no_nan(tf.imag(g * tf.conj(y)), abs(x))
    return [y * tf.complex(tf.zeros_like(across), across)]


unary_op("Square", np.square, NUMBERS, exact=lambda x: x * x)
square = unary_function("square", "Square", "``x * x``.")


@decomposes("Square")
def _square_decomposed(x: Any) -> Any:
    return x * x


partials("Square", lambda x, y: 2 * x)
sqrt = unary_function("sqrt", "Sqrt", "The square root; NaN below 0.")
partials("Sqrt", lambda x, y: 0.5 / y, has_pole=True)


def _rsqrt(x: Array) -> Any:
    return 1 / np.sqrt(x)


unary_op("Rsqrt", _rsqrt, INEXACT)
rsqrt = unary_function("rsqrt", "Rsqrt", "``1 / sqrt(x)``.")
partials("Rsqrt", lambda x, y: -0.5 * y / x, has_pole=True)


def _reciprocal(x: Array) -> Any:
    return 1 / x


unary_op("Reciprocal", _reciprocal, INEXACT)
reciprocal = unary_function("reciprocal", "Reciprocal", "``1 / x``.")


@decomposes("Reciprocal")
def _reciprocal_decomposed(x: Any) -> Any:
    return 1 / x


partials("Reciprocal", lambda x, y: -y * y, has_pole=True)
exp = unary_function("exp", "Exp", "e to the power of `x`.")
partials("Exp", lambda x, y: y)
expm1 = unary_function("expm1", "Expm1", "``exp(x) - 1``, exact near 0.")
partials("Expm1", lambda x, y: exp(x))
log = unary_function("log", "Log", "The natural logarithm; -inf at 0, NaN below.")
partials("Log", lambda x, y: 1 / x)
log1p = unary_function("log1p", "Log1p", "``log(1 + x)``, exact near 0.")
partials("Log1p", lambda x, y: 1 / (1 + x))

# --- angles ---------------------------------------------------------------------------

sin = unary_function("sin", "Sin", "The sine of an angle in radians.")
partials("Sin", lambda x, y: tf.cos(x))
cos = unary_function("cos", "Cos", "The cosine of an angle in radians.")
partials("Cos", lambda x, y: -sin(x))
tan = unary_function("tan", "Tan", "The tangent of an angle in radians.")
partials("Tan", lambda x, y: 1 + y * y)
sinh = unary_function("sinh", "Sinh", "The hyperbolic sine.")
partials("Sinh", lambda x, y: tf.cosh(x))
cosh = unary_function("cosh", "Cosh", "The hyperbolic cosine.")
partials("Cosh", lambda x, y: sinh(x))
tanh = unary_function("tanh", "Tanh", "The hyperbolic tangent.")
partials("Tanh", lambda x, y: 1 - y * y)
asin = unary_function("asin", "Asin", "The inverse of the sine.")
partials("Asin", lambda x, y: 1 / sqrt(1 - x * x))
acos = unary_function("acos", "Acos", "The inverse of the cosine.")
partials("Acos", lambda x, y: -1 / sqrt(1 - x * x))
atan = unary_function("atan", "Atan", "The inverse of the tangent.")
partials("Atan", lambda x, y: 1 / (1 + x * x))
asinh = unary_function("asinh", "Asinh", "The inverse of the hyperbolic sine.")
partials("Asinh", lambda x, y: 1 / cosh(y))
acosh = unary_function("acosh", "Acosh", "The inverse of the hyperbolic cosine.")
partials("Acosh", lambda x, y: 1 / sinh(y))
atanh = unary_function("atanh", "Atanh", "The inverse of the hyperbolic tangent.")
partials("Atanh", lambda x, y: 1 / (1 - x * x))

# --- activations ----------------------------------------------------------------------


def _sigmoid(x: Array) -> Any:
    return 1 / (1 + np.exp(-x))


unary_op("Sigmoid", _sigmoid, INEXACT)
sigmoid = unary_function("sigmoid", "Sigmoid", "``1 / (1 + exp(-x))``.")


@decomposes("Sigmoid")
def _sigmoid_decomposed(x: Any) -> Any:
    if x.dtype.is_complex:
        return 1 / (1 + exp(-x))
    # No power that can overflow: the gradient is finite everywhere.
    power = exp(-abs(x))
    return tf.where(x < 0, power, one_of(x)) / (1 + power)


partials("Sigmoid", lambda x, y: y * (1 - y))


_ACTIVATIONS = Export(output="activations")


def _softplus(x: Array) -> Any:
    # A tenth of the time of np.logaddexp(x, 0).
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


unary_op("Softplus", _softplus, FLOATS, export=_ACTIVATIONS)
softplus = unary_function("softplus", "Softplus", "``log(1 + exp(x))``.")


@decomposes("Softplus")
def _softplus_decomposed(x: Any) -> Any:
    return tf.maximum(x, 0) + log1p(exp(-abs(x)))


partials("Softplus", lambda x, y: sigmoid(x))


def _softsign(x: Array) -> Any:
    return x / (1 + np.abs(x))


unary_op("Softsign", _softsign, FLOATS, export=_ACTIVATIONS)
softsign = unary_function("softsign", "Softsign", "``x / (1 + abs(x))``.")


@decomposes("Softsign")
def _softsign_decomposed(x: Any) -> Any:
    return x / (1 + abs(x))


# --- rounding, questions --------------------------------------------------------------

floor = unary_function("floor", "Floor", "The largest whole number not above `x`.")
ceil = unary_function("ceil", "Ceil", "The smallest whole number not below `x`.")
rint = unary_function("rint", "Rint", "The nearest whole number; halves go to even.")


def _round(x: Array) -> Any:
    return np.rint(x) if x.dtype.kind in "fc" else x


unary_op("Round", _round, SIGNED + UNSIGNED + INEXACT)
round = unary_function(
    "round",
    "Round",
    "The nearest whole number; halves go to even. Integers stay.",
    is_operator=True,
)


@decomposes("Round")
def _round_decomposed(x: Any) -> Any:
    if x.dtype.is_complex:
        return tf.complex(rint(tf.real(x)), rint(tf.imag(x)))
    # A number of Python stays one.
    return apply("Rint", x) if x.dtype.is_floating else x


is_nan = unary_function("is_nan", "IsNan", "Whether elements are NaN.")


@decomposes("IsNan")
def _is_nan_decomposed(x: Any) -> Any:
    return tf.not_equal(x, x)


is_inf = unary_function("is_inf", "IsInf", "Whether elements are infinite.")


@decomposes("IsInf")
def _is_inf_decomposed(x: Any) -> Any:
    return abs(x) == math.inf


is_finite = unary_function(
    "is_finite", "IsFinite", "Whether elements are neither infinite nor NaN."
)

without_gradient("Ceil", "Floor", "Rint", "Round", "IsNan", "IsInf", "IsFinite")

# --- others ---------------------------------------------------------------------------

unary_op("Erf", erf_kernel, FLOATS)
erf = unary_function("erf", "Erf", "The Gauss error function.")
partials("Erf", lambda x, y: 2 / math.sqrt(math.pi) * exp(-x * x))
unary_op("Erfc", in_double(special.erfc), FLOATS)
erfc = unary_function("erfc", "Erfc", "``1 - erf(x)``, exact where that is small.")
partials("Erfc", lambda x, y: -2 / math.sqrt(math.pi) * exp(-x * x))
binary_op("Atan2", np.arctan2, FLOATS)
atan2 = binary_function("atan2", "Atan2", "The angle of the point ``(y, x)``: y first.")
partials(
    "Atan2", lambda y, x, z: x / (x * x + y * y), lambda y, x, z: -y / (x * x + y * y)
)
binary_op("NextAfter", np.nextafter, FLOATS[1:], export=Export())
nextafter = binary_function(
    "nextafter", "NextAfter", "The next number after `x` in the direction of `y`."
)
partials("NextAfter", lambda x, y, z: 1, None)
unary_op("Abs", np.abs, SIGNED + FLOATS, exact=operator.abs)
_abs = unary_function("abs", "Abs", "", is_operator=True)


@gradient("Abs")
def _abs_gradient(node: Applied, g: Any) -> Any:
    return [g * sign(node.inputs[0])]


def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value; of complex numbers as a real tensor."""
    tensor = x if isinstance(x, Tensor) else as_tensor(x)
    if not tensor.dtype.is_complex:
        return _abs(tensor, name)
    return apply_one("ComplexAbs", tensor, name=name)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """``log(sigmoid(x))``, exact for large negative `x` too."""
    return negative(softplus(negative(x)), name or "LogSigmoid")


def _add_n_infer(*specs: TensorSpec) -> TensorSpec:
    shape = TensorShape(None)
    for spec in specs:
        check_dtype(spec, NUMBERS)
        if not shape.is_compatible_with(spec.shape):
            raise InvalidArgumentError(f"shapes {shape} and {spec.shape} differ")
        shape = shape.merge_with(spec.shape)
    return TensorSpec(shape, specs[0].dtype)


def _add_n_kernel(*arrays: Array) -> Any:
    for array in arrays:
        if array.shape != arrays[0].shape:
            raise InvalidArgumentError(
                f"shapes {arrays[0].shape} and {array.shape} differ"
            )
    total = arrays[0]
    for array in arrays[1:]:
        total = np.add(total, array)
    return total


register(
    Op(
        "AddN",
        _add_n_kernel,
        _add_n_infer,
        strong=True,
        family="elementwise",
        takes=NUMBERS,
        export=Export(output="sum", is_counted=True),
    )
)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and dtype. Raises ValueError for none at all."""
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if not inputs:
        raise ValueError("add_n needs at least one tensor")
    tensors = promote_all(inputs, "AddN")
    if len(tensors) == 1:
        return tensors[0]
    return apply_one("AddN", *tensors, name=name)


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """As `add_n`, of a list of tensors of the shape and dtype, if these are given.

    Raises ValueError for other shapes and several dtypes, TypeError for another dtype.
    """
    tensors = (
        [as_tensor(x) for x in inputs] if isinstance(inputs, (list, tuple)) else []
    )
    if len({x.dtype for x in tensors}) != 1:
        raise ValueError("accumulate_n needs a list of tensors of one dtype")
    if tensor_dtype is not None and tensors[0].dtype != tensor_dtype:
        raise TypeError(
            f"the tensors are of {tensors[0].dtype!r}, not {tensor_dtype!r}"
        )
    for x in tensors:
        TensorShape(shape).assert_is_compatible_with(x.shape)
    return add_n(tensors, name)


@decomposes("AddN")
def _add_n_decomposed(*tensors: Any) -> Any:
    total = tensors[0]
    for tensor in tensors[1:]:
        left, right = alike(total, tensor)
        total = left + right
    return total


operators.bind(negative=negative, abs=abs, round=round)
