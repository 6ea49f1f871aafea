"""How primitives are written with the ops of ONNX, by families."""

from __future__ import annotations

from runtime.export.onnx.rules import (
    containers,
    elementwise,
    movement,
    reductions,
    structure,
    windows,
)

__all__ = ["FAMILIES"]

#: The modules whose functions are the rules; importing them makes them known.
FAMILIES = (containers, elementwise, movement, reductions, structure, windows)
