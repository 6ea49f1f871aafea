"""``tf.experimental.numpy``: NumPy's functions on tensors, with NumPy's dtypes.

>>> import runtime as tf
>>> tf.experimental.numpy.mean([1, 2])
<tf.Tensor: shape=(), dtype=float64, numpy=1.5>
"""

import typing as _typing
from math import e as e, inf as inf, pi as pi
from types import FunctionType as _Function

import numpy as _np

from runtime.core.missing import advise as _advise
from runtime.core.tensor import Tensor as _Tensor
from runtime.names.numpy_view import (
    arrays as _arrays,
    behavior as _behavior,
    maths as _maths,
    random as random,
)

newaxis = None
#: What NumPy and this view call by the same name, and by another one.
_OF_NUMPY = (
    "bool_ complex64 complex128 float16 float32 float64 inexact int8 int16 int32 int64 "
    "issubdtype object_ uint8 uint16 uint32 uint64"
)
_OF_NUMPY_RENAMED = {
    "complex_": "complex128",
    "float_": "float64",
    "int_": "int64",
    "string_": "bytes_",
    "unicode_": "str_",
}
#: Second names of functions.
_ALIASES = (
    "abs absolute amax max amin min asanyarray asarray ascontiguousarray asarray "
    "conjugate conj empty zeros empty_like zeros_like fabs absolute flatten ravel "
    "remainder mod round around true_divide divide"
)


def _names() -> dict[str, _typing.Any]:
    tables = {**_arrays.FUNCTIONS, **_maths.FUNCTIONS}
    found = {name: _named(name, function) for name, function in tables.items()}
    for module in (_arrays, _maths, _behavior):
        for name, value in vars(module).items():
            if isinstance(value, _Function) and value.__module__ == module.__name__:
                found[name] = value
    pairs = _ALIASES.split()
    found |= {alias: found[name] for alias, name in zip(pairs[::2], pairs[1::2])}
    found |= {name: getattr(_np, name) for name in _OF_NUMPY.split()}
    found |= {name: getattr(_np, other) for name, other in _OF_NUMPY_RENAMED.items()}
    found["ndarray"] = _Tensor
    return {name: value for name, value in found.items() if name[0] != "_"}


def _named(name: str, function: _typing.Any) -> _typing.Any:
    if function.__doc__ is None:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"NumPy's function `{name}`, of tensors."
    return function


if _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> _typing.Any: ...

else:
    _advise(random, "tf.experimental.numpy.random")
    globals().update(_names())
    __all__ = [*_names(), "e", "inf", "newaxis", "pi", "random"]
