"""The functions of Python's `math` on the values that tensors have when a graph runs.

Python itself computes them, so that results are Python's to the last bit and errors
are Python's own. There are two ops: one for the functions that may raise, which runs
although nobody uses its result, and one for those that never do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.ops.define import define, run
from runtime.ops.python_ints import CHECKS
from runtime.ops.shapes import spec
from runtime.tensor import Tensor
from runtime.types import dtypes
from runtime.types.specs import TensorSpec
from runtime.where.handlers import check_op

__all__ = ["FUNCTIONS", "INTEGERS", "SEQUENCES", "math_function"]

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
SEQUENCES = frozenset(["dist", "fsum"])
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
#: All functions that Python has here, other than `prod` and `sumprod`, which are made
#: of operators.
FUNCTIONS = frozenset(
    name
    for name in (*INTEGERS, *_BOOLS, *_PAIRS, *SEQUENCES, *_FLOATS)
    if hasattr(math, name)
)
_NEVER_RAISE = _TOTAL | frozenset(["isfinite", "isinf", "isnan"])


def _results_of(function: str) -> tuple[dtypes.DType, ...]:
    if function in _PAIRS:
        return _PAIRS[function]
    if function in INTEGERS:
        return (dtypes.int64,)
    return (dtypes.bool if function in _BOOLS else dtypes.float64,)


def _value(array: Any) -> Any:
    value = np.asarray(array).tolist()
    return value.decode("utf-8", "surrogateescape") if type(value) is bytes else value


def _compute(*arrays: Array, function: str, options: tuple[str, ...]) -> Any:
    values = list(map(_value, arrays))
    count = len(values) - len(options)
    result = getattr(math, function)(
        *values[:count], **dict(zip(options, values[count:]))
    )
    parts = result if type(result) is tuple else (result,)
    made = []
    for part, dtype in zip(parts, _results_of(function)):
        checked = CHECKS["int64"](part) if dtype.is_integer else part
        made.append(np.array(checked, dtype.np_dtype))
    return tuple(made) if type(result) is tuple else made[0]


def _infer(*specs: TensorSpec, function: str, options: tuple[str, ...]) -> Any:
    results = tuple(spec((), dtype) for dtype in _results_of(function))
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


def math_function(
    function: str, operands: Sequence[Tensor], options: tuple[str, ...] = ()
) -> Any:
    """``math.function(*operands)``; the last operands are the named `options`.

    Raises, when the graph runs, what Python raises, and IntegerRangeError for an int
    of more than 64 bits.
    """
    if function in _NEVER_RAISE:
        return run("MathFunction", *operands, function=function, options=options)
    op = "CheckedMathFunction"
    for error in OverflowError("math range error"), ZeroDivisionError():
        check_op(op, error, False)
    return run(op, *operands, function=function, options=options)
