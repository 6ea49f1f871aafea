"""How arrays of random numbers are drawn from a generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.core.errors import InvalidArgumentError
from runtime.core.types.dtypes import DType

if TYPE_CHECKING:
    # Not at run time: numpy.random takes 10 ms, and not every program draws numbers.
    from numpy.random import Generator

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def uniform(generator: Generator, shape: Shape, dtype: DType) -> Array:
    """Numbers of [0, 1)."""
    if dtype.name == "float16":
        # Rounding to half precision must not reach 1.
        return (generator.integers(0, 2**11, shape) / 2**11).astype(np.float16)
    return np.asarray(generator.random(shape, dtype.np_dtype))


def uniform_int(
    generator: Generator, shape: Shape, low: int, high: int, dtype: DType
) -> Array:
    """Integers of [low, high)."""
    if not low < high:
        raise InvalidArgumentError(
            f"minval must be less than maxval, not {low} and {high}"
        )
    return np.asarray(generator.integers(low, high, shape, dtype.np_dtype))


def standard_normal(generator: Generator, shape: Shape, dtype: DType) -> Array:
    """Normal numbers of mean 0 and deviation 1."""
    if dtype.name == "float16":
        return np.asarray(generator.standard_normal(shape, np.float32)).astype(
            np.float16
        )
    return np.asarray(generator.standard_normal(shape, dtype.np_dtype))


def truncated_normal(generator: Generator, shape: Shape, dtype: DType) -> Array:
    """As `standard_normal`, but what lies beyond 2 is drawn again."""
    result = standard_normal(generator, shape, dtype)
    outside = np.abs(result) > 2
    while outside.any():
        redrawn = standard_normal(generator, (int(outside.sum()),), dtype)
        result[outside] = redrawn
        outside = np.abs(result) > 2
    return result


def categorical(
    generator: Generator, logits: Array, num_samples: int, dtype: DType
) -> Array:
    """For each row of logits so many indices, each as likely as its logit says."""
    if logits.ndim != 2:
        raise InvalidArgumentError(f"logits must be a matrix, not {logits.shape}")
    if not logits.shape[1]:
        raise InvalidArgumentError("logits must have at least one class")
    weights = np.exp(logits.astype(np.float64) - logits.max(1, keepdims=True))
    sums = np.cumsum(weights, 1)
    points = generator.random((len(logits), num_samples)) * sums[:, -1:]
    rows = [np.searchsorted(row, point, "right") for row, point in zip(sums, points)]
    found = np.array(rows).reshape(points.shape)
    return np.asarray(np.minimum(found, logits.shape[1] - 1), dtype.np_dtype)


def gamma(generator: Generator, shape: Shape, alpha: Array, dtype: DType) -> Array:
    """Gamma numbers of rate 1: an array of `shape` for each of the alphas."""
    return generator.gamma(alpha, size=shape + alpha.shape).astype(dtype.np_dtype)


def poisson(generator: Generator, shape: Shape, lam: Array, dtype: DType) -> Array:
    """Poisson numbers: an array of `shape` for each of the rates."""
    return generator.poisson(lam, size=shape + lam.shape).astype(dtype.np_dtype)


def binomial(
    generator: Generator, shape: Shape, counts: Array, probs: Array, dtype: DType
) -> Array:
    """How many of `counts` trials succeed with the probabilities `probs`."""
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise InvalidArgumentError("counts must not be negative")
    if not ((probs >= 0) & (probs <= 1)).all():
        raise InvalidArgumentError("probs must lie between 0 and 1")
    trials = counts.astype(np.int64)
    return np.asarray(generator.binomial(trials, probs, shape)).astype(dtype.np_dtype)
