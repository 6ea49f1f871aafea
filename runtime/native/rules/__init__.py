"""How primitives are written as native code, by families of ops.

Importing the modules makes their rules known.
"""

from __future__ import annotations

from runtime.native.rules import (  # noqa: F401
    buffers,
    casts,
    checks,
    division,
    elementwise,
    joins,
    loops,
    movement,
    order,
    picks,
    products,
    random,
    recursion,
    reductions,
    scatter,
    shapes,
    special,
    state,
    structure,
    windows,
)
