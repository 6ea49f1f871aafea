"""Gradients: what ran is gone through backwards, by public operations.

`tape` records, `backprop` goes back by the rules of ops, `control_flow` and
`calls` know those that have graphs in them. ``tf.autodiff`` is this package.
"""

from __future__ import annotations

from runtime.autodiff.forward import ForwardAccumulator
from runtime.autodiff.tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
