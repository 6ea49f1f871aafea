"""The gamma function and its kin, and quantiles, as the kernels compute them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from runtime.native.builder import Builder
from runtime.native.flow import Step, rule
from runtime.native.maths import functions
from runtime.native.rules.elementwise import applied
from runtime.native.types import F32, F64
from runtime.native.values import Register, Value
from runtime.ops.kernels import special as kernels
from runtime.types.dtypes import DType

__all__: list[str] = []


class _Double:
    """Numbers of 64 bits, and what is computed with them."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.ir = builder.ir

    def sum(self, *terms: Any) -> Register:
        """The terms, added from the first one on."""
        total = self.of(terms[0])
        for term in terms[1:]:
            total = self.ir.fadd(total, self.of(term))
        return total

    def minus(self, x: Any, y: Any) -> Register:
        return self.ir.fsub(self.of(x), self.of(y))

    def times(self, x: Any, y: Any) -> Register:
        return self.ir.fmul(self.of(x), self.of(y))

    def over(self, x: Any, y: Any) -> Register:
        return self.ir.fdiv(self.of(x), self.of(y))

    def is_(self, x: Any, sign: str, y: Any) -> Register:
        return self.ir.fcmp_ordered(sign, self.of(x), self.of(y))

    def select(self, test: Register, x: Any, y: Any) -> Register:
        return self.ir.select(test, self.of(x), self.of(y))

    def call(self, name: str, x: Register) -> Register:
        """A function of the C library, or of LLVM."""
        if name in functions.FUNCTIONS:
            return functions.call(self.builder, name, x)
        return self.builder.intrinsic(name, x)

    def polynomial(self, coefficients: Sequence[float], t: Register) -> Register:
        """The value at `t`; the highest power is first."""
        value = self.times(t, coefficients[0])
        for coefficient in coefficients[1:-1]:
            value = self.times(self.sum(value, coefficient), t)
        return self.sum(value, coefficients[-1])

    @staticmethod
    def of(value: Any) -> Register:
        """A number of Python as a constant."""
        return F64(value) if isinstance(value, (int, float)) else value


def _in_double(op: str, compute: Callable[[_Double, Register], Register]) -> None:
    def function(builder: Builder, dtype: DType, x: Register) -> Register:
        narrow = x.type == F32
        wide = builder.ir.fpext(x, F64) if narrow else x
        found = compute(_Double(builder), wide)
        return builder.ir.fptrunc(found, F32) if narrow else found

    @rule(op)
    def run(step: Step, x: Value) -> Value:
        return applied(step, function, x)


# --- gamma ----------------------------------------------------------------------------


def _lgamma(d: _Double, x: Register) -> Register:
    """See `runtime.ops.kernels.special.lgamma`."""
    low = d.is_(x, "<", 0.5)
    y = d.select(low, d.minus(1, x), x)
    is_far = d.is_(y, ">=", kernels.FAR)
    near = d.select(is_far, 2, y)
    steps = d.call("floor", d.minus(near, 1.5))
    z = d.minus(d.minus(near, 2), steps)
    below = d.is_(steps, "<", 0)
    factor = d.of(1.0)
    for step in range(int(kernels.FAR - 2)):
        larger = d.times(factor, d.sum(z, 2 + step))
        factor = d.select(d.is_(steps, ">", step), larger, factor)
    # One logarithm for all: of `y` where it is far, or before it is moved.
    log = d.call("log", d.select(is_far, y, d.select(below, near, factor)))
    value = d.times(d.polynomial(kernels.TAYLOR, z), z)
    value = d.select(below, d.minus(value, log), d.sum(value, log))
    far = _stirling(d, y, log)
    result = d.select(is_far, far, value)
    return d.select(low, _reflected(d, x, result), result)


def _stirling(d: _Double, y: Register, log: Register) -> Register:
    inverse = d.over(1, y)
    series = d.polynomial(kernels.STIRLING, d.times(inverse, inverse))
    series = d.sum(d.times(series, inverse), (math.log(2 * math.pi) - 1) / 2)
    return d.sum(series, d.times(d.minus(y, 0.5), d.minus(log, 1)))


