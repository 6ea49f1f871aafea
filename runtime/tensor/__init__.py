"""Tensors: `EagerTensor` holds a NumPy array, `SymbolicTensor` is a value of a graph.

Both have the same operators, those of `operators.OperatorMixin`.
"""

from __future__ import annotations

from runtime.tensor.base import ONE_ELEMENT, Reference, Tensor, truth_of_items
from runtime.tensor.eager import EagerTensor, Recorded, WeakTensor
from runtime.tensor.operators import OperatorMixin, Operators, operators
from runtime.tensor.symbolic import SymbolicTensor

__all__ = [
    "ONE_ELEMENT",
    "EagerTensor",
    "OperatorMixin",
    "Operators",
    "Recorded",
    "Reference",
    "SymbolicTensor",
    "Tensor",
    "WeakTensor",
    "operators",
    "truth_of_items",
]
