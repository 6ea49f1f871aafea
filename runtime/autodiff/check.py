"""Gradients beside differences of values: what tests of gradients compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from runtime.autodiff.sparse import dense
from runtime.autodiff.tape import GradientTape
from runtime.core.types import nest
from runtime.ops.convert import convert_to_tensor

Array = np.ndarray[Any, Any]


def compute_gradient(
    f: Callable[..., Any], x: Sequence[Any], delta: float | None = None
) -> tuple[list[Array], list[Array]]:
    """The Jacobians of `f` by its arguments: by gradients, and by differences.

    Each is a matrix with a row for each element of the result, and a column for each
    element of the argument. `x` is a list of arguments of floats; `delta` the step of
    the differences, by default 1e-3 for float32 and 1e-6 for float64.

    >>> import runtime as tf
    >>> exact, near = tf.test.compute_gradient(tf.square, [tf.constant([1.0, 3.0])])
    >>> exact[0].tolist()
    [[2.0, 0.0], [0.0, 6.0]]

    Raises ValueError if `x` is no list or tuple, and TypeError for arguments that are
    not of floats.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError("x is a list of the arguments of f")
    arguments = [convert_to_tensor(item) for item in x]
    for argument in arguments:
        if not argument.dtype.is_floating:
            raise TypeError(
                f"differences are taken of floats, not of {argument.dtype.name}"
            )
    exact = _by_gradients(f, arguments)
    near = [_by_differences(f, arguments, i, delta) for i in range(len(arguments))]
    return exact, near


def _by_gradients(f: Callable[..., Any], arguments: list[Any]) -> list[Array]:
    with GradientTape(persistent=True) as tape:
        tape.watch(arguments)
        result = convert_to_tensor(f(*arguments))
    rows: list[list[Array]] = [[] for _ in arguments]
    count = result.shape.num_elements() or 0
    for place in range(count):
        seed = np.zeros(count, result.dtype.np_dtype)
        seed[place] = 1
        seeds = np.reshape(seed, result.numpy().shape)
        found = tape.gradient(
            result, arguments, convert_to_tensor(seeds), unconnected_gradients="zero"
        )
        for column, gradient in zip(rows, found):
            column.append(dense(gradient).numpy().reshape(-1))
    return [
        np.array(row).reshape(count, argument.shape.num_elements() or 0)
        for row, argument in zip(rows, arguments)
    ]


def _by_differences(
    f: Callable[..., Any], arguments: list[Any], place: int, delta: float | None
) -> Array:
    argument = arguments[place].numpy()
    step = delta or (1e-6 if argument.dtype == np.float64 else 1e-3)
    columns = []
    for index in np.ndindex(argument.shape):
        values = []
        for sign in (1, -1):
            moved = np.array(argument)
            moved[index] += sign * step
            changed = [*arguments]
            changed[place] = convert_to_tensor(moved)
            values.append(np.asarray(nest.flatten(f(*changed))[0]).reshape(-1))
        columns.append((values[0] - values[1]) / (2 * step))
    return np.array(columns).T
