"""Functions of Python's modules `math` and `operator`, of numbers in a graph.

The compiler asks for them by the names of their modules and their own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.ops.arrays.joining import stack
from runtime.ops.convert import cast, cast_number, constant, is_tensor
from runtime.ops.elementwise.arithmetic import equal
from runtime.ops.elementwise.logical import logical_not
from runtime.ops.reduce.reductions import argmax, reduce_any, reduce_prod
from runtime.ops.staged import python_math
from runtime.staging.builtins.functions import folded
from runtime.staging.builtins.membership import contains
from runtime.staging.library.dict_conversion import counter_of, deque_of
from runtime.staging.library.ordering import listed
from runtime.staging.lists.items import getitem
from runtime.staging.lists.sequences import StagedSequence, weakened
from runtime.staging.lists.staged_list import StagedList
from runtime.staging.objects.enums import StagedMember
from runtime.staging.state.branches import raise_if
from runtime.staging.texts import BUILTINS
from runtime.tensor import Tensor
from runtime.tracing.subgraph import predicate, state_tensor
from runtime.types import dtypes

__all__ = ["FUNCTIONS"]


def _number(value: Any) -> Tensor:
    """A number as an operand. TypeError, as Python's, for what is none."""
    if isinstance(value, bool):
        return constant(value)
    if not (is_tensor(value) or isinstance(value, (int, float, np.generic))):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    tensor = state_tensor(value)
    if tensor.shape.rank not in (0, None):
        raise TypeError(
            f"only a scalar tensor can become a Python float; this one has the shape "
            f"{tensor.shape}"
        )
    return tensor


def _vector(values: Any) -> Tensor:
    """A sequence of numbers as a vector of floats."""
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
        return _as_float(tensor)
    numbers = [_as_float(_number(value)) for value in values]
    return stack(numbers) if numbers else constant([], dtypes.float64)


def _as_float(number: Tensor) -> Tensor:
    if number.dtype.is_bool:
        return cast(number, dtypes.float64)
    return cast_number(number, dtypes.float64)


def _of_math(name: str) -> Callable[..., Any]:
    operand = _vector if name in python_math.SEQUENCES else _number

    def function(*args: Any, **options: Any) -> Any:
        operands = [operand(value) for value in (*args, *options.values())]
        result = python_math.math_function(name, operands, tuple(options))
        parts = result if isinstance(result, tuple) else (result,)
        numbers = tuple(p if p.dtype.is_bool else weakened(p) for p in parts)
        return numbers if isinstance(result, tuple) else numbers[0]

    return function


def _prod(values: Any, /, *, start: Any = 1) -> Any:
    if isinstance(values, StagedSequence):
        (product,) = folded(values, 0, (start,), lambda x, total: (True, total * x))
        return product
    if not is_tensor(values):
        return functools.reduce(operator.mul, values, start)
    return reduce_prod(values, axis=0) * start


def _member(cls: Any, value: Any) -> Any:
    """``cls(value)`` of an enumeration; ValueError if no member has the value."""
    if not is_tensor(value) or "_missing_" in vars(cls):
        return cls(value)
    values = [member.value for member in cls]
    same = equal(value, values)
    message = BUILTINS["fstring"]("{!r} is not a valid {}", value, cls.__qualname__)
    raise_if(logical_not(reduce_any(same)), ValueError(message))
    place = argmax(cast(same, dtypes.int32), axis=0, output_type=dtypes.int32)
    return StagedMember(cls, place)


def _get(items: Any, index: Any) -> Any:
    is_python = isinstance(items, (dict, list, range, str, tuple))
    return getitem(items, index) if is_python else items[index]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "collections.Counter": counter_of,
    "collections.deque": deque_of,
    "enum.member": _member,
    **{f"math.{name}": _of_math(name) for name in python_math.FUNCTIONS},
    "math.prod": _prod,
    "operator.contains": lambda items, x: contains(x, items),
    "operator.getitem": _get,
    "operator.not_": lambda value: logical_not(predicate(value)),
    "operator.truth": predicate,
}
