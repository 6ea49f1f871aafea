"""Tensors that may be None within the elements of a list: a value and a flag each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from runtime import nest
from runtime.ops.flow import optional_parts, require_some
from runtime.staging.optional import known
from runtime.staging.values import can_be_tensor, placeholder
from runtime.subgraph import state_tensor
from runtime.tensor import SymbolicTensor

__all__ = ["fitted", "flagged", "holds_none", "with_none", "without_none"]


class MaybeNone(NamedTuple):
    """A value that is None where ``some`` is false."""

    value: Any
    some: Any


def without_none(structure: Any) -> Any:
    """The structure with a `MaybeNone` for each tensor in it that may be None."""

    def parts(value: Any) -> Any:
        value = known(value)
        found = optional_parts(value)
        return value if found is None else MaybeNone(*found)

    return _mapped(parts, structure)


def with_none(structure: Any) -> Any:
    """The structure with tensors that may be None, or with what they are."""

    def tensor(value: Any) -> Any:
        if type(value) is not MaybeNone:
            return value
        if isinstance(value.some, SymbolicTensor):
            return require_some(value.value, value.some, "an item of the list")
        return value.value if value.some else None

    return _mapped(tensor, structure)


def flagged(items: Sequence[Any]) -> Sequence[Any]:
    """The items of a list, as a `MaybeNone` each if they are tensors and None."""
    items = list(map(known, items))
    if not any(item is None or optional_parts(item) for item in items):
        return items
    values = [item for item in items if item is not None]
    if not values or not all(map(can_be_tensor, values)):
        return items
    first = optional_parts(values[0])
    spec = state_tensor(values[0] if first is None else first[0]).spec
    structure = MaybeNone(0, 0)
    return [fitted(item, structure, iter((spec, spec))) for item in items]


def holds_none(structure: Any) -> bool:
    """Whether there is a `MaybeNone` in the structure of an element."""
    if type(structure) is MaybeNone:
        return True
    return any(holds_none(part) for _, part in nest.children(structure) or ())


def fitted(value: Any, structure: Any, leaves: Iterator[Any]) -> Any:
    """The value with a `MaybeNone` wherever the structure of an element has one, whose
    ``leaves`` are the specs of its tensors.
    """
    value = known(value)
    if type(structure) is MaybeNone:
        spec, _ = next(leaves), next(leaves)
        found = optional_parts(value)
        if found is not None:
            return MaybeNone(*found)
        if value is None:
            return MaybeNone(placeholder(spec), False)
        return MaybeNone(value, True) if can_be_tensor(value) else value
    inside, beside = nest.children(structure), nest.children(value)
    if inside is None:
        next(leaves)
        return value
    if beside is None or len(inside) != len(beside):
        return value
    parts = [fitted(part, s, leaves) for (_, s), (_, part) in zip(inside, beside)]
    same = all(part is old for part, (_, old) in zip(parts, beside))
    return value if same else nest.rebuild(value, parts)


def _mapped(change: Callable[[Any], Any], structure: Any) -> Any:
    """The structure with changed parts; the same one if none changes."""
    new = change(structure)
    inside = None if new is not structure else nest.children(structure)
    if inside is None:
        return new
    parts = [_mapped(change, part) for _, part in inside]
    same = all(part is old for part, (_, old) in zip(parts, inside))
    return structure if same else nest.rebuild(structure, parts)
