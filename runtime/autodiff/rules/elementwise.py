"""Derivatives of elementwise ops, by each of their operands."""

from __future__ import annotations

import math
from typing import Any

from runtime.ops.arrays.creation import ones_like, zeros_like
from runtime.ops.arrays.gather import where
from runtime.ops.convert import cast
from runtime.ops.derivatives import (
    Applied,
    gradient,
    linear,
    partials,
    without_gradient,
)
from runtime.ops.elementwise.arithmetic import (
    divide_no_nan,
    floordiv,
    greater_equal,
    less,
    less_equal,
    not_equal,
    pow,
    truncatediv,
)
from runtime.ops.elementwise.complex_numbers import complex, conj, imag, real
from runtime.ops.elementwise.functions import (
    abs,
    cos,
    cosh,
    exp,
    log,
    negative,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
)
from runtime.ops.elementwise.logical import logical_not
from runtime.ops.elementwise.special import digamma
from runtime.ops.gradient_shapes import sum_to

# --- arithmetic -----------------------------------------------------------------------

partials("AddV2", lambda x, y, z: 1, lambda x, y, z: 1)
partials("Sub", lambda x, y, z: 1, lambda x, y, z: -1)
partials("Mul", lambda x, y, z: y, lambda x, y, z: x)
partials("RealDiv", lambda x, y, z: 1 / y, lambda x, y, z: -z / y)
partials("Neg", lambda x, y: -1)
partials("FloorMod", lambda x, y, z: 1, lambda x, y, z: -floordiv(x, y))
partials("TruncateMod", lambda x, y, z: 1, lambda x, y, z: -truncatediv(x, y))
partials("Maximum", lambda x, y, z: greater_equal(x, y), lambda x, y, z: less(x, y))
partials(
    "Minimum",
    lambda x, y, z: less_equal(x, y),
    lambda x, y, z: logical_not(less_equal(x, y)),
)
partials("SelectV2", None, lambda c, x, y, z: c, lambda c, x, y, z: logical_not(c))
partials("Square", lambda x, y: 2 * x)
partials("Reciprocal", lambda x, y: -y * y)
partials("NextAfter", lambda x, y, z: 1, None)


def _by_base(x: Any, y: Any, z: Any) -> Any:
    # Of x ** 0 it is 0 also where x is 0, and of x ** 1 it is 1.
    none = y == 0
    return y * pow(where(none, ones_like(x), x), where(none, ones_like(y), y - 1))


def _by_exponent(x: Any, y: Any, z: Any) -> Any:
    has_log = not_equal(x, 0) if x.dtype.is_complex else x > 0
    return z * where(has_log, log(where(has_log, x, ones_like(x))), zeros_like(x))


partials("Pow", _by_base, _by_exponent)

# --- roots, powers, logarithms --------------------------------------------------------

partials("Sqrt", lambda x, y: 0.5 / y)
partials("Rsqrt", lambda x, y: -0.5 * y / x)
partials("Exp", lambda x, y: y)
partials("Expm1", lambda x, y: exp(x))
partials("Log", lambda x, y: 1 / x)
partials("Log1p", lambda x, y: 1 / (1 + x))

# --- angles ---------------------------------------------------------------------------

partials("Sin", lambda x, y: cos(x))
partials("Cos", lambda x, y: -sin(x))
partials("Tan", lambda x, y: 1 + y * y)
partials("Asin", lambda x, y: 1 / sqrt(1 - x * x))
partials("Acos", lambda x, y: -1 / sqrt(1 - x * x))
partials("Atan", lambda x, y: 1 / (1 + x * x))
partials("Sinh", lambda x, y: cosh(x))
partials("Cosh", lambda x, y: sinh(x))
partials("Tanh", lambda x, y: 1 - y * y)
partials("Asinh", lambda x, y: 1 / cosh(y))
partials("Acosh", lambda x, y: 1 / sinh(y))
partials("Atanh", lambda x, y: 1 / (1 - x * x))
partials(
    "Atan2", lambda y, x, z: x / (x * x + y * y), lambda y, x, z: -y / (x * x + y * y)
)

# --- activations and special functions ------------------------------------------------

