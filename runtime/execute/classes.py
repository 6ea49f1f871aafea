"""Sets of tensors that are joined step by step."""

from __future__ import annotations

from runtime.tensor import SymbolicTensor

__all__ = ["Classes"]


class Classes:
    """Sets of tensors that are joined; each has one of them to stand for it."""

    def __init__(self) -> None:
        self._parents: dict[SymbolicTensor, SymbolicTensor] = {}

    def find(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """The tensor that stands for the set of this one."""
        parents = self._parents
        while (parent := parents.get(tensor, tensor)) is not tensor:
            parents[tensor] = parents.get(parent, parent)
            tensor = parent
        return tensor

    def join(self, one: SymbolicTensor, other: SymbolicTensor) -> None:
        """Make one set of the sets of both."""
        first, second = self.find(one), self.find(other)
        if first is not second:
            self._parents[second] = first
