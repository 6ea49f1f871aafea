"""Derivatives of the functions of Python's `math`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from runtime.core.types import dtypes
from runtime.ops.arrays.creation import ones_like
from runtime.ops.convert import cast, cast_number
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.elementwise.arithmetic import pow, truncatediv
from runtime.ops.elementwise.functions import (
    cos,
    cosh,
    exp,
    log,
    sign,
    sin,
    sinh,
    sqrt,
    square,
)
from runtime.ops.elementwise.special import digamma
from runtime.ops.reduce.reductions import reduce_sum

_DEGREE = math.pi / 180


def _by_exponent(x: Any, y: Any, z: Any) -> Any:
    return z * log(x)


#: ``derivative(*inputs, output)`` by each input, as floats; missing ones are 0.
_DERIVATIVES: dict[str, tuple[Callable[..., Any], ...]] = {
    "acos": (lambda x, y: -1 / sqrt(1 - x * x),),
    "acosh": (lambda x, y: 1 / sqrt(x * x - 1),),
    "asin": (lambda x, y: 1 / sqrt(1 - x * x),),
    "asinh": (lambda x, y: 1 / sqrt(x * x + 1),),
    "atan": (lambda x, y: 1 / (1 + x * x),),
    "atan2": (
        lambda y, x, z: x / (x * x + y * y),
        lambda y, x, z: -y / (x * x + y * y),
    ),
    "atanh": (lambda x, y: 1 / (1 - x * x),),
    "cbrt": (lambda x, y: 1 / (3 * square(y)),),
    "copysign": (lambda x, y, z: sign(x) * sign(z),),
    "cos": (lambda x, y: -sin(x),),
    "cosh": (lambda x, y: sinh(x),),
    "degrees": (lambda x, y: 1 / _DEGREE,),
    "dist": (lambda p, q, d: (p - q) / d, lambda p, q, d: (q - p) / d),
    "erf": (lambda x, y: 2 / math.sqrt(math.pi) * exp(-x * x),),
    "erfc": (lambda x, y: -2 / math.sqrt(math.pi) * exp(-x * x),),
    "exp": (lambda x, y: y,),
    "exp2": (lambda x, y: y * math.log(2),),
    "expm1": (lambda x, y: y + 1,),
    "fabs": (lambda x, y: sign(x),),
    "fma": (lambda x, y, z, r: y, lambda x, y, z, r: x, lambda x, y, z, r: 1.0),
    "fmod": (lambda x, y, z: 1.0, lambda x, y, z: -truncatediv(x, y)),
    "fsum": (lambda x, y: 1.0,),
    "gamma": (lambda x, y: y * digamma(x),),
    "ldexp": (lambda x, i, y: pow(2.0, i),),
    "lgamma": (lambda x, y: digamma(x),),
    "log": (
        lambda x, *rest: 1 / (x * (log(rest[0]) if len(rest) > 1 else 1.0)),
        lambda x, base, y: -y / (base * log(base)),
    ),
    "log10": (lambda x, y: 1 / (x * math.log(10)),),
    "log1p": (lambda x, y: 1 / (1 + x),),
    "log2": (lambda x, y: 1 / (x * math.log(2)),),
    "modf": (lambda x, fraction, whole: 1.0,),
    "nextafter": (lambda x, y, z: 1.0,),
    "pow": (lambda x, y, z: y * pow(x, y - 1), _by_exponent),
    "radians": (lambda x, y: _DEGREE,),
    "remainder": (lambda x, y, z: 1.0, lambda x, y, z: (z - x) / y),
    "sin": (lambda x, y: cos(x),),
    "sinh": (lambda x, y: cosh(x),),
    "sqrt": (lambda x, y: 0.5 / y,),
    "statistics.fmean": (lambda x, y: 1 / reduce_sum(ones_like(x)),),
    "statistics.mean": (lambda x, y: 1 / reduce_sum(ones_like(x)),),
    "sumprod": (lambda p, q, y: q, lambda p, q, y: p),
    "tan": (lambda x, y: 1 + y * y,),
    "tanh": (lambda x, y: 1 - y * y,),
}
#: Those that have the same derivative by each number of a sequence.
_OF_ALL = frozenset(["fsum", "statistics.fmean", "statistics.mean"])
#: Those whose results stay where they are as the arguments change a little.
_STEPS = frozenset(
    [
        "ceil",
        "comb",
        "factorial",
        "floor",
        "gcd",
        "isclose",
        "isfinite",
        "isinf",
        "isnan",
        "isqrt",
        "lcm",
        "perm",
        "trunc",
        "ulp",
    ]
)


@gradient("MathFunction", "CheckedMathFunction")
def _math_function(node: Applied, *gradients: Any) -> Any:
    name = node.attrs["function"]
    if name in _STEPS:
        return [None] * len(node.inputs)
    inputs = [_float(x) for x in node.inputs]
    if name == "hypot":
        derivatives = [x / node.outputs[0] for x in inputs]
    elif name in _DERIVATIVES:
        outputs = [_float(y) for y in node.outputs]
        derivatives = [
            rule(*inputs, *outputs) if wanted else None
            for rule, wanted in zip(_DERIVATIVES[name], node.wanted)
        ]
    else:
        return NotImplemented
    results: list[Any] = [None] * len(node.inputs)
    for place, derivative in enumerate(derivatives):
        if derivative is not None and node.wanted[place]:
            x = node.inputs[place]
            through = _float(gradients[0]) * derivative
            if x.shape.rank == 1 and name in _OF_ALL:
                through = through * ones_like(inputs[place])
            results[place] = cast_number(through, x.dtype)
    return results


def _float(x: Any) -> Any:
    if x.dtype.is_bool:
        return cast(x, dtypes.float64)
    return cast_number(x, dtypes.float64)
