"""How primitives are written with JAX, by families of ops."""

from __future__ import annotations

from runtime.xla.rules import (
    buffers,
    checks,
    elementwise,
    gradients,
    host,
    linalg,
    movement,
    order,
    products,
    random,
    reductions,
    rows,
    scatter,
    state,
    structure,
    windows,
)

__all__ = ["FAMILIES"]

#: The modules whose functions are the rules; importing them makes them known.
FAMILIES = (
    buffers,
    checks,
    elementwise,
    gradients,
    host,
    linalg,
    movement,
    order,
    products,
    random,
    reductions,
    rows,
    scatter,
    state,
    structure,
    windows,
)
