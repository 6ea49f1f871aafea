"""Numbers element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import digamma

from runtime.core.graph import Node
from runtime.core.graph.counted import constant_int
from runtime.engines.xla.flow import Step, Value, rule
from runtime.ops.python_ints import is_exact


def _plain(op: str, function: Callable[..., Value]) -> None:
    @rule(op)
    def run(step: Step, *values: Value, **_: Any) -> Value:
        return jnp.asarray(function(*values), step.dtype)


def _extreme(function: Any, is_first: Any) -> Callable[..., Value]:
    """The larger or smaller of two, whose gradient is all of one where they are equal.

    For `jax.grad`; JAX halves it.
    """
    whole = jax.custom_jvp(function)

    def derivative(values: Any, changes: Any) -> Any:
        return function(*values), jnp.where(is_first(*values), *changes)

    whole.defjvp(derivative)

    def run(x: Value, y: Value) -> Value:
        floats = jnp.issubdtype(x.dtype, jnp.floating)
        return (whole if floats else function)(x, y)

    return run


for _op, _function in {
    "Acos": jnp.arccos,
    "Acosh": jnp.arccosh,
    "Asin": jnp.arcsin,
    "Atan": jnp.arctan,
    "Atan2": jnp.arctan2,
    "Atanh": jnp.arctanh,
    "BitwiseAnd": jnp.bitwise_and,
    "BitwiseOr": jnp.bitwise_or,
    "BitwiseXor": jnp.bitwise_xor,
    "Ceil": jnp.ceil,
    "Conj": jnp.conj,
    "Cos": jnp.cos,
    "Equal": jnp.equal,
    "Erf": lax.erf,
    "Erfc": lax.erfc,
    "Erfinv": lax.erf_inv,
    "Exp": jnp.exp,
    "Expm1": jnp.expm1,
    "Floor": jnp.floor,
    "Greater": jnp.greater,
    "GreaterEqual": jnp.greater_equal,
    "Imag": jnp.imag,
    "Invert": jnp.invert,
    "IsFinite": jnp.isfinite,
    "Less": jnp.less,
    "LessEqual": jnp.less_equal,
    "Log": jnp.log,
    "Log1p": jnp.log1p,
    "LogicalAnd": jnp.logical_and,
    "LogicalNot": jnp.logical_not,
    "LogicalOr": jnp.logical_or,
    "Maximum": _extreme(jnp.maximum, jnp.greater_equal),
    "Minimum": _extreme(jnp.minimum, jnp.less_equal),
    "NextAfter": jnp.nextafter,
    "NotEqual": jnp.not_equal,
    "Real": jnp.real,
    "Rint": jnp.rint,
    "Rsqrt": lax.rsqrt,
    "SelectV2": jnp.where,
    "Sin": jnp.sin,
    "Sqrt": jnp.sqrt,
    "Tan": jnp.tan,
    "Tanh": jnp.tanh,
}.items():
    _plain(_op, _function)


# --- functions that differ from those of JAX --------------------------------------


def _in_double(function: Callable[..., Value]) -> Callable[..., Value]:
    return lambda x: function(jnp.asarray(x, jnp.float64))


def _sign(x: Value) -> Value:
    return jnp.where(x == 0, jnp.zeros_like(x), jnp.sign(x))


def _hyperbolic(sign: float, near: Callable[..., Value]) -> Callable[..., Value]:
    """``(exp(x) + sign * exp(-x)) / 2``: JAX's loses digits of large numbers."""

    def function(x: Value) -> Value:
        if jnp.iscomplexobj(x):
            return near(x)
        x = jnp.asarray(x, jnp.promote_types(x.dtype, jnp.float32))
        half = jnp.exp(jnp.abs(x) / 2)
        far = 0.5 * half * half + sign * 0.5 / half / half
        far = far if sign > 0 else jnp.copysign(far, x)
        return jnp.where(jnp.abs(x) < 1, near(x), far)

    return function


def _asinh(x: Value) -> Value:
    found = jnp.arcsinh(x)
    if not jnp.iscomplexobj(x):
        return found
    return lax.complex(jnp.copysign(found.real, jnp.real(x)), found.imag)


_plain("Asinh", _asinh)
_plain("Complex", lambda x, y: lax.complex(*jnp.broadcast_arrays(x, y)))
_plain("Cosh", _hyperbolic(1.0, jnp.cosh))
_plain("Digamma", _in_double(lambda x: jnp.where(x == 0, jnp.nan, digamma(x))))
_plain("Lgamma", _in_double(lax.lgamma))
_plain("Sign", _sign)
_plain("Sinh", _hyperbolic(-1.0, jnp.sinh))


# --- Python's integers, whose results must fit 64 bits -------------------------------

_LOWEST = np.iinfo(np.int64).min


def fits_sum(x: Value, y: Value, result: Value) -> Value:
    """Whether the sum of integers of 64 bits has not wrapped around."""
    # It has where its sign is neither that of x nor that of y.
    return ((x ^ result) & (y ^ result)) >= 0


