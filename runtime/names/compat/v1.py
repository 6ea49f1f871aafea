"""Names of TensorFlow 1 that programs for TensorFlow 2 still use: ``tf.compat.v1``.

>>> from runtime.ops.variables import Variable
>>> count = Variable(1)
>>> to_float(assign(count, 3))
<tf.Tensor: shape=(), dtype=float32, numpy=3.0>
"""

from __future__ import annotations

import logging as _logging
import math
from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.missing import Space
from runtime.core.tensor import Tensor
from runtime.core.types import dtypes
from runtime.core.types.shapes import as_shape
from runtime.ops.convert import cast
from runtime.ops.random.streams import uniform
from runtime.ops.staged.python_calls import numpy_function

__all__ = [
    "assign", "assign_add", "assign_sub", "glorot_uniform_initializer", "logging",
    "py_func", "to_double", "to_float", "to_int32", "to_int64",
]  # fmt: skip


class logging(metaclass=Space):  # noqa: N801
    """The logger ``tensorflow`` of Python, which `tf.get_logger` gives, too."""

    _space = "tf.compat.v1.logging"

    DEBUG, INFO, WARN = _logging.DEBUG, _logging.INFO, _logging.WARNING
    ERROR, FATAL = _logging.ERROR, _logging.FATAL
    _logger = _logging.getLogger("tensorflow")
    debug, info, warning = _logger.debug, _logger.info, _logger.warning
    error, fatal = _logger.error, _logger.fatal
    log, warn = _logger.log, _logger.warning
    get_verbosity, set_verbosity = _logger.getEffectiveLevel, _logger.setLevel


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """``ref.assign(value)``; the shape is always validated."""
    return ref.assign(value, name=name)


def assign_add(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """``ref.assign_add(value)``."""
    return ref.assign_add(value, name=name)


def assign_sub(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """``ref.assign_sub(value)``."""
    return ref.assign_sub(value, name=name)


def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: Any,  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """The name of `runtime.numpy_function` in TensorFlow 1."""
    return numpy_function(func, inp, Tout, stateful, name)


def glorot_uniform_initializer(
    seed: int | None = None, dtype: Any = dtypes.float32
) -> Callable[..., Tensor]:
    """What gives weights of a shape: uniform, within ``sqrt(6 / (inputs + outputs))``.

    >>> glorot_uniform_initializer()((10, 10)).shape
    TensorShape([10, 10])
    """
    usual = dtype

    def initial(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims: list[Any] = as_shape(shape).as_list()
        places = math.prod(dims[:-2])
        inputs, outputs = (dims[-2:] * 2 or [1, 1])[:2]
        limit = math.sqrt(6 / max(1, places * (inputs + outputs)))
        found: Tensor = uniform(dims, -limit, limit, dtype or usual, seed)
        return found

    return initial


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """``cast(x, float32)``."""
    return cast(x, dtypes.float32, name)


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """``cast(x, float64)``."""
    return cast(x, dtypes.float64, name)


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """``cast(x, int32)``."""
    return cast(x, dtypes.int32, name)


def to_int64(x: Any, name: str = "ToInt64") -> Any:
    """``cast(x, int64)``."""
    return cast(x, dtypes.int64, name)
