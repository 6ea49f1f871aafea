"""Lengths of axes that are symbols: in a program that is exported for open shapes.

A shape with a symbol in it is an array of objects, of the expressions that JAX has for
lengths. Moves and sums of such are computed while the program is compiled, so that they
may be lengths again; for all other ops they become values of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.errors
import jax.numpy as jnp
import numpy as np
from jax.export import is_symbolic_dim

from runtime.core.graph import Node
from runtime.core.graph.record import get
from runtime.ops.operands import attributes_with_tensors

#: What JAX raises where the value of a symbol would decide; older ones have it hidden.
Undecided: Any = getattr(jax.errors, "InconclusiveDimensionOperation", TypeError)

_COMPUTED: dict[str, Callable[..., Any]] = {
    "AddV2": np.add,
    "Cast": lambda x, **_: x,
    "FloorDiv": np.floor_divide,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Mul": np.multiply,
    "Prod": lambda x, axis=None, keepdims=False, **_: np.prod(
        x, axis=axis, keepdims=keepdims
    ),
    "Sub": np.subtract,
}


def has_symbols(value: Any) -> bool:
    """Whether a value is known but for lengths that are symbols."""
    if not isinstance(value, np.ndarray) or value.dtype != object:
        return False
    return any(map(is_symbolic_dim, value.flat))


def computed(node: Node, values: list[Any]) -> Any:
    """The result of an op on lengths; None where it is to be a value of the program."""
    run = _COMPUTED.get(node.op)
    if run is None and get(node.op).family == "movement":
        run = get(node.op).bare_kernel
    if run is None or not node.outputs[0].dtype.is_integer:
        return None
    count = len(values) - node.attrs.get("operands", 0)
    if not all(isinstance(value, np.ndarray) for value in values):
        return None
    if any(map(has_symbols, values[count:])):
        return None
    inputs, attrs = attributes_with_tensors(values, node.attrs)
    return np.asarray(run(*[np.asarray(x, object) for x in inputs], **attrs))


def as_array(value: Any, dtype: Any) -> Any:
    """Lengths as an array of JAX."""
    flat = [jnp.asarray(length, dtype) for length in value.flat]
    return jnp.stack(flat).reshape(value.shape)
