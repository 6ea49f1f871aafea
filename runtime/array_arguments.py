"""A `TensorArray` as an argument of a traced function: its tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime import nest
from runtime.ops.array_parts import Kind
from runtime.tensor import Tensor
from runtime.tensor_array import TensorArray

__all__ = ["ArrayParts", "with_array_parts"]


@dataclass(frozen=True, eq=False, repr=False)
class ArrayParts:
    """What calls that may share a trace have in common of an array, and its tensors.

    Structures with specs in place of the tensors have this; around tensors it is the
    array.
    """

    kind: tuple[Any, ...]
    parts: tuple[Any, ...]

    def __tf_flatten__(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return self.kind, self.parts

    @classmethod
    def __tf_unflatten__(cls, kind: Any, parts: Any) -> Any:
        if all(isinstance(part, Tensor) for part in parts):
            made = Kind(*kind)
            made.shared = True
            return TensorArray.__tf_unflatten__(made, parts)
        return cls(kind, parts)

    def __repr__(self) -> str:
        parts = ", ".join(map(repr, self.parts))
        return f"TensorArray(dtype={self.kind[0].name}, parts={parts})"


def with_array_parts(structure: Any) -> Any:
    """The structure with each array in it taken apart.

    An array that has no elements whose shape is known stays what it is.
    """
    leaves = nest.flatten(structure)
    if not any(isinstance(leaf, TensorArray) for leaf in leaves):
        return structure
    return nest.pack_sequence_as(structure, map(_taken_apart, leaves))


def _taken_apart(leaf: Any) -> Any:
    if not isinstance(leaf, TensorArray):
        return leaf
    kind, tensors = leaf.__tf_flatten__()
    unset = tensors[0].shape.rank is None or tensors[0].shape[1:] == [0]
    return leaf if unset else ArrayParts(kind.key(), tensors)
