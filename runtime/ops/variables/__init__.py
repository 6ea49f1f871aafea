"""Variables: tensors whose value changes, and modules, the objects that hold them.

A graph refers to a variable itself, not to its value: reading and assigning are
stateful ops (``ReadVariableOp``, ``AssignVariableOp``) that carry it as an attribute.
"""

from __future__ import annotations

from runtime.ops.variables.base import Variable, underlying
from runtime.ops.variables.copies import VariableAggregation, VariableSynchronization
from runtime.ops.variables.indexed_slices import IndexedSlices
from runtime.ops.variables.module import Module

__all__ = [
    "IndexedSlices",
    "Module",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "underlying",
]
