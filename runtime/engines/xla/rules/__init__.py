"""How primitives are written with JAX, by families of ops.

Importing the modules makes their rules known.
"""

from __future__ import annotations

from runtime.engines.xla.rules import (  # noqa: F401
    buffers,
    elementwise,
    gradients,
    host,
    linalg,
    movement,
    random,
    reductions,
    rows,
    structure,
    windows,
)
