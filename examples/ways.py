"""How the examples are run: one function, six ways, equal results.

Each example lists in ``EXAMPLES`` what can be called with which arguments, and `WAYS`
runs it. Arguments are written as plain Python or NumPy values; where a way works on
tensors, `as_tensors` makes tensors of all that are numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import autograph
import runtime as tf
from runtime.core.types import nest
from runtime.engines.numpy_source.executable import Interpreted

__all__ = ["WAYS", "Example", "as_tensors"]


def plain(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function as it is written, on the values as they are written."""
    return function(*arguments)


def converted(function: Callable[..., Any], *arguments: Any) -> Any:
    """Converted, on the same values."""
    return autograph.convert(function)(*arguments)


def eager(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function as it is written, on eager tensors."""
    return function(*as_tensors(arguments))


def converted_eager(function: Callable[..., Any], *arguments: Any) -> Any:
    """Converted, on eager tensors."""
    return autograph.convert(function)(*as_tensors(arguments))


def interpreted(function: Callable[..., Any], *arguments: Any) -> Any:
    """Staged as a graph, which is run node by node."""
    tensors = as_tensors(arguments)
    staged = tf.function(function)
    concrete = staged.get_concrete_function(*tensors)
    # What would otherwise be made of the graph: its NumPy source, compiled.
    concrete._executable = Interpreted(concrete.graph)
    return staged(*tensors)


def compiled(function: Callable[..., Any], *arguments: Any) -> Any:
    """Staged as a graph, which is run as NumPy source: what ``tf.function`` does."""
    return tf.function(function)(*as_tensors(arguments))


#: The ways by their names.
WAYS = {
    way.__name__: way
    for way in (plain, converted, eager, converted_eager, interpreted, compiled)
}


def as_tensors(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with tensors for numbers and arrays; functions and text stay."""
    tensors: tuple[Any, ...] = nest.map_structure(_as_tensor, arguments)
    return tensors


def _as_tensor(value: Any) -> Any:
    if isinstance(value, (int, float, complex, np.ndarray, np.generic)):
        return tf.constant(value)
    return value


@dataclass(frozen=True)
class Example:
    """A function, arguments for it, and the ways in which running it makes sense.

    `same_as` is a program in plain NumPy that has to give the same result.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    ways: tuple[str, ...] = tuple(WAYS)
    same_as: Callable[..., Any] | None = None

    def run(self, way: str) -> Any:
        """The result in one of the ways."""
        return WAYS[way](self.function, *self.arguments)
