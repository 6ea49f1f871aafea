"""Functions of `math`, `cmath` and `statistics` on the values that tensors have when a
graph runs.

Python itself computes them, so that results are Python's to the last bit and errors
are Python's own. There are two ops: one for the functions that may raise, which runs
although nobody uses its result, and one for those that never do.
"""

from __future__ import annotations

import cmath
import functools
import importlib
import math
from collections.abc import Callable, Sequence
from inspect import isbuiltin
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.location.handlers import check_op
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.convert import cast, cast_number
from runtime.ops.derivatives import Applied, gradient
from runtime.ops.operands import define, run
from runtime.ops.python_ints import CHECKS
from runtime.ops.shapes import spec

Array = np.ndarray[Any, Any]

#: Those that give an int, and where that may not fit 64 bits, an IntegerRangeError.
INTEGERS = frozenset(
    ["ceil", "comb", "factorial", "floor", "gcd", "isqrt", "lcm", "perm", "trunc"]
)
_BOOLS = frozenset(["isclose", "isfinite", "isinf", "isnan"])
_PAIRS = {
    "frexp": (dtypes.float64, dtypes.int64),
    "modf": (dtypes.float64, dtypes.float64),
}
#: Those that take sequences of numbers.
SEQUENCES = frozenset(["dist", "fsum", "sumprod"])
#: Those that give a float for all numbers.
_TOTAL = frozenset(
    [
        "asinh",
        "atan",
        "atan2",
        "cbrt",
        "copysign",
        "degrees",
        "erf",
        "erfc",
        "fabs",
        "hypot",
        "nextafter",
        "radians",
        "tanh",
        "ulp",
    ]
)
_FLOATS = _TOTAL | frozenset(
    [
        "acos",
        "acosh",
        "asin",
        "atanh",
        "cos",
        "cosh",
        "exp",
        "exp2",
        "expm1",
        "fma",
        "fmod",
        "gamma",
        "ldexp",
        "lgamma",
        "log",
        "log10",
        "log1p",
        "log2",
        "pow",
        "remainder",
        "sin",
        "sinh",
        "sqrt",
        "tan",
    ]
)
#: All functions of `math` that Python has here, other than `prod`, which is made of
#: operators.
FUNCTIONS = frozenset(
    name
    for name in (*INTEGERS, *_BOOLS, *_PAIRS, *SEQUENCES, *_FLOATS)
    if hasattr(math, name)
)
#: All functions of `cmath`; those without an entry give a complex number.
CMATH = frozenset(name for name, value in vars(cmath).items() if isbuiltin(value))
_OF_CMATH = {
    **dict.fromkeys(_BOOLS, (dtypes.bool,)),
    "phase": (dtypes.float64,),
    "polar": (dtypes.float64, dtypes.float64),
}
#: Functions of `statistics` that give one number for the numbers of one sequence.
STATISTICS = frozenset(
    [
        "fmean",
        "geometric_mean",
        "harmonic_mean",
        "mean",
        "median",
        "median_high",
        "median_low",
        "mode",
        "pstdev",
        "pvariance",
        "stdev",
        "variance",
    ]
)
#: Those that give one of the numbers.
_ELEMENTS = frozenset(["median_high", "median_low", "mode"])
_NEVER_RAISE = _TOTAL | frozenset(["isfinite", "isinf", "isnan"])


@functools.cache
def _results_of(function: str, of_floats: bool) -> tuple[DType, ...]:
    module, _, name = function.rpartition(".")
    if module == "cmath":
        return _OF_CMATH.get(name, (dtypes.complex128,))
    if module == "statistics" or name == "sumprod":
        is_same = name == "sumprod" or name in _ELEMENTS
        return (dtypes.int64 if is_same and not of_floats else dtypes.float64,)
    if name in _PAIRS:
        return _PAIRS[name]
    if name in INTEGERS:
        return (dtypes.int64,)
    return (dtypes.bool if name in _BOOLS else dtypes.float64,)


@functools.cache
def _function_of(name: str) -> Any:
    """The function of Python. A graph that was saved names no others."""
    module, _, attribute = name.rpartition(".")
    known = {"": FUNCTIONS, "cmath": CMATH, "statistics": STATISTICS}
    if attribute not in known.get(module, ()):
        raise ValueError(f"there is no function {name!r} of numbers")
    return getattr(importlib.import_module(module or "math"), attribute)


def _value(array: Any) -> Any:
    value = np.asarray(array).tolist()
    return value.decode("utf-8", "surrogateescape") if type(value) is bytes else value


def _compute(*arrays: Array, function: str, options: tuple[str, ...]) -> Any:
    values = list(map(_value, arrays))
    count = len(values) - len(options)
    result = _function_of(function)(
        *values[:count], **dict(zip(options, values[count:]))
    )
    parts = result if type(result) is tuple else (result,)
    of_floats = any(np.asarray(array).dtype.kind == "f" for array in arrays)
    made = []
    for part, dtype in zip(parts, _results_of(function, of_floats)):
        made.append(np.array(_checked(part, dtype), dtype.np_dtype))
    return tuple(made) if type(result) is tuple else made[0]


def _checked(number: Any, dtype: DType) -> Any:
    """The number, if the dtype holds it: `statistics` gives an int where one fits."""
    if dtype.is_integer:
        return CHECKS["int64"](number)
    if dtype.is_floating and type(number) is int and int(float(number)) != number:
        raise InvalidArgumentError(f"AG206: float64 would round the integer {number}")
    return number


