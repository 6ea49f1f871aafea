"""What Python's builtins make of one number or text: ``int``, ``float``, ``round``.

Their errors are Python's, raised when the graph runs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.graph.record import decomposes
from runtime.core.tensor import Tensor, operators
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops import late as tf
from runtime.ops.convert import as_tensor, constant, promote_all
from runtime.ops.derivatives import without_gradient
from runtime.ops.operands import define, run
from runtime.ops.python_ints import CHECKS
from runtime.ops.shapes import dims_of, spec

Array = np.ndarray[Any, Any]


def _text(value: Any) -> Any:
    return value.decode("utf-8", "surrogateescape") if type(value) is bytes else value


def _to_int(x: Array, *, base: Any) -> Array:
    value = _text(np.asarray(x).item())
    number = int(value) if base is None else int(value, base)
    return np.array(CHECKS["int64"](number), np.int64)


define(
    "PythonInt",
    _to_int,
    lambda x, *, base: spec((), dtypes.int64),
    takes="fO",
    family="python",
    raises_for_program=True,
)


def to_int(x: Tensor, base: Any = None) -> Any:
    """``int(x)`` of a float or a text, as int64.

    Raises IntegerRangeError when the graph runs where int64 cannot hold it.
    """
    return run("PythonInt", x, base=base)


def _to_float(x: Array) -> Array:
    return np.array(float(_text(np.asarray(x).item())), np.float64)


define(
    "PythonFloat",
    _to_float,
    lambda x: spec((), dtypes.float64),
    takes="O",
    family="python",
    raises_for_program=True,
)


def to_float(x: Tensor) -> Any:
    """``float(x)`` of a text, as float64."""
    return run("PythonFloat", x)


def _round_digits(x: Array, *, digits: int) -> Array:
    values = np.asarray(x)
    rounded = [round(value, digits) for value in values.ravel().tolist()]
    return np.array(rounded, values.dtype).reshape(values.shape)


define(
    "RoundDigits",
    _round_digits,
    lambda x, *, digits: spec(dims_of(x), x.dtype),
    takes="fiu",
    family="python",
)


def round_digits(x: Any, digits: Any) -> Any:
    """``round(x, digits)``, of each element."""
    return run("RoundDigits", as_tensor(x), digits=digits)


without_gradient("PythonFloat", "RoundDigits")


def _power_modulo(x: Array, y: Array, z: Array) -> Array:
    base, exponent, modulus = np.broadcast_arrays(x, y, z)
    numbers = zip(*(part.ravel().tolist() for part in (base, exponent, modulus)))
    result = [pow(*number) for number in numbers]
    return np.array(result, base.dtype).reshape(base.shape)


def _infer_power(x: TensorSpec, y: TensorSpec, z: TensorSpec) -> TensorSpec:
    scalars = all(dims_of(one) == () for one in (x, y, z))
    return spec(() if scalars else None, x.dtype)


define(
    "PowerModulo",
    _power_modulo,
    _infer_power,
    takes="iu",
    family="python",
    raises_for_program=True,
)


def power_modulo(x: Any, y: Any, z: Any) -> Any:
    """``pow(x, y, z)`` of integers."""
    return run("PowerModulo", *promote_all((x, y, z), "PowerModulo", keep_weak=True))


operators.bind(power_modulo=power_modulo, round_digits=round_digits)


def _first_extreme(x: Array, *, better: Callable[[Any, Any], bool]) -> Any:
    if x[0] != x[0]:
        return x[0]
    pick = np.fmax if better is operator.gt else np.fmin
    return pick.reduce(x)


define(
    "FirstExtreme",
    _first_extreme,
    lambda x, *, better: spec((), x.dtype),
    takes="f",
    family="reduction",
)


def first_extreme(x: Tensor, better: Callable[[Any, Any], bool]) -> Any:
    """``max(x)`` (`better` is ``operator.gt``) or ``min(x)`` of a vector of floats.

    Python compares one after the other: a nan is the result only if it comes first.
    """
    return run("FirstExtreme", x, better=better)


@decomposes("FirstExtreme")
def _first_extreme_decomposed(x: Any, *, better: Callable[[Any, Any], bool]) -> Any:
    is_largest = better is operator.gt
    nothing = constant(-math.inf if is_largest else math.inf, x.dtype)
    others = tf.where(tf.not_equal(x, x), nothing, x)
    found = tf.reduce_max(others) if is_largest else tf.reduce_min(others)
    first = x[0]
    return tf.where(tf.not_equal(first, first), first, found)
