"""The record of an operation, and the table of all records.

>>> get("AddV2").source
'{0} + {1}'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from runtime.errors import InternalError

__all__ = ["Kind", "Op", "Source", "decomposes", "get", "names", "register"]

Source = str | Callable[[list[str], dict[str, Any]], "str | None"]
Kind = Literal["primitive", "composite", "host"]


@dataclass(frozen=True)
class Op:
    """One operation.

    ``kernel(*arrays, **attrs)`` gives an array or a tuple of arrays;
    ``infer(*specs, **attrs)`` gives their TensorSpec, or a tuple of them, from partial
    ones. A stateful op is neither removed, repeated nor reordered. ``source`` is what
    generated NumPy source says, such as ``'{0} + {1}'``; None calls the kernel. The
    results of a ``strong`` op are never weak, whatever its inputs are. A kernel that
    ``calls_python`` runs the program's own code.

    ``kind`` says who knows the op. Compilers and gradients have rules for primitives; a
    composite has a ``decomposition`` into other ops; a host op needs Python or text.
    """

    name: str
    kernel: Callable[..., Any]
    infer: Callable[..., Any]
    stateful: bool = False
    source: Source | None = None
    strong: bool = False
    calls_python: bool = False
    kind: Kind = "primitive"
    #: ``decomposition(*tensors, **attrs)`` computes what the kernel does by applying
    #: other ops, and gives NotImplemented where too little is known of the shapes.
    #: Attributes may be tensors, as those of public functions may.
    decomposition: Callable[..., Any] | None = None


_ops: dict[str, Op] = {}


def register(definition: Op) -> Op:
    """Add an operation to the table. A name can be used once."""
    if definition.name in _ops:
        raise ValueError(f"the op {definition.name!r} is registered already")
    _ops[definition.name] = definition
    return definition


_Rule = TypeVar("_Rule", bound=Callable[..., Any])


def decomposes(name: str) -> Callable[[_Rule], _Rule]:
    """Make the decorated function the decomposition of the op `name`.

    The module ``composites`` of each family of ops uses it. A decomposition may apply
    any op, so that it cannot stand below all others where its own op is defined.
    """

    def add(rule: _Rule) -> _Rule:
        if _ops[name].decomposition is not None:
            raise ValueError(f"the op {name!r} has a decomposition already")
        _ops[name] = replace(_ops[name], kind="composite", decomposition=rule)
        return rule

    return add


def get(name: str) -> Op:
    """The operation of that name. Raises InternalError if there is none."""
    try:
        return _ops[name]
    except KeyError:
        raise InternalError(f"no op is registered as {name!r}") from None


def names() -> list[str]:
    """The names of all operations, sorted."""
    return sorted(_ops)