def _fits_difference(x: Value, y: Value, result: Value) -> Value:
    return ((x ^ y) & (x ^ result)) >= 0


def _fits_product(x: Value, y: Value, result: Value) -> Value:
    divisor = jnp.where((y == 0) | (y == -1), 1, y)
    exact = jnp.where(y == -1, x != _LOWEST, lax.div(result, divisor) == x)
    return (y == 0) | exact


def _exact(op: str, function: Callable[..., Value], fits: Callable[..., Value]) -> None:
    @rule(op, checks=is_exact)
    def run(step: Step, *values: Value, **_: Any) -> Value:
        result = jnp.asarray(function(*values), step.dtype)
        if is_exact(step.node):
            values = tuple([jnp.asarray(value, jnp.int64) for value in values])
            step.check(fits(*jnp.broadcast_arrays(*values, result)))
        return result


_exact("AddV2", jnp.add, fits_sum)
_exact("Sub", jnp.subtract, _fits_difference)
_exact("Mul", jnp.multiply, _fits_product)
_exact("Neg", jnp.negative, lambda x, result: x != _LOWEST)
_exact("Abs", jnp.abs, lambda x, result: x != _LOWEST)


# --- powers and shifts ----------------------------------------------------------------


def _multiplied(x: Value, y: Value, result: Value, overflows: Value) -> Any:
    """One bit of an exponent: the product so far times `x` if it is set, and x * x."""
    times, square = result * x, x * x
    is_set = (y & 1) == 1
    # What no longer fits matters where it is used.
    wrong = overflows[1] | ~_fits_product(result, x, times)
    used = overflows[0] | (is_set & wrong)
    overflows = used, overflows[1] | ~_fits_product(x, x, square)
    return square, y >> 1, jnp.where(is_set, times, result), overflows


def _integer_power(x: Value, y: Value) -> tuple[Value, Value]:
    """The power modulo the width, and whether it does not fit."""
    x, y = jnp.broadcast_arrays(x, y)
    never = jnp.zeros(x.shape, bool)
    state = x, y, jnp.ones_like(x), (never, never)
    state = lax.while_loop(
        lambda state: jnp.any(state[1] != 0), lambda state: _multiplied(*state), state
    )
    return state[2], state[3][0]


def _is_signed(node: Node) -> bool:
    return node.inputs[0].dtype.is_integer and not node.inputs[0].dtype.is_unsigned


@rule("Pow", checks=_is_signed)
def _pow(step: Step, x: Value, y: Value, **_: Any) -> Value:
    if step.dtype.kind in "iu":
        if _is_signed(step.node):
            step.check(y >= 0)
        result, overflows = _integer_power(jnp.asarray(x), jnp.maximum(y, 0))
        if is_exact(step.node):
            step.check(~overflows)
        return result
    if step.dtype.kind == "c":
        result = jnp.power(jnp.asarray(x, complex), y)
        return jnp.where((x == 0) & (jnp.real(y) > 0), 0, result).astype(step.dtype)
    result = jnp.asarray(jnp.power(x, y), step.dtype)
    if step.dtype.kind == "f":
        is_root = (y == 0.5) & ((x == 0) | (x == -jnp.inf))
        result = jnp.where(is_root, jnp.abs(x), result)
    return result


def _shifts(op: str, function: Callable[..., Value]) -> None:
    @rule(op, checks=is_exact)
    def run(step: Step, x: Value, y: Value, **_: Any) -> Value:
        last = np.iinfo(step.dtype).bits - 1
        result = function(*jnp.broadcast_arrays(x, jnp.clip(y, 0, last)))
        if is_exact(step.node):
            step.check(y >= 0)
            if op == "LeftShift":
                back = lax.shift_right_arithmetic(result, jnp.clip(y, 0, last))
                step.check((x == 0) | ((y <= last) & (back == x)))
        return result


_shifts("LeftShift", lax.shift_left)
_shifts("RightShift", jnp.right_shift)


# --- division -------------------------------------------------------------------------


def _is_integer(node: Node) -> bool:
    return node.inputs[0].dtype.is_integer


def _may_not_divide(node: Node) -> bool:
    """Whether a quotient of integers may be none, or too large: not for ``n // 2``."""
    return _is_integer(node) and constant_int(node.inputs[1]) in (None, 0, -1)


def _quotient(x: Value, y: Value) -> Value:
    """``x / y`` to the bit: alone XLA may multiply by reciprocals."""
    x, y = jnp.broadcast_arrays(x, y)
    if jnp.iscomplexobj(x):
        return _complex_quotient(x, y)
    return lax.div(x, lax.optimization_barrier(y))