def _reflected(d: _Double, x: Register, result: Register) -> Register:
    """For numbers below 1/2: what 1 - x has is known."""
    turns = d.times(2, d.call("rint", d.over(x, 2)))
    angle = d.times(math.pi, d.minus(x, turns))
    sine = d.call("fabs", d.call("sin", angle))
    is_whole = d.is_(x, "==", d.call("rint", x))
    sine = d.select(is_whole, 0, sine)
    found = d.minus(d.call("log", d.over(math.pi, sine)), result)
    is_infinite = d.is_(x, "==", -math.inf)
    return d.select(is_infinite, math.inf, found)


def _digamma(d: _Double, x: Register) -> Register:
    """See `runtime.ops.kernels.special.digamma`."""
    is_whole = d.is_(x, "==", d.call("floor", x))
    is_pole = d.ir.and_(d.is_(x, "<=", 0), is_whole)
    is_negative = d.is_(x, "<", 0)

    def shift(_: Register, carried: Any) -> Sequence[Register]:
        z, total = carried
        small = d.is_(z, "<", 10)
        total = d.select(small, d.minus(total, d.over(1, z)), total)
        return d.select(small, d.sum(z, 1), z), total

    begin = [d.select(is_negative, d.minus(1, x), x), d.of(0.0)]
    z, total = d.builder.loop(10, shift, begin)
    w = d.over(1, d.times(z, z))
    series = d.minus(1 / 132, d.times(w, d.minus(691 / 32760, d.over(w, 12))))
    for first in (1 / 240, 1 / 252, 1 / 120, 1 / 12):
        series = d.minus(first, d.times(w, series))
    series = d.times(w, series)
    half = d.over(1, d.times(2, z))
    result = d.sum(d.minus(d.minus(d.call("log", z), half), series), total)
    tangent = d.call("tan", d.times(math.pi, x))
    mirrored = d.minus(result, d.over(math.pi, tangent))
    return d.select(is_pole, math.nan, d.select(is_negative, mirrored, result))


_in_double("Lgamma", _lgamma)
_in_double("Digamma", _digamma)


# --- quantiles ------------------------------------------------------------------------


def _quantile(d: _Double, p: Register) -> Register:
    """See `runtime.ops.kernels.special.quantile`."""

    def fraction(parts: tuple[Sequence[float], Sequence[float]], r: Register) -> Any:
        return d.over(d.polynomial(parts[0], r), d.polynomial(parts[1], r))

    q = d.minus(p, 0.5)
    is_middle = d.is_(d.call("fabs", q), "<=", 0.425)
    middle = d.times(fraction(kernels.MIDDLE, d.minus(0.180625, d.times(q, q))), q)
    rest = d.select(d.is_(q, "<=", 0), p, d.minus(1, p))
    r = d.call("sqrt", d.ir.fneg(d.call("log", rest)))
    tail, far = (
        fraction(kernels.TAIL, d.minus(r, 1.6)),
        fraction(kernels.FAR_OUT, d.minus(r, 5)),
    )
    tail = d.select(d.is_(r, "<=", 5), tail, far)
    tail = d.select(d.is_(r, "==", math.inf), math.inf, tail)
    tail = d.select(d.is_(q, "<", 0), d.ir.fneg(tail), tail)
    return d.select(is_middle, middle, tail)


def _erfinv(d: _Double, x: Register) -> Register:
    """See `runtime.ops.kernels.special.erfinv`."""
    begin = d.over(_quantile(d, d.over(d.sum(x, 1), 2)), math.sqrt(2))
    is_small = d.is_(d.call("fabs", x), "<", 0.5)

    def improve(_: Register, near: Any) -> Sequence[Register]:
        (near,) = near
        slope = d.times(d.call("exp", d.times(near, near)), math.sqrt(math.pi) / 2)
        distance = d.minus(d.call("erf", near), x)
        return (d.minus(near, d.times(distance, slope)),)

    (small,) = d.builder.loop(2, improve, [begin])
    return d.select(is_small, small, begin)


_in_double("Erfinv", _erfinv)