def _infer(*specs: TensorSpec, function: str, options: tuple[str, ...]) -> Any:
    of_floats = any(one.dtype.is_floating for one in specs)
    results = tuple(spec((), dtype) for dtype in _results_of(function, of_floats))
    return results if len(results) > 1 else results[0]


define("MathFunction", _compute, _infer, family="python", raises_for_program=True)
define(
    "CheckedMathFunction",
    _compute,
    _infer,
    family="python",
    stateful=True,
    raises=ValueError("math domain error"),
    raises_for_program=True,
)


def _statistics_error() -> Exception:
    error: Exception = importlib.import_module("statistics").StatisticsError()
    return error


def math_function(
    function: str, operands: Sequence[Tensor], options: tuple[str, ...] = ()
) -> Any:
    """``math.function(*operands)``; the last operands are the named `options`.

    Functions of other modules have their names with them: ``"cmath.sqrt"``.

    Raises, when the graph runs, what Python raises, and IntegerRangeError for an int
    of more than 64 bits.
    """
    if function in _NEVER_RAISE:
        return run("MathFunction", *operands, function=function, options=options)
    op = "CheckedMathFunction"
    for error in (
        OverflowError("math range error"),
        ZeroDivisionError(),
        *([_statistics_error()] if function.startswith("statistics.") else ()),
    ):
        check_op(op, error, False)
    return run(op, *operands, function=function, options=options)


_DEGREE = math.pi / 180


def _by_exponent(x: Any, y: Any, z: Any) -> Any:
    return z * tf.log(x)


#: ``derivative(*inputs, output)`` by each input, as floats; missing ones are 0.
_DERIVATIVES: dict[str, tuple[Callable[..., Any], ...]] = {
    "acos": (lambda x, y: -1 / tf.sqrt(1 - x * x),),
    "acosh": (lambda x, y: 1 / tf.sqrt(x * x - 1),),
    "asin": (lambda x, y: 1 / tf.sqrt(1 - x * x),),
    "asinh": (lambda x, y: 1 / tf.sqrt(x * x + 1),),
    "atan": (lambda x, y: 1 / (1 + x * x),),
    "atan2": (
        lambda y, x, z: x / (x * x + y * y),
        lambda y, x, z: -y / (x * x + y * y),
    ),
    "atanh": (lambda x, y: 1 / (1 - x * x),),
    "cbrt": (lambda x, y: 1 / (3 * tf.square(y)),),
    "copysign": (lambda x, y, z: tf.sign(x) * tf.sign(z),),
    "cos": (lambda x, y: -tf.sin(x),),
    "cosh": (lambda x, y: tf.sinh(x),),
    "degrees": (lambda x, y: 1 / _DEGREE,),
    "dist": (lambda p, q, d: (p - q) / d, lambda p, q, d: (q - p) / d),
    "erf": (lambda x, y: 2 / math.sqrt(math.pi) * tf.exp(-x * x),),
    "erfc": (lambda x, y: -2 / math.sqrt(math.pi) * tf.exp(-x * x),),
    "exp": (lambda x, y: y,),
    "exp2": (lambda x, y: y * math.log(2),),
    "expm1": (lambda x, y: y + 1,),
    "fabs": (lambda x, y: tf.sign(x),),
    "fma": (lambda x, y, z, r: y, lambda x, y, z, r: x, lambda x, y, z, r: 1.0),
    "fmod": (lambda x, y, z: 1.0, lambda x, y, z: -tf.truncatediv(x, y)),
    "fsum": (lambda x, y: 1.0,),
    "gamma": (lambda x, y: y * tf.digamma(x),),
    "ldexp": (lambda x, i, y: tf.pow(2.0, i),),
    "lgamma": (lambda x, y: tf.digamma(x),),
    "log": (
        lambda x, *rest: 1 / (x * (tf.log(rest[0]) if len(rest) > 1 else 1.0)),
        lambda x, base, y: -y / (base * tf.log(base)),
    ),
    "log10": (lambda x, y: 1 / (x * math.log(10)),),
    "log1p": (lambda x, y: 1 / (1 + x),),
    "log2": (lambda x, y: 1 / (x * math.log(2)),),
    "modf": (lambda x, fraction, whole: 1.0,),
    "nextafter": (lambda x, y, z: 1.0,),
    "pow": (lambda x, y, z: y * tf.pow(x, y - 1), _by_exponent),
    "radians": (lambda x, y: _DEGREE,),
    "remainder": (lambda x, y, z: 1.0, lambda x, y, z: (z - x) / y),
    "sin": (lambda x, y: tf.cos(x),),
    "sinh": (lambda x, y: tf.cosh(x),),
    "sqrt": (lambda x, y: 0.5 / y,),
    "statistics.fmean": (lambda x, y: 1 / tf.reduce_sum(tf.ones_like(x)),),
    "statistics.mean": (lambda x, y: 1 / tf.reduce_sum(tf.ones_like(x)),),
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
def _math_function_gradient(node: Applied, *gradients: Any) -> Any:
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
                through = through * tf.ones_like(inputs[place])
            results[place] = cast_number(through, x.dtype)
    return results


def _float(x: Any) -> Any:
    if x.dtype.is_bool:
        return cast(x, dtypes.float64)
    return cast_number(x, dtypes.float64)
