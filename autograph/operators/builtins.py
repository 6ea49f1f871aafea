"""The builtins that a tensor must answer differently.

Each function has the name and the meaning of the builtin; if one of its arguments
belongs to a tensor library whose backend has an answer, that answers instead.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from .dispatch import backend_of

#: The names for which conversion calls ``ag.<name>`` instead of the builtin.
NAMES = (
    "all",
    "any",
    "bool",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "int",
    "iter",
    "len",
    "map",
    "max",
    "min",
    "next",
    "range",
    "reversed",
    "round",
    "sorted",
    "sum",
    "zip",
)


def _dispatching(name: str) -> Callable[..., Any]:
    builtin: Callable[..., Any] = getattr(builtins, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            backend = backend_of(argument)
            if backend is not None:
                staged = backend.builtin(name)
                if staged is not None:
                    return staged(*args, **kwargs)
        return builtin(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}``, answered by the arguments' library if it can."
    return function


functions: dict[str, Callable[..., Any]] = {name: _dispatching(name) for name in NAMES}
