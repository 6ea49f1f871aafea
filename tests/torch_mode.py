"""How a program does when `autograph.backends.torch` exports it: one more mode.

It is exported with tensors in place of its numbers, as `modes.as_tensors` places them,
once for all arguments of one kind.
"""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable
from typing import Any

import pytest

from tests import modes

torch = pytest.importorskip("torch")  # where examples in docstrings are looked for

from torch.utils import _pytree as pytree  # noqa: E402

from autograph.backends.torch import export  # noqa: E402


class Program:
    """A function as an exported program, for arguments of one kind after the other."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._exported: dict[str, Any] = {}

    def run(self, arguments: tuple[Any, ...]) -> modes.Result:
        """What it gives for arguments, as `modes.run` tells it."""
        given = pytree.tree_map(_as_tensor, tuple(map(_rows, copy.deepcopy(arguments))))
        leaves, tree = pytree.tree_flatten(given)
        tensors = [isinstance(leaf, torch.Tensor) for leaf in leaves]
        kind = [
            (leaf.shape, leaf.dtype) if is_tensor else leaf
            for leaf, is_tensor in zip(leaves, tensors)
        ]
        key = f"{tree} {kind}"
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                if key not in self._exported:
                    self._exported[key] = self._export(leaves, tree)
                value = self._exported[key](*(x for x, t in zip(leaves, tensors) if t))
            except Exception as error:
                code = getattr(error, "code", None)
                return modes.Result(
                    error=type(error).__name__,
                    message=str(error).partition("\n")[0],
                    code=code if str(code).startswith("AG") else None,
                )
        return modes.Result(pytree.tree_map(_as_python, value))

    def _export(self, leaves: list[Any], tree: Any) -> Any:
        function = self._function

        def program(*tensors: Any) -> Any:
            rest = iter(tensors)
            found = [next(rest) if isinstance(x, torch.Tensor) else x for x in leaves]
            return function(*pytree.tree_unflatten(found, tree))

        args = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
        return export(program, args).module()


def _rows(value: Any) -> Any:
    """A list of numbers as a tensor, as `modes.as_tensors` has it."""
    if isinstance(value, list) and modes._is_array(value):
        with contextlib.suppress(ValueError, TypeError):  # of rows of many lengths
            return torch.tensor(value) if value else torch.zeros(0, dtype=torch.int64)
    return value


def _as_tensor(value: Any) -> Any:
    return torch.tensor(value) if isinstance(value, (bool, int, float)) else value


def _as_python(value: Any) -> Any:
    return value.tolist() if isinstance(value, torch.Tensor) else value
