"""Conditions that are checked when the program runs."""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np

from runtime.core.types.dtypes import as_dtype, float32
from runtime.ops.arguments import int_argument, together
from runtime.ops.arrays.joining import stack
from runtime.ops.arrays.shape import rank as tensor_rank
from runtime.ops.checks.assertions import Assert, assert_relation, check_numerics
from runtime.ops.convert import as_tensor, is_tensor
from runtime.ops.elementwise.arithmetic import (
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
from runtime.ops.elementwise.functions import abs
from runtime.ops.reduce.reductions import reduce_any

# --- comparisons ----------------------------------------------------------------------


class Comparison(Protocol):
    """A public function that compares the elements of two tensors."""

    def __call__(
        self,
        x: Any,
        y: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        """Raise InvalidArgumentError unless it holds for all elements."""


class Question(Protocol):
    """A public function that compares the elements of a tensor with 0."""

    def __call__(
        self,
        x: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        """Raise InvalidArgumentError unless it holds for all elements."""


def _comparison(function_name: str, relation: Any, text: str) -> Comparison:
    def function(
        x: Any,
        y: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        assert_relation(relation, text, x, y, message, summarize, name)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = f"Raise InvalidArgumentError unless ``{text}`` for all elements."
    return function


def _question(function_name: str, relation: Any, sign: str, words: str) -> Question:
    def function(
        x: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        assert_relation(relation, f"x {sign} 0", x, 0, message, summarize, name)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = f"Raise InvalidArgumentError unless all elements are {words} 0."
    return function


assert_equal = _comparison("assert_equal", equal, "x == y")
assert_less = _comparison("assert_less", less, "x < y")
assert_less_equal = _comparison("assert_less_equal", less_equal, "x <= y")
assert_greater = _comparison("assert_greater", greater, "x > y")
assert_greater_equal = _comparison("assert_greater_equal", greater_equal, "x >= y")
assert_positive = _question("assert_positive", greater, ">", "greater than")
assert_negative = _question("assert_negative", less, "<", "less than")
assert_non_negative = _question("assert_non_negative", greater_equal, ">=", "at least")
assert_non_positive = _question("assert_non_positive", less_equal, "<=", "at most")


def assert_none_equal(
    x: Any,
    y: Any,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless ``x != y`` for all elements."""
    assert_relation(not_equal, "x != y", x, y, message, summarize, name)


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
    if not (left.dtype.is_floating or left.dtype.is_complex):
        raise ValueError(f"assert_near compares floats, not {left.dtype.name}")
    precision = 10 * float(np.finfo(left.dtype.np_dtype).eps)
    relative = precision if rtol is None else rtol
    absolute = precision if atol is None else atol

    def near(a: Any, b: Any) -> Any:
        return less_equal(
            abs(subtract(a, b)), add(absolute, multiply(relative, abs(b)))
        )

    assert_relation(near, "x ~= y", left, right, message, summarize, name)


# --- what tensors are -----------------------------------------------------------------


def assert_rank(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise unless the tensor has that many axes: ValueError if tracing shows it."""
    _assert_rank(x, rank, equal, "==", "have rank", message, name)


def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise unless the tensor has at least that many axes; see `assert_rank`."""
    _assert_rank(x, rank, greater_equal, ">=", "have at least rank", message, name)


def _assert_rank(
    x: Any,
    rank: Any,
    relation: Any,
    sign: str,
    must: str,
    message: str | None,
    name: str | None,
) -> None:
    tensor, wanted = as_tensor(x), int_argument(rank, "rank")
    found = tensor.shape.rank
    if found is None or not isinstance(wanted, int):
        text = _with(message, f"the tensor must {must} y")
        actual = tensor_rank(tensor)
        assert_relation(relation, f"x {sign} y", actual, wanted, text, None, name)
    elif found < wanted or (sign == "==" and found > wanted):
        text = f"the tensor of shape {tensor.shape} must {must} {wanted}"
        raise ValueError(_with(message, text))


def assert_rank_in(
    x: Any, ranks: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise unless the number of axes is one of `ranks`; see `assert_rank`.

    >>> assert_rank_in([[1, 2]], (1, 2))
    """
    tensor = as_tensor(x)
    wanted = tuple(int_argument(rank, "rank") for rank in ranks)
    found = tensor.shape.rank
    if found is None or not all(isinstance(rank, int) for rank in wanted):
        actual = tensor_rank(tensor)
        fits = [equal(actual, rank) for rank in wanted]
        shown = [message] if message else []
        Assert(reduce_any(stack(fits)), [*shown, "the rank is", actual], name=name)
    elif found not in wanted:
        text = f"the tensor of shape {tensor.shape} must have one of the ranks {wanted}"
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


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """The floating dtype that all `tensors` have: `dtype` if it is given.

    Raises ValueError if they differ, or if it is no floating dtype. Without tensors and
    dtype it is float32.

    >>> assert_same_float_dtype([as_tensor(1.0), None])
    tf.float32
    """
    found = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        if tensor is None:
            continue
        own = as_tensor(tensor).dtype
        if found is not None and own is not found:
            raise ValueError(f"the tensors must be of {found.name}, not of {own.name}")
        found = own
    found = found or float32
    if not found.is_floating:
        raise ValueError(f"the tensors must be of a floating dtype, not {found.name}")
    return found


def assert_proper_iterable(values: Any) -> None:
    """Raise TypeError unless `values` is an iterable that is no tensor nor text."""
    if is_tensor(values) or isinstance(values, (str, bytes, np.ndarray)):
        kind = type(values).__name__
        raise TypeError(f"a list or another iterable is needed, not a {kind}")
    if not hasattr(values, "__iter__"):
        raise TypeError(f"a {type(values).__name__} cannot be iterated")


def _with(message: str | None, text: str) -> str:
    return f"{message}: {text}" if message else text


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of numbers."""
    return is_tensor(tensor) and tensor.dtype.is_numeric


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """The tensor; `check_numerics` with the arguments of ``tf.debugging``."""
    return check_numerics(x, message, name)


# --- devices --------------------------------------------------------------------------

_logs_placement = False


def set_log_device_placement(enabled: bool) -> None:
    """Accepted and remembered; all operations run on the CPU, so nothing is logged."""
    global _logs_placement
    _logs_placement = bool(enabled)


def get_log_device_placement() -> bool:
    """What `set_log_device_placement` was given last."""
    return _logs_placement


# --- tracebacks -----------------------------------------------------------------------

_COMPLETE = "AUTOGRAPH_DEBUG"


def disable_traceback_filtering() -> None:
    """Show the frames of this package in the tracebacks of functions, too.

    The same as setting ``AUTOGRAPH_DEBUG`` in the environment.
    """
    os.environ[_COMPLETE] = "1"


def enable_traceback_filtering() -> None:
    """Leave the frames of this package out of the tracebacks of functions again."""
    os.environ.pop(_COMPLETE, None)


def is_traceback_filtering_enabled() -> bool:
    """Whether tracebacks of functions have the frames of the program alone."""
    return not os.environ.get(_COMPLETE)
