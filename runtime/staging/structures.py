"""Structures of Python values taken apart: the arguments and results of graph calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from runtime import dtypes, nest
from runtime.errors import StagedStateError
from runtime.ops.convert import convert_to_tensor
from runtime.specs import TensorSpec
from runtime.staging.values import can_be_tensor, children, same_object, same_structure
from runtime.subgraph import join_specs
from runtime.tensor import SymbolicTensor

__all__ = ["Parts", "joined", "takes"]

_Pack = Callable[[list[Any]], Any]


class Parts(NamedTuple):
    """The leaves of a structure, objects that are made of tensors taken apart too."""

    structure: Any
    leaves: list[Any]
    #: For each leaf of the structure: how many leaves it is made of, and by what.
    objects: list[tuple[int, _Pack] | None]

    @classmethod
    def of(cls, structure: Any) -> Parts:
        """Take a structure apart.

        >>> Parts.of((1, {"a": None})).leaves
        [1, None]
        """
        leaves: list[Any] = []
        objects: list[tuple[int, _Pack] | None] = []
        for leaf in nest.flatten(structure):
            inside = None if can_be_tensor(leaf) else children(leaf)
            if inside is None:
                leaves.append(leaf)
                objects.append(None)
            else:
                leaves += inside[0]
                objects.append((len(inside[0]), inside[1]))
        return cls(structure, leaves, objects)

    def pack(self, leaves: Sequence[Any]) -> Any:
        """The structure around other leaves."""
        values = iter(leaves)
        parts = [
            next(values) if made is None else made[1]([next(values) for _ in range(made[0])])
            for made in self.objects
        ]
        return nest.pack_sequence_as(self.structure, parts)

    def are_like(self, other: Parts) -> bool:
        """Whether the other structure has its leaves in the same places."""
        return (
            len(self.leaves) == len(other.leaves)
            and same_structure(self.structure, other.structure)
            and [made and made[0] for made in self.objects]
            == [made and made[0] for made in other.objects]
        )


def takes(form: Any, value: Any) -> bool:
    """Whether what was traced for `form` can be used for `value`.

    A form is the TensorSpec of a tensor, or a Python value, which only takes itself.
    """
    if not isinstance(form, TensorSpec):
        return same_object(form, value)
    spec = spec_of(value)
    return spec is not None and spec.is_subtype_of(form)


def joined(one: Any, other: Any) -> Any:
    """The form that takes what either of two takes; None if there is none.

    Raises:
        StagedStateError: tensors of different dtypes.
    """
    if same_object(one, other) or one == other:
        return one
    specs = spec_of(one), spec_of(other)
    if specs[0] is None or specs[1] is None:
        return None
    wide = join_specs(specs[0], specs[1], "the value")
    return TensorSpec(wide.shape, wide.dtype, weak=wide.weak)


def spec_of(value: Any) -> TensorSpec | None:
    """The spec of a form, or of a value as a tensor; None for any other object."""
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, SymbolicTensor):
        return value.spec
    if type(value) is int:
        return TensorSpec((), dtypes.int32, weak=True)
    if type(value) is float:
        return TensorSpec((), dtypes.float32, weak=True)
    if not can_be_tensor(value):
        return None
    found: TensorSpec = convert_to_tensor(value).spec
    return found
