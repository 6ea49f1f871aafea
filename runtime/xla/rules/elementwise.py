"""Numbers element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from runtime.graph import Node
from runtime.ops.python_ints import is_exact
from runtime.xla.flow import Step, Value, rule

__all__: list[str] = []


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
    "Asinh": jnp.arcsinh,
    "Atan": jnp.arctan,
    "Atan2": jnp.arctan2,
    "Atanh": jnp.arctanh,
    "BitwiseAnd": jnp.bitwise_and,
    "BitwiseOr": jnp.bitwise_or,
    "BitwiseXor": jnp.bitwise_xor,
    "Ceil": jnp.ceil,
    "Complex": lax.complex,
    "Conj": jnp.conj,
    "Cos": jnp.cos,
    "Cosh": jnp.cosh,
    "Digamma": jax.scipy.special.digamma,
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
    "Lgamma": lax.lgamma,
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
    "RealDiv": jnp.true_divide,
    "Rint": jnp.rint,
    "Rsqrt": lax.rsqrt,
    "SelectV2": jnp.where,
    "Sign": jnp.sign,
    "Sin": jnp.sin,
    "Sinh": jnp.sinh,
    "Sqrt": jnp.sqrt,
    "Tan": jnp.tan,
    "Tanh": jnp.tanh,
}.items():
    _plain(_op, _function)


# --- Python's integers, whose results must fit 64 bits -------------------------------

_LOWEST = np.iinfo(np.int64).min


def _fits_sum(x: Value, y: Value, result: Value) -> Value:
    # It overflowed where the sign is neither that of x nor that of y.
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


_exact("AddV2", jnp.add, _fits_sum)
_exact("Sub", jnp.subtract, _fits_difference)
_exact("Mul", jnp.multiply, _fits_product)
_exact("Neg", jnp.negative, lambda x, result: x != _LOWEST)
_exact("Abs", jnp.abs, lambda x, result: x != _LOWEST)


# --- division -------------------------------------------------------------------------


def _is_integer(node: Node) -> bool:
    return node.inputs[0].dtype.is_integer


def _divides(op: str, function: Callable[..., Value]) -> None:
    @rule(op, checks=_is_integer)
    def run(step: Step, x: Value, y: Value, **_: Any) -> Value:
        if _is_integer(step.node):
            step.check(y != 0)
            if is_exact(step.node):
                step.check((x != _LOWEST) | (y != -1))
        return jnp.asarray(function(x, y), step.dtype)


_divides("FloorDiv", jnp.floor_divide)
_divides("FloorMod", jnp.mod)
_divides("TruncateDiv", lambda x, y: lax.div(*jnp.broadcast_arrays(x, y)))
_divides("TruncateMod", lambda x, y: lax.rem(*jnp.broadcast_arrays(x, y)))


# --- casts ----------------------------------------------------------------------------


@rule("Cast")
def _cast(step: Step, x: Value, **_: Any) -> Value:
    return jnp.asarray(x).astype(step.dtype)


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
        step.check(is_small | (result.astype(x.dtype) == x))
    return result
