"""``tf.debugging``: conditions that are checked when the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dtypes import as_dtype
from runtime.ops.arguments import together
from runtime.ops.array import rank as tensor_rank
from runtime.ops.assertions import Assert, assert_relation, check_numerics
from runtime.ops.convert import as_tensor, is_tensor
from runtime.ops.elementwise import (
    add,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    multiply,
    not_equal,
    subtract,
)
from runtime.ops.functions import abs

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_rank",
    "assert_rank_at_least",
    "assert_scalar",
    "assert_type",
    "check_numerics",
    "is_numeric_tensor",
]

# --- comparisons ----------------------------------------------------------------------


def assert_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless ``x == y`` for all elements.

    >>> assert_equal([1, 2], [1, 2])
    """
    assert_relation(equal, "==", x, y, message, summarize, name)


def assert_none_equal(
    x: Any,
    y: Any,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless ``x != y`` for all elements."""
    assert_relation(not_equal, "!=", x, y, message, summarize, name)


def assert_less(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless ``x < y`` for all elements."""
    assert_relation(less, "<", x, y, message, summarize, name)


def assert_less_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless ``x <= y`` for all elements."""
    assert_relation(less_equal, "<=", x, y, message, summarize, name)


def assert_greater(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless ``x > y`` for all elements."""
    assert_relation(greater, ">", x, y, message, summarize, name)


def assert_greater_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless ``x >= y`` for all elements."""
    assert_relation(greater_equal, ">=", x, y, message, summarize, name)


def assert_near(
    x: Any,
    y: Any,
    rtol: float | None = None,
    atol: float | None = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless ``abs(x - y) <= atol + rtol * abs(y)``.

    The tolerances are ten times the precision of the dtype where they are not given.
    """
    left, right = together((x, y), "AssertRelation", name)
    precision = 10 * float(np.finfo(left.dtype.np_dtype).eps)
    relative = precision if rtol is None else rtol
    absolute = precision if atol is None else atol

    def near(a: Any, b: Any) -> Any:
        return less_equal(
            abs(subtract(a, b)), add(absolute, multiply(relative, abs(b)))
        )

    assert_relation(near, "~=", left, right, message, summarize, name)


def assert_positive(
    x: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless all elements are greater than 0."""
    assert_greater(x, 0, message, summarize, name)


def assert_negative(
    x: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless all elements are less than 0."""
    assert_less(x, 0, message, summarize, name)


def assert_non_negative(
    x: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless all elements are at least 0."""
    assert_greater_equal(x, 0, message, summarize, name)


def assert_non_positive(
    x: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless all elements are at most 0."""
    assert_less_equal(x, 0, message, summarize, name)


# --- what tensors are -----------------------------------------------------------------


def assert_rank(
    x: Any, rank: int, message: str | None = None, name: str | None = None
) -> None:
    """Raise unless the tensor has that many axes: ValueError if tracing shows it."""
    tensor = as_tensor(x)
    found = tensor.shape.rank
    if found is None:
        assert_equal(tensor_rank(tensor), rank, message, name=name)
    elif found != rank:
        text = f"the tensor of shape {tensor.shape} must have rank {rank}"
        raise ValueError(_with(message, text))


def assert_rank_at_least(
    x: Any, rank: int, message: str | None = None, name: str | None = None
) -> None:
    """Raise unless the tensor has at least that many axes; see `assert_rank`."""
    tensor = as_tensor(x)
    found = tensor.shape.rank
    if found is None:
        assert_greater_equal(tensor_rank(tensor), rank, message, name=name)
    elif found < rank:
        text = f"the tensor of shape {tensor.shape} must have at least rank {rank}"
        raise ValueError(_with(message, text))


def assert_scalar(
    tensor: Any, message: str | None = None, name: str | None = None
) -> Any:
    """The tensor. Raises ValueError unless it is a scalar."""
    assert_rank(tensor, 0, message, name)
    return as_tensor(tensor)


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise TypeError unless the tensor has the dtype."""
    found = as_tensor(tensor).dtype
    if found is not as_dtype(tf_type):
        text = f"the tensor is of {found.name}, not of {as_dtype(tf_type).name}"
        raise TypeError(_with(message, text))


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise TypeError unless the dtype is an integer one."""
    found = as_tensor(x).dtype
    if not found.is_integer:
        text = f"the tensor must be of integers, not of {found.name}"
        raise TypeError(_with(message, text))


def _with(message: str | None, text: str) -> str:
    return f"{message}: {text}" if message else text


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of numbers."""
    return is_tensor(tensor) and tensor.dtype.is_numeric


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """The tensor; `check_numerics` with the arguments of ``tf.debugging``."""
    return check_numerics(x, message, name)
