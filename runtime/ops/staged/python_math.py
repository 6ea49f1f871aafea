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
from collections.abc import Sequence
from inspect import isbuiltin
from typing import Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.location.handlers import check_op
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.specs import TensorSpec
from runtime.ops.define import define, run
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
