"""Derivatives of functions beside central differences, to the second order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import runtime as tf
from runtime.autodiff.backprop import has_gradient

__all__ = [
    "Derivatives",
    "check_grads",
    "derivatives",
    "gradients_of",
    "sample",
    "vectors",
]

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


def sample(*shape: int, low: float = -1.5, high: float = 1.5, seed: int = 0) -> Any:
    """Numbers between `low` and `high`, no two of them close to each other."""
    count = int(np.prod(shape))
    order = np.random.default_rng(seed + 31 * count).permutation(count)
    values = low + (high - low) * (order + 0.7 - 0.1 * seed) / max(count, 1)
    return tf.constant(values.reshape(shape))


class Derivatives(NamedTuple):
    """What is computed of a function: see `derivatives`."""

    values: list[Any]
    gradients: list[Any]
    tangents: list[Any]
    #: The change of the gradients in the directions: by two tapes, and by a tape in a
    #: `ForwardAccumulator`.
    by_tapes: list[Any]
    by_tangents: list[Any]


def derivatives(
    f: Function, x: Sequence[Any], directions: Sequence[Any], order: int = 2
) -> Derivatives:
    """The derivatives of a function of tensors in every way that there is.

    The gradients are those of its results, each weighted with numbers that are all
    different. Results without gradients are left out.
    """
    if order == 1:
        with tf.autodiff.ForwardAccumulator(list(x), list(directions)) as forward:
            results = forward.jvp([tf.convert_to_tensor(y) for y in _flat(f, x)])
        tangents = [tangent for tangent in results if tangent is not None]
        return Derivatives(*gradients_of(f, x), tangents, [], [])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.autodiff.ForwardAccumulator(list(x), list(directions)) as forward:
            values, gradients = gradients_of(f, x)
        tangents = forward.jvp(values, "zero")
        by_tangents = forward.jvp(gradients, "zero")
        slope = [
            tf.reduce_sum(tf.math.real(tf.math.conj(g) * d))
            for g, d in zip(gradients, directions)
        ]
    by_tapes = outer.gradient(slope, list(x), unconnected_gradients="zero")
    by_tapes = [tf.convert_to_tensor(g) for g in by_tapes]
    return Derivatives(values, gradients, tangents, by_tapes, by_tangents)


def gradients_of(f: Function, x: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The results of a function that have gradients, and the gradients of `x`."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        values = [tf.convert_to_tensor(y) for y in _flat(f, x)]
        values = [y for y in values if has_gradient(y)]
    found = tape.gradient(values, list(x), [weights(y) for y in values], "zero")
    return values, [tf.convert_to_tensor(g) for g in found]


def _flat(f: Function, x: Sequence[Any]) -> list[Any]:
    found: list[Any] = tf.nest.flatten(f(*x))
    return found


def weights(y: Any) -> Any:
    """Numbers in the shape of `y`, all different."""
    numbers = tf.cast(tf.range(tf.size(y)), tf.float64) * 0.3 - 0.5
    return tf.reshape(tf.cast(numbers, y.dtype), tf.shape(y))


def vectors(x: Sequence[Any], seed: int = 7) -> list[Any]:
    """A random direction for each tensor."""
    random = np.random.default_rng(seed)

    def direction(tensor: Any) -> Any:
        found = random.normal(size=tensor.shape)
        if tensor.dtype.is_complex:
            found = found + 1j * random.normal(size=tensor.shape)
        return tf.constant(found, tensor.dtype)

    return [direction(tensor) for tensor in x]


def check_grads(
    f: Function, x: Sequence[Any], order: int = 2, tolerance: float = 1e-5
) -> Derivatives:
    """Compare the derivatives of a function with central differences."""
    directions = vectors(x)
    found = derivatives(f, x, directions, order)
    for gradient, tensor in zip(found.gradients, x):
        assert gradient.dtype is tensor.dtype
        assert gradient.shape == tensor.shape
    near, curved = _differences(f, x, directions)
    for tangent, wanted in zip(found.tangents, near, strict=True):
        _assert_near(tangent, wanted, tolerance)
    pairs = [(weights(y), t) for y, t in zip(found.values, near)]
    wanted = sum(_inner(weight, tangent) for weight, tangent in pairs)
    along = sum(_inner(g, d) for g, d in zip(found.gradients, directions))
    _assert_near(along, wanted, tolerance)
    for results in (found.by_tapes, found.by_tangents):
        for result, wanted in zip(results, curved):
            _assert_near(result, wanted, 10 * tolerance)
    return found


def _differences(
    f: Function, x: Sequence[Any], directions: Sequence[Any]
) -> tuple[list[Array], list[Array]]:
    """How the results and their gradients change along directions."""
    step = 1e-6
    ends = []
    for sign in (step, -step):
        moved = [t + sign * d for t, d in zip(x, directions)]
        ends.append(gradients_of(f, moved))
    return tuple(  # type: ignore[return-value]
        [(a.numpy() - b.numpy()) / (2 * step) for a, b in zip(*pair)]
        for pair in zip(*ends)
    )


def _inner(one: Any, other: Any) -> Any:
    return np.real(np.vdot(np.asarray(one), np.asarray(other)))


def _assert_near(found: Any, wanted: Any, tolerance: float) -> None:
    np.testing.assert_allclose(found, wanted, tolerance, tolerance)
