"""Numbers element by element, and checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.graph import Node
from runtime.export.onnx.writer import Value, Writer, rule
from runtime.ops.python_ints import is_exact
from runtime.passes.optimize.facts import constant

_NARROW = ("bool", "int8", "uint8", "int16", "uint16")


def widened(w: Writer, run: Callable[..., Value], *values: Value) -> Value:
    """What ``run(*values)`` gives, in int64 where runtimes have few narrow kernels."""
    dtype = values[0].dtype
    if dtype.name not in _NARROW:
        return run(*values)
    result = run(*[w.cast(value) for value in values])
    return w.cast(result, bool if result.dtype == bool else dtype)


def _table(names: dict[str, str], widens: bool = False) -> None:
    def add(op: str, onnx_op: str) -> None:
        @rule(op)
        def run(w: Writer, *values: Value, **_: Any) -> Value:
            if widens:
                return widened(w, lambda *v: w.op(onnx_op, *v), *values)
            result: Value = w.op(onnx_op, *values)
            return result

    for op, onnx_op in names.items():
        add(op, onnx_op)


_SAME = "Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Sign Sin Sinh"
_table({op: op for op in f"{_SAME} Sqrt Tan Tanh Identity Equal".split()})
_table({"LogicalAnd": "And", "LogicalNot": "Not", "LogicalOr": "Or", "Rint": "Round"})
_table({"StopGradient": "Identity"})
_table({"Greater": "Greater", "GreaterEqual": "GreaterOrEqual"}, widens=True)
_table({"Less": "Less", "LessEqual": "LessOrEqual"}, widens=True)
_table({"Maximum": "Max", "Minimum": "Min"}, widens=True)

rule("BitwiseAnd")(lambda w, x, y: x & y)
rule("BitwiseOr")(lambda w, x, y: x | y)
rule("BitwiseXor")(lambda w, x, y: x ^ y)
rule("Invert")(lambda w, x: ~x)
rule("NotEqual")(lambda w, x, y, **_: ~x.equals(y))
# What is not finite leaves NaN.
rule("IsFinite")(lambda w, x: ~w.op("IsNaN", x - x))
rule("Rsqrt")(lambda w, x: w.op("Reciprocal", w.op("Sqrt", x)))
rule("RealDiv")(lambda w, x, y: w.cast(x, w.dtype) / w.cast(y, w.dtype))
rule("Cast")(lambda w, x, **_: w.cast(x, w.dtype))


@rule("Expm1")
def _expm1(w: Writer, x: Value) -> Value:
    # Kahan: what exp(x) was rounded by is that which its logarithm differs by.
    u = w.op("Exp", x)
    is_far = w.op("Abs", x) > (30 if x.dtype.itemsize > 2 else 8)
    return w.where(u.equals(1), x, w.where(is_far, u - 1, (u - 1) * x / w.op("Log", u)))


@rule("Log1p")
def _log1p(w: Writer, x: Value) -> Value:
    u = x + 1
    log = w.op("Log", u)
    is_far = w.op("Abs", x) > 2 ** min(20, np.finfo(x.dtype).nmant)
    return w.where(u.equals(1), x, w.where(is_far, log, log * x / (u - 1)))


@rule("SelectV2")
def _select(w: Writer, test: Value, x: Value, y: Value) -> Value:
    return widened(w, lambda x, y: w.where(test, x, y), x, y)


@rule("Pow")
def _pow(w: Writer, x: Value, y: Value) -> Value:
    if w.dtype.kind == "f":
        result: Value = w.op("Pow", x, y)
        return result
    # Runtimes compute powers of integers in floats, which are not exact.
    power = y.known
    if power is None or power.ndim or not 0 <= power <= 64 or is_exact(w.node):
        raise w.refused("ONNX has no exact powers of integers: cast to a float")
    result = x - x + 1
    for bit in f"{int(power):b}":
        result = result * result
        result = result * x if bit == "1" else result
    return result


# --- Python's integers, whose results must fit 64 bits -------------------------------

_LOWEST = np.iinfo(np.int64).min


def _exact(op: str, compute: Callable[..., Value], fits: Callable[..., Value]) -> None:
    @rule(op, checks=is_exact)
    def run(w: Writer, *values: Value) -> Value:
        result = compute(w, *values)
        if is_exact(w.node) and w.checks:
            w.check(fits(w, result, *values))
        return result


def _fits_product(w: Writer, result: Value, x: Value, y: Value) -> Value:
    undone = (result / _divisor(w, y)).equals(x)
    return y.equals(0) | w.where(y.equals(-1), ~x.equals(_LOWEST), undone)


# A sum overflowed where its sign is neither that of x nor that of y.
_exact("AddV2", lambda w, x, y: x + y, lambda w, r, x, y: ((x ^ r) & (y ^ r)) >= 0)
_exact("Sub", lambda w, x, y: x - y, lambda w, r, x, y: ((x ^ y) & (x ^ r)) >= 0)
_exact("Mul", lambda w, x, y: x * y, _fits_product)
_exact("Neg", lambda w, x: -x, lambda w, r, x: ~x.equals(_LOWEST))
_exact("Abs", lambda w, x: w.op("Abs", x), lambda w, r, x: ~x.equals(_LOWEST))


# --- division -------------------------------------------------------------------------


def _may_trap(node: Node) -> bool:
    """Whether the divisor may be the integer 0 or -1, at which processors stop."""
    divisor = node.inputs[1]
    if not divisor.dtype.is_integer:
        return False
    found = constant(divisor)
    if found is None and divisor.node.op == "Maximum":
        # At least a positive constant, as a count is.
        bounds = [constant(tensor) for tensor in divisor.node.inputs]
        return not any(bound is not None and (bound > 0).all() for bound in bounds)
    return found is None or bool(np.isin(found, (0, -1)).any())


def _divisor(w: Writer, y: Value) -> Value:
    """An integer divisor with 1 in place of what cannot be divided by."""
    if y.known is not None and not np.isin(y.known, (0, -1)).any():
        return y
    is_bad = y.equals(0) if y.dtype.kind == "u" else y.equals(0) | y.equals(-1)
    return w.where(is_bad, 1, y)


def _check_division(w: Writer, x: Value, y: Value) -> None:
    if _may_trap(w.node) and w.checks:
        w.check(~y.equals(0))
        if is_exact(w.node):
            w.check(~(y.equals(-1) & x.equals(_LOWEST)))


def _quotient(w: Writer, x: Value, y: Value) -> Value:
    """Integers divided towards 0."""
    _check_division(w, x, y)
    result = x / _divisor(w, y)
    if y.dtype.kind == "u" or not _may_trap(w.node):
        return result
    return w.where(y.equals(-1), -x, result)


def _is_off(rest: Value, y: Value) -> Value:
    """Whether a remainder is not 0 and has not the sign of the divisor."""
    if y.known is not None and (y.known > 0).all():
        return rest < 0
    return ~rest.equals(0) & ((rest < 0) ^ (y < 0))


@rule("FloorDiv", checks=_may_trap)
def _floor_div(w: Writer, x: Value, y: Value) -> Value:
    if w.dtype.kind != "f":
        result = _quotient(w, x, y)
        if w.dtype.kind == "u":
            return result
        return w.where(_is_off(x - result * y, y), result - 1, result)
    # As NumPy: the quotient without the remainder is nearly whole, and then rounded.
    rest = w.op("Mod", x, y, fmod=1)
    quotient = (x - rest) / y
    quotient = w.where(_is_off(rest, y), quotient - 1, quotient)
    floor = w.op("Floor", quotient)
    floor = w.where((quotient - floor) > 0.5, floor + 1, floor)
    return w.where(y.equals(0), x / y, floor)


@rule("FloorMod", checks=_may_trap)
def _floor_mod(w: Writer, x: Value, y: Value) -> Value:
    if w.dtype.kind != "f":
        _check_division(w, x, y)
        result: Value = w.op("Mod", x, _divisor(w, y))
        return result
    rest = w.op("Mod", x, y, fmod=1)
    return w.where(_is_off(rest, y), rest + y, rest)


@rule("TruncateDiv", checks=_may_trap)
def _truncate_div(w: Writer, x: Value, y: Value) -> Value:
    if w.dtype.kind != "f":
        return _quotient(w, x, y)
    result: Value = w.op("Sign", x / y) * w.op("Floor", w.op("Abs", x / y))
    return result


@rule("TruncateMod", checks=_may_trap)
def _truncate_mod(w: Writer, x: Value, y: Value) -> Value:
    if w.dtype.kind != "f":
        _check_division(w, x, y)
        y = _divisor(w, y)
    result: Value = w.op("Mod", x, y, fmod=1)
    return result


# --- checks ---------------------------------------------------------------------------


@rule("Assert", "Raise", checks=True)
def _assert(w: Writer, condition: Any = False, **_: Any) -> tuple[()]:
    w.check(condition)
    return ()


@rule("RequireBound", "RequireSome", checks=True)
def _require(w: Writer, value: Value, is_there: Value, **_: Any) -> Value:
    w.check(is_there)
    return value


@rule("CheckNumericsV2", checks=True)
def _check_numerics(w: Writer, x: Value, **_: Any) -> Value:
    w.check(~w.op("IsNaN", x - x))
    return x


@rule("CastExactly", checks=True)
def _cast_exactly(w: Writer, x: Value, **_: Any) -> Value:
    result = w.cast(x, w.dtype)
    w.check(w.cast(result, x.dtype).equals(x))
    if "u" in (x.dtype.kind, w.dtype.kind) and x.dtype.kind != w.dtype.kind:
        # There and back again, a negative number is itself.
        w.check((x if w.dtype.kind == "u" else result) >= 0)
    return result
