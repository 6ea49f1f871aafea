"""How a variable lies in the state of a loop: as leaves, each of them a tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runtime.staging.optional import opened, taken_apart
from runtime.staging.values import MISSING, can_be_tensor, checked_parts, part_names
from runtime.variable import Variable

__all__ = ["Leaf", "Slot", "labels_of", "read_at_end", "slot_of"]


@dataclass
class Leaf:
    """One value of a variable in the loop.

    ``carried``: it is a tensor of the loop's state, which begins as ``start`` (a spec
    where there is nothing yet). ``flagged``: a bool beside it tells whether it is
    bound, at first ``bound``.
    """

    start: Any
    carried: bool
    flagged: bool = False
    bound: Any = True


@dataclass
class Slot:
    """One variable: its leaves, and how they make up its value."""

    name: str
    leaves: list[Leaf]
    pack: Callable[[list[Any]], Any]
    template: Any = None
    #: Whether a copy is carried of what could be a view.
    copied: bool = False


def slot_of(name: str, value: Any) -> Slot:
    """A variable with this value before the loop."""
    inside = taken_apart(value)
    if inside is None:
        return Slot(name, [_leaf(value)], lambda leaves: leaves[0])
    leaves, pack = inside
    return Slot(name, [_leaf(leaf) for leaf in leaves], pack, value)


def _leaf(value: Any) -> Leaf:
    parts = checked_parts(value)
    if parts is not None:
        return Leaf(parts[0], carried=True, flagged=True, bound=parts[1])
    return Leaf(value, carried=can_be_tensor(value))


def labels_of(slot: Slot) -> list[str]:
    """What the leaves are called: as the variable, but for the flag of an optional."""
    template, count = opened(slot.template), len(slot.leaves)
    if hasattr(template, "_part_names"):
        return part_names(template, slot.name, count)
    return [slot.name] * count


def read_at_end(leaf: Leaf, part: Any) -> Any:
    """A `tf.Variable` as its value at the end of an iteration, where it was none."""
    starts_without = leaf.carried or leaf.start is MISSING
    return part.read_value() if isinstance(part, Variable) and starts_without else part
