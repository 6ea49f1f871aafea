"""How primitives are written as native code, by families of ops.

Importing the modules makes their rules known.
"""

from __future__ import annotations

from runtime.engines.native.rules import (  # noqa: F401
    branches,
    buffers,
    casts,
    checks,
    division,
    elementwise,
    gather,
    joins,
    loop_code,
    movement,
    order,
    products,
    random,
    recursion,
    reductions,
    scatter,
    shapes,
    special,
    windows,
)
