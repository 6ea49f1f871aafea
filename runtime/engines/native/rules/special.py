"""The gamma function and its kin, and quantiles, as the kernels compute them.

There are no branches, so that a loop over elements becomes one over vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from runtime.core.types.dtypes import DType
from runtime.engines.native.builder import Builder
from runtime.engines.native.flow import Step, rule
from runtime.engines.native.maths import functions
from runtime.engines.native.maths.expressions import Number, select
from runtime.engines.native.rules.elementwise import applied
from runtime.engines.native.types import F32, F64
from runtime.engines.native.values import Register, Scalar, Value
from runtime.ops.kernels import special as kernels

#: A function of the C library, by its name.
Call = Callable[[str, Number], Number]


def _in_double(op: str, compute: Callable[[Call, Number], Number]) -> None:
    @rule(op)
    def run(step: Step, x: Value) -> Value:
        alone = isinstance(x, Scalar)

        def function(builder: Builder, dtype: DType, x: Register) -> Register:
            def call(name: str, value: Number) -> Number:
                found = functions.call(builder, name, value.value, alone=alone)
                return Number(builder.ir, found)

            narrow = x.type == F32
            wide = builder.ir.fpext(x, F64) if narrow else x
            found = compute(call, Number(builder.ir, wide)).value
            return builder.ir.fptrunc(found, F32) if narrow else found

        return applied(step, function, x)


def _polynomial(coefficients: Sequence[float], t: Number) -> Number:
    """The value at `t`; the highest power is first."""
    value = t * coefficients[0]
    for coefficient in coefficients[1:-1]:
        value = (value + coefficient) * t
    return value + coefficients[-1]


# --- gamma ----------------------------------------------------------------------------


def _lgamma(call: Call, x: Number) -> Number:
    """See `runtime.ops.kernels.special.lgamma`."""
    low = x < 0.5
    y = select(low, 1 - x, x)
    is_far = y >= kernels.FAR
    near = select(is_far, 2, y)
    steps = (near - 1.5).intrinsic("floor")
    z = near - 2 - steps
    below = steps < 0
    factor = x.number(1)
    for step in range(int(kernels.FAR - 2)):
        factor = select(steps > step, factor * (z + (2 + step)), factor)
    # One logarithm for all: of `y` where it is far, or before it is moved.
    log = call("log", select(is_far, y, select(below, near, factor)))
    value = _polynomial(kernels.TAYLOR, z) * z
    value = select(below, value - log, value + log)
    result = select(is_far, _stirling(y, log), value)
    return select(low, _reflected(call, x, result), result)


def _stirling(y: Number, log: Number) -> Number:
    inverse = 1 / y
    series = _polynomial(kernels.STIRLING, inverse * inverse) * inverse
    series += (math.log(2 * math.pi) - 1) / 2
    return series + (y - 0.5) * (log - 1)


def _reflected(call: Call, x: Number, result: Number) -> Number:
    """For numbers below 1/2, of the result for 1 - x."""
    turns = 2 * (x / 2).intrinsic("rint")
    sine = abs(call("sin", math.pi * (x - turns)))
    is_whole = x.equals(x.intrinsic("rint"))
    found = call("log", math.pi / select(is_whole, 0, sine)) - result
    return select(x.equals(-math.inf), math.inf, found)


def _digamma(call: Call, x: Number) -> Number:
    """See `runtime.ops.kernels.special.digamma`."""
    is_pole = (x <= 0) & x.equals(x.intrinsic("floor"))
    is_negative = x < 0
    z, shift = select(is_negative, 1 - x, x), x.number(0)
    for _ in range(10):
        small = z < 10
        shift = select(small, shift - 1 / z, shift)
        z = select(small, z + 1, z)
    w = 1 / (z * z)
    series = 1 / 132 - w * (691 / 32760 - w / 12)
    for coefficient in (1 / 240, 1 / 252, 1 / 120, 1 / 12):
        series = coefficient - w * series
    result = call("log", z) - 1 / (2 * z) - w * series + shift
    mirrored = result - math.pi / call("tan", math.pi * x)
    return select(is_pole, math.nan, select(is_negative, mirrored, result))


_in_double("Lgamma", _lgamma)
_in_double("Digamma", _digamma)


# --- quantiles ------------------------------------------------------------------------


def _quantile(call: Call, p: Number) -> Number:
    """See `runtime.ops.kernels.special.quantile`."""

    def fraction(parts: tuple[Sequence[float], Sequence[float]], r: Number) -> Number:
        return _polynomial(parts[0], r) / _polynomial(parts[1], r)

    q = p - 0.5
    middle = fraction(kernels.MIDDLE, 0.180625 - q * q) * q
    outside = select(q <= 0, p, 1 - p)
    r = (-call("log", outside)).intrinsic("sqrt")
    tail, far = fraction(kernels.TAIL, r - 1.6), fraction(kernels.FAR_OUT, r - 5)
    tail = select(r <= 5, tail, far)
    tail = select(r.equals(math.inf), math.inf, tail)
    return select(abs(q) <= 0.425, middle, select(q < 0, -tail, tail))


def _erfinv(call: Call, x: Number) -> Number:
    """See `runtime.ops.kernels.special.erfinv`."""
    begin = near = _quantile(call, (x + 1) / 2) / math.sqrt(2)
    for _ in range(2):
        slope = call("exp", near * near) * (math.sqrt(math.pi) / 2)
        near -= (call("erf", near) - x) * slope
    return select(abs(x) < 0.5, near, begin)


_in_double("Erfinv", _erfinv)
