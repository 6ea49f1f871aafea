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

import pytest

from tests import modes

pytest.importorskip("jax")  # where examples in docstrings are looked for

import jax
import jax.numpy as jnp
from jax.experimental import checkify

import autograph.backends.jax


class Program:
    """A function under `jax.jit`, for arguments of one kind after the other."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = autograph.backends.jax.convert(function)
        self._staged: dict[Any, Any] = {}

    def run(self, arguments: tuple[Any, ...]) -> modes.Result:
        """What it gives for arguments, as `modes.run` tells it."""
        given = jax.tree.map(_as_array, tuple(map(_rows, copy.deepcopy(arguments))))
        leaves, tree = jax.tree.flatten(given)
        known = tuple(None if isinstance(x, jax.Array) else x for x in leaves)
        arrays = [x for x in leaves if isinstance(x, jax.Array)]
        staged = self._staged.setdefault((tree, known), self._stage(tree, known))
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                error, value = staged(*arrays)
            except Exception as error:
                code = getattr(error, "code", None)
                return modes.Result(
                    error=type(error).__name__,
                    message=str(error).partition("\n")[0],
                    code=code if str(code).startswith("AG") else None,
                )
        failed = (error.get() or "").partition(" (`check` failed)")[0]
        if failed:
            name, _, message = failed.partition(": ")
            return modes.Result(error=name, message=message)
        return modes.Result(modes.as_python(jax.device_get(value)))

    def _stage(self, tree: Any, known: tuple[Any, ...]) -> Any:
        def traced(*arrays: Any) -> Any:
            rest = iter(arrays)
            leaves = [next(rest) if value is None else value for value in known]
            return self._function(*tree.unflatten(leaves))

        return checkify.checkify(jax.jit(traced))


def _rows(value: Any) -> Any:
    """A list of numbers as an array, as `modes.as_tensors` has it."""
    if isinstance(value, list) and modes._is_array(value):
        with contextlib.suppress(ValueError, TypeError):  # of rows of many lengths
            return jnp.asarray(value) if value else jnp.zeros(0, int)
    return value


def _as_array(value: Any) -> Any:
    return jnp.asarray(value) if isinstance(value, (bool, int, float)) else value
