"""How a program does under JAX: one more of the modes of `tests.modes`.

The program is converted and traced once by `jax.jit`, with arrays in place of its
numbers, as `modes.as_tensors` places them. Exceptions of the program are checks of
`checkify`; their text begins with the class.
"""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import checkify

import autograph.backends.jax
from tests import modes


def run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> modes.Result:
    """Call a function on arrays, under `jax.jit`."""
    arrays = jax.tree.map(_as_array, tuple(map(_rows, copy.deepcopy(arguments))))
    places = [i for i, leaf in enumerate(jax.tree.leaves(arrays)) if _is_array(leaf)]
    leaves, tree = jax.tree.flatten(arrays)

    def traced(*inside: Any) -> Any:
        given = list(leaves)
        for place, leaf in zip(places, inside):
            given[place] = leaf
        return autograph.backends.jax.convert(function)(*tree.unflatten(given))

    with contextlib.redirect_stdout(io.StringIO()):
        try:
            staged = checkify.checkify(jax.jit(traced))
            error, value = staged(*(leaves[place] for place in places))
            if error.get() is not None:
                name, _, message = (
                    error.get().partition(" (`check` failed)")[0].partition(": ")
                )
                return modes.Result(error=name, message=message)
        except Exception as error:
            code = getattr(error, "code", None)
            return modes.Result(
                error=type(error).__name__,
                message=str(error).partition("\n")[0],
                code=code if str(code).startswith("AG") else None,
            )
    return modes.Result(modes.as_python(jax.tree.map(jax.device_get, value)))


def _rows(value: Any) -> Any:
    """A list of numbers as an array, as `modes.as_tensors` has it."""
    if isinstance(value, list) and modes._is_array(value):
        with contextlib.suppress(ValueError, TypeError):
            return jnp.asarray(value) if value else jnp.zeros(0, int)
    return value


def _as_array(value: Any) -> Any:
    is_number = isinstance(value, (bool, int, float))
    return jnp.asarray(value) if is_number else value


def _is_array(value: Any) -> bool:
    return isinstance(value, jax.Array)
