"""The ways in which a function can run, and what it gives in each.

``plain``: as it is. ``converted``: on Python values. ``eager``: converted, on tensors
outside of graphs. ``staged``: traced to a graph that runs as NumPy source.
``interpreted``: the same graph, run by the interpreter.

Results and errors are noted as Python values, so that those of all modes can be equal:
5, ``tf.constant(5)`` and an array of 5 are the same number.
"""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import autograph
import runtime as tf
from runtime.engines.numpy_source.executable import Interpreted

__all__ = ["MODES", "Result", "as_tensors", "check_as_python", "run", "same"]

MODES = ("plain", "converted", "eager", "staged", "interpreted")


class Result(NamedTuple):
    """What a call gave: a value or an error, and what it printed.

    ``code`` is that of an error that refuses (``AG201``).
    """

    value: Any = None
    error: str | None = None
    message: str = ""
    code: str | None = None
    printed: str = ""


def run(function: Callable[..., Any], arguments: tuple[Any, ...], mode: str) -> Result:
    """Call a function on a copy of the arguments, in one of the `MODES`.

    The tensor modes turn numbers into tensors, also within tuples and dicts; lists of
    numbers become tensors as a whole.
    """
    arguments = copy.deepcopy(arguments)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            value = as_python(_call(function, arguments, mode))
        except Exception as error:
            code = getattr(error, "code", None)
            message = str(error).partition("\n")[0]
            return Result(
                error=type(error).__name__,
                message=message,
                code=code if str(code).startswith("AG") else None,
                printed=printed.getvalue(),
            )
    return Result(value, printed=printed.getvalue())


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], mode: str) -> Any:
    if mode == "plain":
        return function(*arguments)
    if mode == "converted":
        return autograph.convert(function)(*arguments)
    tensors = tuple(map(as_tensors, arguments))
    if mode == "eager":
        return autograph.convert(function)(*tensors)
    staged = tf.function(function)
    if mode == "interpreted":
        concrete = staged.get_concrete_function(*tensors)
        concrete._executable = Interpreted(concrete.graph)
    return staged(*tensors)


def as_tensors(value: Any) -> Any:
    """An argument with tensors in place of its numbers."""
    if isinstance(value, (bool, int, float)):
        return tf.constant(value)
    if isinstance(value, list) and _is_array(value):
        dtype = tf.float32 if _has_float(value) else tf.int32
        return tf.constant(value, dtype if not _has_bool(value) else tf.bool)
    if isinstance(value, (list, tuple)):
        parts = map(as_tensors, value)
        if hasattr(value, "_fields"):
            return type(value)(*parts)
        return type(value)(parts)
    if type(value) is dict:
        return {key: as_tensors(part) for key, part in value.items()}
    return value


def _leaves(value: Any) -> Any:
    for item in value:
        if isinstance(item, list):
            yield from _leaves(item)
        else:
            yield item


def _is_array(value: list[Any]) -> bool:
    return all(isinstance(leaf, (bool, int, float)) for leaf in _leaves(value))


def _has_float(value: list[Any]) -> bool:
    return any(isinstance(leaf, float) for leaf in _leaves(value))


def _has_bool(value: list[Any]) -> bool:
    return any(isinstance(leaf, bool) for leaf in _leaves(value))


def as_python(value: Any) -> Any:
    """A result with Python values in place of tensors; its containers are kept apart
    by kind, but a tensor of rank 1 is a list.
    """
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tuple):
        return tuple(map(as_python, value))
    if isinstance(value, list):
        return [as_python(item) for item in value]
    if isinstance(value, Mapping):
        return {key: as_python(item) for key, item in value.items()}
    if hasattr(value, "__dict__") and not callable(value):
        return type(value).__name__, as_python(vars(value))
    return value


def same(left: Any, right: Any) -> bool:
    """Whether two results are equal as Python values: floats to single precision."""
    if isinstance(left, (tuple, list)) and type(left) is type(right):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            same(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, float) or isinstance(right, float):
        numbers = (bool, int, float)
        if not (isinstance(left, numbers) and isinstance(right, numbers)):
            return False
        return bool(np.isclose(left, right, rtol=1e-5, atol=1e-6, equal_nan=True))
    return bool(left == right)


def check_as_python(function: Any, arguments: tuple[Any, ...], mode: str) -> None:
    """Compare a call in a mode with plain Python: its result, or its error and text."""
    expected, found = run(function, arguments, "plain"), run(function, arguments, mode)

    assert (found.error, found.message) == (expected.error, expected.message)
    assert same(found.value, expected.value)