partials("Sigmoid", lambda x, y: y * (1 - y))
partials("Softplus", lambda x, y: sigmoid(x))
partials("Relu", lambda x, y: y > 0)
partials("Erf", lambda x, y: 2 / math.sqrt(math.pi) * exp(-x * x))
partials("Erfc", lambda x, y: -2 / math.sqrt(math.pi) * exp(-x * x))
partials("Erfinv", lambda x, y: math.sqrt(math.pi) / 2 * exp(y * y))
partials("Lgamma", lambda x, y: digamma(x))


def _trigamma(x: Any) -> Any:
    """The derivative of digamma: M. Abramowitz and I. Stegun, "Handbook of Mathematical
    Functions", 1964, 6.4.6 (the recurrence), 6.4.7 (negative numbers) and 6.4.12.
    """
    mirrored = x < 0.5
    z = where(mirrored, 1 - x, x)
    total = zeros_like(z)
    for step in range(_TRIGAMMA_STEPS):
        total += 1 / ((z + step) * (z + step))
    z += _TRIGAMMA_STEPS
    inverse = 1 / (z * z)
    series = zeros_like(z)
    for factor in _TRIGAMMA_SERIES:
        series = (series + factor) * inverse
    total += (1 + 0.5 / z + series) / z
    turn = math.pi / sin(math.pi * where(mirrored, x, 0.5 * ones_like(x)))
    return where(mirrored, turn * turn - total, total)


_TRIGAMMA_STEPS = 10
#: The Bernoulli numbers B(14), B(12), … B(2).
_TRIGAMMA_SERIES = (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6)
partials("Digamma", lambda x, y: _trigamma(x))

# --- dtypes and complex numbers -------------------------------------------------------


@linear("Cast")
def _cast(node: Applied, g: Any) -> Any:
    return [cast(g, node.inputs[0].dtype)]


@linear("CastExactly")
def _cast_exactly(node: Applied, g: Any) -> Any:
    return [cast(g, node.inputs[0].dtype)]


@linear("Real")
def _real(node: Applied, g: Any) -> Any:
    return [complex(g, zeros_like(g))]


@linear("Imag")
def _imag(node: Applied, g: Any) -> Any:
    # The gradient of a real result by z is the conjugate of twice its derivative by z.
    return [complex(zeros_like(g), g)]


@linear("Conj")
def _conj(node: Applied, g: Any) -> Any:
    return [conj(g)]


@linear("Complex")
def _complex(node: Applied, g: Any) -> Any:
    x, y = node.inputs
    by_x = sum_to(real(g), x, [y]) if node.wanted[0] else None
    return [by_x, sum_to(imag(g), y, [x]) if node.wanted[1] else None]


@gradient("Abs")
def _abs(node: Applied, g: Any) -> Any:
    return [g * sign(node.inputs[0])]


@gradient("ComplexAbs")
def _complex_abs(node: Applied, g: Any) -> Any:
    each = divide_no_nan(g, node.outputs[0])
    return [complex(each, zeros_like(each)) * node.inputs[0]]


@gradient("Sign")
def _sign(node: Applied, g: Any) -> Any:
    if not node.inputs[0].dtype.is_complex:
        return [zeros_like(g)]
    # Along the unit circle alone.
    x, y = node.inputs[0], node.outputs[0]
    across = divide_no_nan(imag(g * conj(y)), abs(x))
    return [y * complex(zeros_like(across), across)]


@gradient("SquaredDifference")
def _squared_difference(node: Applied, g: Any) -> Any:
    x, y = node.inputs
    if x.dtype.is_complex:
        # It is real: (x - y) * conj(x - y).
        g = complex(real(g), zeros_like(real(g)))
    each = 2 * g * (x - y)
    by_x = sum_to(each, x, [y]) if node.wanted[0] else None
    return [by_x, negative(sum_to(each, y, [x])) if node.wanted[1] else None]


without_gradient(
    *("Ceil", "Floor", "Rint", "Round", "FloorDiv", "TruncateDiv"),
    *("IsNan", "IsInf", "IsFinite", "Equal", "NotEqual", "Less", "LessEqual"),
    *("Greater", "GreaterEqual", "LogicalAnd", "LogicalOr", "LogicalNot"),
    *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert", "LeftShift", "RightShift"),
    *("ZerosLike", "OnesLike", "LastBelow"),
)
