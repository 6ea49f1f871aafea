"""Functions of libraries, of numbers and sequences in a graph.

The compiler finds them in `FUNCTIONS` by module and name. They add nodes to the graph
being built.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from enum import Flag
from typing import Any

import numpy as np

from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.ops.arrays.joining import stack
from runtime.ops.convert import cast, cast_number, constant, is_tensor
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.elementwise.logical import logical_not
from runtime.ops.reduce.places import argmax
from runtime.ops.reduce.reductions import reduce_any, reduce_prod
from runtime.ops.staged import python_math
from runtime.staging.builtins import numpy_functions
from runtime.staging.builtins.functions import folded
from runtime.staging.builtins.refused_functions import refusal
from runtime.staging.library import functional
from runtime.staging.library.dict_conversion import counter_of, deque_of
from runtime.staging.library.ordering import listed
from runtime.staging.lists.sequences import (
    StagedSequence,
    as_sequence,
    calls_functions,
    weakened,
)
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.enums import StagedMember, is_own
from runtime.staging.state.branches import raise_if
from runtime.staging.texts import BUILTINS
from runtime.staging.tracing.subgraph import state_tensor


def _number(value: Any) -> Tensor:
    """A number as an operand. TypeError, as Python's, for any other object."""
    if isinstance(value, bool):
        return constant(value)
    if not (is_tensor(value) or isinstance(value, (int, float, complex, np.generic))):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    tensor = state_tensor(value)
    if tensor.shape.rank not in (0, None):
        raise TypeError(
            f"only a scalar tensor can become a Python float; this one has the shape "
            f"{tensor.shape}"
        )
    return tensor


def _vector(values: Any) -> Tensor:
    """A sequence of numbers as a vector: of int64 if all of them are integers."""
    if isinstance(values, StagedSequence):
        values = listed(values)
    if isinstance(values, StagedList):
        values = values.tensor()
    if is_tensor(values):
        tensor = state_tensor(values)
        if tensor.shape.rank not in (1, None):
            raise TypeError(
                f"this takes a vector, not a tensor of shape {tensor.shape}"
            )
        is_float = not (tensor.dtype.is_integer or tensor.dtype.is_bool)
        return _as(tensor, dtypes.float64 if is_float else dtypes.int64)
    numbers = list(map(_number, values))
    is_float = any(not (x.dtype.is_integer or x.dtype.is_bool) for x in numbers)
    dtype = dtypes.float64 if is_float else dtypes.int64
    empty = constant([], dtypes.float64)
    return stack([_as(number, dtype) for number in numbers]) if numbers else empty


def _as(number: Tensor, dtype: DType) -> Tensor:
    if number.dtype.is_bool:
        return cast(number, dtype)
    return cast_number(number, dtype)


def _floats(values: Any) -> Tensor:
    return _as(_vector(values), dtypes.float64)


def _of_numbers(
    name: str, operand: Callable[[Any], Tensor] = _number
) -> Callable[..., Any]:
    """A function that Python computes when the graph runs, of numbers or vectors."""

    def function(*args: Any, **options: Any) -> Any:
        operands = [operand(value) for value in (*args, *options.values())]
        result = python_math.math_function(name, operands, tuple(options))
        tensors = result if isinstance(result, tuple) else (result,)
        numbers = tuple(p if p.dtype.is_bool else weakened(p) for p in tensors)
        return numbers if isinstance(result, tuple) else numbers[0]

    return function


def _of_math(name: str) -> Callable[..., Any]:
    if name == "sumprod":
        return _of_numbers(name, _vector)
    return _of_numbers(name, _floats if name in python_math.SEQUENCES else _number)


def _statistic(name: str) -> Callable[..., Any]:
    """A function of `statistics` of a sequence and, for some, of its weights."""
    function = _of_numbers(f"statistics.{name}", _vector)
    takes_weights = name in ("fmean", "harmonic_mean")

    def statistic(data: Any, weights: Any = None, **options: Any) -> Any:
        if (weights is not None and not takes_weights) or options:
            raise refusal(f"statistics.{name}", (data, weights), "leave the mean out")
        return function(data) if weights is None else function(data, weights)

    return statistic


def _prod(values: Any, /, *, start: Any = 1) -> Any:
    if isinstance(values, StagedSequence):
        if calls_functions(values):
            values = as_sequence(listed(values))
        (product,) = folded(values, 0, (start,), lambda x, total: (True, total * x))
        return product
    if not is_tensor(values):
        return functools.reduce(operator.mul, values, start)
    return reduce_prod(values, axis=0) * start


def _member(cls: Any, value: Any) -> Any:
    """``cls(value)`` of an enumeration; ValueError if no member has the value."""
    is_pythons = is_own(cls, "_missing_") or issubclass(cls, Flag)
    if is_pythons and isinstance(value, SymbolicTensor):
        raise refusal(cls.__qualname__, [value], "choose the member by `if`")
    if is_pythons or not is_tensor(value):
        return cls(value)
    values = [member.value for member in cls]
    same = equal(value, values)
    message = BUILTINS["fstring"]("{!r} is not a valid {}", value, cls.__qualname__)
    raise_if(logical_not(reduce_any(same)), ValueError(message))
    index = argmax(cast(same, dtypes.int32), axis=0, output_type=dtypes.int32)
    return StagedMember(cls, index)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **functional.FUNCTIONS,
    **numpy_functions.FUNCTIONS,
    "collections.Counter": counter_of,
    "collections.deque": deque_of,
    "enum.member": _member,
    **{f"math.{name}": _of_math(name) for name in python_math.FUNCTIONS},
    **{f"cmath.{name}": _of_numbers(f"cmath.{name}") for name in python_math.CMATH},
    **{f"statistics.{name}": _statistic(name) for name in python_math.STATISTICS},
    "math.prod": _prod,
}
