"""The derivatives of ops, one module for each family; importing this adds them all.

A rule is for a primitive, or for a composite whose own derivative is better than that
of its decomposition. What neither has a rule nor a decomposition stands in
`registry.without_gradient`, or an error names it.
"""

from __future__ import annotations

from runtime.autodiff.rules import (  # noqa: F401
    arrays,
    buffers,
    elementwise,
    factorizations,
    linalg,
    nn,
    python,
    python_math,
    random,
    reduce,
)

__all__: list[str] = []
