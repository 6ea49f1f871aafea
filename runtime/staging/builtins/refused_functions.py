"""Functions of libraries that no graph computes, and what to use in their place.

The backend asks `refused` for the function that raises the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from runtime.core.errors import TracingError
from runtime.core.location.user_code import state_error
from runtime.core.tensor import SymbolicTensor

_CALL = "call it when the graph runs, by tf.py_function"
#: The replacement for a function, or for all functions of a module.
_INSTEAD = {
    "decimal": "compute with floats, or keep an amount in its smallest unit as an int",
    "fractions": "compute with floats, or with numerator and denominator as two ints",
    "numpy": "use the operation of tf that does it, or call NumPy when the graph runs, "
    "by tf.numpy_function",
    "numpy.argsort": "use tf.argsort, which keeps the order of equal elements",
    "numpy.bincount": "use tf.math.bincount",
    "numpy.einsum": "use tf.einsum",
    "numpy.fft.fft": "use tf.signal.fft",
    "numpy.unique": "use tf.unique, which keeps the order of the elements",
    "statistics": f"write it with tf.reduce_mean, tf.sort and the like, or {_CALL}",
    "statistics.correlation": "divide the covariance by the deviations, as tensors",
    "statistics.covariance": "tf.reduce_mean((x - mean_x) * (y - mean_y)) computes it",
    "statistics.quantiles": "take tf.gather of tf.sort(xs)",
}
#: What asks a tensor about itself and needs no elements.
_ASK = frozenset({"numpy.iterable", "numpy.ndim", "numpy.shape"})


def refused(name: str) -> Callable[..., Any] | None:
    """The function that raises in place of one that a graph cannot compute.

    None for functions that may be called with tensors as they are.
    """
    module = name.partition(".")[0]
    if module not in _INSTEAD or name in _ASK:
        return None

    def refuse(*args: Any, **options: Any) -> None:
        given = (*args, *options.values())
        raise refusal(name, given, _INSTEAD.get(name, _INSTEAD[module]))

    return refuse


def refusal(name: str, given: Any, fix: str) -> TracingError:
    """The error for a function that was given tensors of a graph."""
    code = "AG305" if name.startswith("numpy.") else "AG302"
    tensor = next(_tensors(given), None)
    if tensor is None:  # a list of the graph
        return state_error(code, f"{name}() does not compute in a graph", fix)
    return tensor._no_value(code, f"given to {name}()", fix)


def _tensors(value: Any) -> Iterator[SymbolicTensor]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part)
    elif isinstance(value, SymbolicTensor):
        yield value