def _complex_quotient(x: Value, y: Value) -> Value:
    """As Smith (1962) and NumPy divide: with the larger part of the divisor."""
    is_real = jnp.abs(y.real) >= jnp.abs(y.imag)
    large, small = (
        jnp.where(is_real, a, b) for a, b in ((y.real, y.imag), (y.imag, y.real))
    )
    ratio = small / large
    scale = 1 / (large + small * ratio)
    first, second = (
        jnp.where(is_real, a, b) for a, b in ((x.real, x.imag), (x.imag, x.real))
    )
    imag = (second - first * ratio) * scale
    found = lax.complex(
        (first + second * ratio) * scale, jnp.where(is_real, imag, -imag)
    )
    zero = jnp.abs(y.real)
    return jnp.where(y == 0, lax.complex(x.real / zero, x.imag / zero), found)


def _floor_mod(x: Value, y: Value) -> Value:
    rest = lax.rem(x, y)
    moved = jnp.where((y < 0) != (rest < 0), rest + y, rest)
    return jnp.where(rest == 0, jnp.copysign(0, y).astype(x.dtype), moved)


def _floor_div(x: Value, y: Value) -> Value:
    """As NumPy: a whole number, though ``x / y`` may be rounded to the next one."""
    rest = lax.rem(x, y)
    near = _quotient(x - rest, y)
    near = jnp.where((rest != 0) & ((y < 0) != (rest < 0)), near - 1, near)
    whole = jnp.floor(near)
    whole = jnp.where(near - whole > 0.5, whole + 1, whole)
    plain = _quotient(x, y)
    whole = jnp.where(near == 0, jnp.copysign(0, plain).astype(x.dtype), whole)
    return jnp.where(y == 0, plain, whole)


def _divides(
    op: str, of_integers: Callable[..., Value], of_floats: Callable[..., Value]
) -> None:
    @rule(op, checks=_may_not_divide)
    def run(step: Step, x: Value, y: Value, **_: Any) -> Value:
        if _is_integer(step.node):
            if _may_not_divide(step.node):
                step.check(y != 0)
                if is_exact(step.node):
                    step.check((x != _LOWEST) | (y != -1))
            return of_integers(*jnp.broadcast_arrays(x, y))
        wide = jnp.promote_types(step.dtype, jnp.float32)
        x, y = jnp.broadcast_arrays(x, y)
        return of_floats(x.astype(wide), y.astype(wide)).astype(step.dtype)


_divides("FloorDiv", jnp.floor_divide, _floor_div)
_divides("FloorMod", jnp.mod, _floor_mod)
_divides("TruncateDiv", lax.div, lambda x, y: jnp.trunc(_quotient(x, y)))
_divides("TruncateMod", lax.rem, lax.rem)
_plain("RealDiv", _quotient)


# --- casts ----------------------------------------------------------------------------


def _to_integer(x: Value, dtype: Any) -> Value:
    """Floats as integers; what does not fit becomes what processors make of it."""
    bits, is_unsigned = dtype.itemsize * 8, dtype.kind == "u"
    wide = 32 if bits + is_unsigned <= 32 else 64
    limit = 2.0 ** (wide - 1)
    x = jnp.trunc(x.astype(jnp.promote_types(x.dtype, jnp.float32)))
    if bits == 64 and is_unsigned:
        upper = _to_integer(x - limit, np.dtype("int64")) ^ _LOWEST
        lower = _to_integer(x, np.dtype("int64"))
        return jnp.where(x >= limit, upper, lower).astype(dtype)
    fits = (x >= -limit) & (x < limit)
    return jnp.where(fits, x, -limit).astype(f"int{wide}").astype(dtype)


@rule("Cast")
def _cast(step: Step, x: Value, **_: Any) -> Value:
    x, kind = jnp.asarray(x), step.dtype.kind
    if x.dtype.kind == "c" and kind not in "cb":
        x = x.real
    if x.dtype.kind == "f" and kind in "iu":
        return _to_integer(x, step.dtype)
    return x.astype(step.dtype)


@rule("Bitcast")
def _bitcast(step: Step, x: Value, **_: Any) -> Value:
    old, new = x.dtype.itemsize, np.dtype(step.dtype).itemsize
    if new > old and x.shape[-1] * old != new:
        raise ValueError(f"{step.dtype} of the shape {x.shape}")
    found = (x if new > old else x[..., None]).view(step.dtype)
    return found if new < old else found[..., 0]


@rule("CastExactly", checks=True)
def _cast_exactly(step: Step, x: Value, **_: Any) -> Value:
    x = jnp.asarray(x)
    target = step.spec.dtype
    result = x.astype(step.dtype)
    if target.is_integer:
        lowest, highest = target.limits
        source = np.iinfo(x.dtype)
        if lowest > source.min:
            step.check(x >= lowest)
        if highest < source.max:
            step.check(x <= highest)
    else:
        limit = 2 ** (np.finfo(step.dtype).nmant + 1)
        is_small = (x <= limit) & (x >= -limit)
        # What the float is cast back to ends at the ends of the integers.
        fits = result < 2.0 ** np.iinfo(x.dtype).bits / 2
        step.check(is_small | (fits & (result.astype(x.dtype) == x)))
    return result
