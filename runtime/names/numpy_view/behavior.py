"""The switch that has tensors behave as arrays of NumPy: promotion, and methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import runtime as tf
from runtime.core.errors import UnimplementedError
from runtime.core.tensor import EagerTensor, operators
from runtime.core.tensor.attributes import array_attributes
from runtime.names.numpy_view import arrays, maths
from runtime.ops.arrays.indexing import getitem
from runtime.ops.convert import promote_as_numpy

_MODES = ("off", "legacy", "safe", "all")


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Have tensors behave as arrays of NumPy, in the entire process, from now on.

    The two operands of an operation may have different dtypes, which are promoted, and
    tensors get attributes and methods of arrays. What was traced before stays.
    Raises UnimplementedError for the other rules of promotion that TensorFlow has.
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(
            f"dtype_conversion_mode must be one of {_MODES}, not "
            f"{dtype_conversion_mode!r}"
        )
    if prefer_float32 or dtype_conversion_mode != "legacy":
        raise UnimplementedError(
            "dtypes are promoted by NumPy's rules alone: leave out prefer_float32 and "
            "dtype_conversion_mode, and cast to float32 what is to be float32"
        )
    promote_as_numpy()
    operators.bind(getitem=_getitem)
    array_attributes.update(_PROPERTIES)
    for name, function in _METHODS.items():
        array_attributes[name] = partial(partial, function)


def _getitem(x: Any, key: Any) -> Any:
    """``x[key]``, where lists, tuples and tensors in the key pick as NumPy's do."""
    items = key if isinstance(key, tuple) else (key,)
    kinds = (list, tuple, np.ndarray, EagerTensor)
    arrays = [np.asarray(i) if isinstance(i, kinds) else i for i in items]
    picks = any(isinstance(item, np.ndarray) and item.ndim for item in arrays)
    if not picks or not x.shape.is_fully_defined():
        return getitem(x, key)
    numbers = np.arange(x.shape.num_elements()).reshape(x.shape.as_list())
    return tf.gather(tf.reshape(x, [-1]), numbers[tuple(arrays)])


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that NumPy's function of its name calls, with an argument `out`."""

    def method(x: Any, *args: Any, out: None = None, **kwargs: Any) -> Any:
        if out is not None:
            raise TypeError("tensors are not written to: leave out `out`")
        return function(x, *args, **kwargs)

    return method


def _of_shape(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose shape may be given as one argument or as several."""
    return lambda x, *shape: function(x, shape[0] if len(shape) == 1 else shape or None)


_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "T": tf.transpose,
    "data": lambda x: x,
    "imag": maths.FUNCTIONS["imag"],
    "real": maths.FUNCTIONS["real"],
    "size": arrays.size,
}
_METHODS: dict[str, Callable[..., Any]] = {
    **{
        name: _reduction(maths.FUNCTIONS[name])
        for name in (
            *("all", "any", "argmax", "argmin", "conj", "cumprod", "cumsum", "dot"),
            *("max", "mean", "min", "prod", "std", "sum", "trace"),
        )
    },
    **{name: arrays.FUNCTIONS[name] for name in ("argsort", "repeat", "squeeze")},
    "astype": tf.cast,
    "clip": maths.clip,
    "diagonal": arrays.diagonal,
    "flatten": arrays.ravel,
    "item": lambda x: x.numpy().item(),
    "nonzero": arrays.nonzero,
    "ravel": arrays.ravel,
    "reshape": _of_shape(arrays.reshape),
    "round": maths.around,
    "swapaxes": arrays.swapaxes,
    "take": arrays.take,
    "tolist": lambda x: x.numpy().tolist(),
    "transpose": _of_shape(arrays.FUNCTIONS["transpose"]),
    "var": maths.var,
}
