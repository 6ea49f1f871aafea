"""How primitives are written with JAX, by families of ops.

Importing the modules makes their rules known.
"""

from __future__ import annotations

from runtime.engines.xla.rules import (  # noqa: F401
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
