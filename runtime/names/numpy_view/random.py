"""``tf.experimental.numpy.random``: random tensors, of float64 and int64."""

from __future__ import annotations

from typing import Any

import runtime as _tf
from runtime.names.numpy_view.conversion import as_dtype as _as_dtype

__all__ = [
    *("poisson", "rand", "randint", "randn", "random", "seed", "standard_normal"),
    "uniform",
]


def _shape(size: Any) -> Any:
    return [] if size is None else [size] if isinstance(size, int) else size


def seed(s: int) -> None:
    """Let the numbers that follow be the same in each run."""
    _tf.random.set_seed(s)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Numbers from `low` to `high`."""
    return _tf.random.uniform(_shape(size), low, high, _tf.float64)


def random(size: Any = None) -> Any:
    """Numbers from 0 to 1."""
    return uniform(size=size)


def rand(*size: int) -> Any:
    """Numbers from 0 to 1, in the shape of the arguments."""
    return uniform(size=size)


def standard_normal(size: Any = None) -> Any:
    """Normal numbers of mean 0 and deviation 1."""
    return _tf.random.normal(_shape(size), dtype=_tf.float64)


def randn(*args: int) -> Any:
    """Normal numbers, in the shape of the arguments."""
    return standard_normal(args)


def poisson(lam: Any = 1.0, size: Any = None) -> Any:
    """Numbers of events, `lam` in the mean."""
    return _tf.cast(_tf.random.poisson(_shape(size), lam), _tf.int64)


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
    """Integers from `low` to below `high`, or from 0 to below `low`."""
    low, high = (0, low) if high is None else (low, high)
    drawn = _tf.random.uniform(_shape(size), low, high, _tf.int64)
    return _tf.cast(drawn, _as_dtype(dtype))
