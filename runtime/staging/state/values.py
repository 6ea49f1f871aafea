"""The values of variables in staged code: tensors, Python objects, or unbound.

Staging and its messages ask these functions; none of them changes a value.
"""

from __future__ import annotations

from enum import Enum
from types import FunctionType
from typing import Any

import numpy as np

from runtime.core.tensor import SymbolicTensor, Tensor
from runtime.core.types import dtypes
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays.creation import zeros
from runtime.ops.staged.flow import optional_parts
from runtime.ops.variables import Variable
from runtime.staging.tracing.subgraph import state_tensor

_NUMBERS = (bool, int, float, complex, np.generic, np.ndarray)
_TEXT = (str, bytes)


class Marker:
    """A state of a variable that has no value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


#: A variable that is not bound.
MISSING = Marker("MISSING")
#: Every variable of a branch that raises: no code after the branch reads it.
RAISED = Marker("RAISED")


def can_be_tensor(value: Any) -> bool:
    """Whether a value can be carried through a graph."""
    if isinstance(value, Enum):  # of an `IntEnum`: a number would have no name
        return False
    return isinstance(value, (Tensor, *_NUMBERS, *_TEXT))


def same_object(one: Any, other: Any) -> bool:
    """Whether two Python values are indistinguishable, so that no choice is needed."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (bool, int, str, bytes)):
        return bool(one == other)
    # Compare floats as text: -0.0 differs from 0.0, and nan equals nan.
    return isinstance(one, (float, complex)) and repr(one) == repr(other)


def checked_parts(value: Any) -> tuple[Any, Any] | None:
    """``(value, flag)`` of a tensor that may be unbound; None for any other value."""
    if isinstance(value, SymbolicTensor) and value.op_name == "RequireBound":
        raw, flag = value.node.inputs
        return raw, flag
    return None


def checked_name(value: Any) -> str | None:
    """The variable from which a possibly unbound tensor was read."""
    if checked_parts(value) is None:
        return None
    name: str = value.node.attrs["variable"]
    return name


def placeholder(spec: TensorSpec) -> Tensor:
    """A value of the spec that is never read; unknown dimensions are 0."""
    dims = spec.shape.dims or ()
    shape = [dim or 0 for dim in dims]
    if spec.weak and spec.dtype is dtypes.string:
        return state_tensor("")
    if spec.weak:
        return state_tensor(spec.dtype.np_dtype.type(0).item())
    value: Tensor = zeros(shape, spec.dtype)
    return value


def missing_keys(one: Any, other: Any, name: str) -> str | None:
    """The advice for two dicts with different keys; else None."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return None
    keys = [key for key in (*one, *other) if key not in one or key not in other]
    if not keys:
        if list(one) != list(other):
            return "give the keys of the dict in one order: a loop over it shows it"
        return None
    listed = f"key{'s' if len(keys) > 1 else ''} {', '.join(map(repr, keys))}"
    example = f": `{name}[{keys[0]!r}] = ...`" if name.isidentifier() else ""
    return f"a graph adds no keys: have the {listed} in the dict before{example}"


def list_of_tensor(one: Any, other: Any, name: str = "x") -> str | None:
    """The advice for a tensor beside a list; else None."""
    for tensor, items in ((one, other), (other, one)):
        is_tensor = isinstance(tensor, (Tensor, TensorSpec)) and tensor.shape.rank
        if is_tensor and getattr(type(items), "kind", type(items)) is list:
            name = name if name.isidentifier() else "x"
            is_matrix = tensor.shape.rank > 1
            made = f"[list(row) for row in {name}]" if is_matrix else f"list({name})"
            return f"make a list of the tensor first: `{name} = {made}`"
    return None


def describe(value: Any) -> str:
    """A value in words, for messages."""
    if value is MISSING:
        return "not assigned"
    if isinstance(value, Tensor):
        maybe = "" if optional_parts(value) is None else "None or "
        return f"{maybe}a tensor {value.spec.describe()}"
    if value is None:
        return "None"
    if isinstance(value, (bool, int, float, complex, *_TEXT)):
        return f"the Python value {value!r}"
    if isinstance(value, dict):
        keys = ", ".join(map(repr, value))
        return f"a {type(value).__name__} with the keys {keys}" if keys else "{}"
    if isinstance(value, (list, tuple)):
        items = f"{len(value)} item{'' if len(value) == 1 else 's'}"
        return f"a {type(value).__name__} of {items}"
    if isinstance(value, FunctionType):
        return f"the function {value.__qualname__!r}"
    if isinstance(value, Variable):
        return f"the variable {value.name!r} (read_value() gives its value)"
    kind = getattr(type(value), "kind", None)
    if isinstance(kind, type) and hasattr(type(value), "__autograph_parts__"):
        return f"a {kind.__name__} of an open length"
    return f"a Python object of type {type(value).__name__}"
