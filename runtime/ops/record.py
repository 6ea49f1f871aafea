"""The record of an operation, and the table of all records.

>>> get("AddV2").source
'{0} + {1}'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runtime.errors import InternalError

__all__ = ["Op", "Source", "get", "names", "register"]

Source = str | Callable[[list[str], dict[str, Any]], "str | None"]


@dataclass(frozen=True)
class Op:
    """One operation.

    ``kernel(*arrays, **attrs)`` gives an array or a tuple of arrays;
    ``infer(*specs, **attrs)`` gives their TensorSpec, or a tuple of them, from partial
    ones. A stateful op is neither removed, repeated nor reordered. ``source`` is what
    generated NumPy source says, such as ``'{0} + {1}'``; None calls the kernel. The
    results of a ``strong`` op are never weak, whatever its inputs are. A kernel that
    ``calls_python`` runs the program's own code.
    """

    name: str
    kernel: Callable[..., Any]
    infer: Callable[..., Any]
    stateful: bool = False
    source: Source | None = None
    strong: bool = False
    calls_python: bool = False


_ops: dict[str, Op] = {}


def register(definition: Op) -> Op:
    """Add an operation to the table. A name can be used once."""
    if definition.name in _ops:
        raise ValueError(f"the op {definition.name!r} is registered already")
    _ops[definition.name] = definition
    return definition


def get(name: str) -> Op:
    """The operation of that name. Raises InternalError if there is none."""
    try:
        return _ops[name]
    except KeyError:
        raise InternalError(f"no op is registered as {name!r}") from None


def names() -> list[str]:
    """The names of all operations, sorted."""
    return sorted(_ops)
