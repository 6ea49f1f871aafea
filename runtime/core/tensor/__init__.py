"""Tensors: `EagerTensor` holds a NumPy array, `SymbolicTensor` is a value of a graph.

Both have the same operators, those of `operators.OperatorMixin`.
"""

from __future__ import annotations

from runtime.core.tensor.base import ONE_ELEMENT, Reference, Tensor, truth_of_items
from runtime.core.tensor.eager import EagerTensor, Recorded, WeakTensor
from runtime.core.tensor.operators import OperatorMixin, Operators, operators
from runtime.core.tensor.symbolic import SymbolicTensor

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
